// The module "nlopt": DIRECT-L by NLopt, behind study/search.hpp. The only file that includes <nlopt.h>.
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include <nlopt.h>

namespace farandole { inline namespace study {
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

extern "C" __attribute__((visibility("default"))) void farandole_nlopt_search(
    std::size_t dimensions, int evaluations, const std::function<double(const std::vector<double>&)>& f) {
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

}}  // namespace farandole::study
