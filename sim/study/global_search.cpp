#include "study/global_search.hpp"

#include <exception>
#include <memory>
#include <stdexcept>

#ifdef FARANDOLE_WITH_NLOPT
#include <nlopt.h>
#endif

namespace farandole {

#ifdef FARANDOLE_WITH_NLOPT
namespace {

/// NLopt is C: an exception may not pass through it.
struct Call {
  const std::function<double(const std::vector<double>&)>& f;
  nlopt_opt search;
  std::exception_ptr thrown;
};

double evaluate(unsigned dimensions, const double* at, double* /*gradient*/, void* data) {
  auto& call = *static_cast<Call*>(data);
  try {
    return call.f(std::vector<double>(at, at + dimensions));
  } catch (...) {
    call.thrown = std::current_exception();
    nlopt_force_stop(call.search);
    return 0;
  }
}

}  // namespace

void global_search(std::size_t dimensions, int evaluations,
                   const std::function<double(const std::vector<double>&)>& f) {
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> search(
      nlopt_create(NLOPT_GN_DIRECT_L, static_cast<unsigned>(dimensions)), nlopt_destroy);
  if (!search) throw std::runtime_error("NLopt has no DIRECT-L");
  Call call{f, search.get(), nullptr};
  nlopt_set_lower_bounds1(search.get(), 0);
  nlopt_set_upper_bounds1(search.get(), 1);
  nlopt_set_min_objective(search.get(), evaluate, &call);
  nlopt_set_maxeval(search.get(), evaluations);
  std::vector<double> at(dimensions, 0.5);
  double least = 0;
  nlopt_optimize(search.get(), at.data(), &least);
  if (call.thrown) std::rethrow_exception(call.thrown);
}
#else
void global_search(std::size_t /*dimensions*/, int /*evaluations*/,
                   const std::function<double(const std::vector<double>&)>& /*f*/) {
  throw std::logic_error("a global search without NLopt");
}
#endif

}  // namespace farandole
