#include <stdexcept>

#include "config/modules.hpp"
#include "study/search.hpp"

namespace farandole { inline namespace study {
namespace {

using Objective = std::function<double(const std::vector<double>&)>;
using ModuleSearch = void (*)(std::size_t, int, const Objective&);

ModuleFunction search_function() {
  return module_function("nlopt", "farandole_nlopt_search");
}

}  // namespace

std::string why_no_global_search() {
  return search_function().missing;
}

void global_search(std::size_t dimensions, int evaluations, const Objective& f) {
  const ModuleFunction search = search_function();
  if (search.address == nullptr) throw std::logic_error("a global search without NLopt");
  reinterpret_cast<ModuleSearch>(search.address)(dimensions, evaluations, f);
}

}}  // namespace farandole::study
