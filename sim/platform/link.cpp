#include "platform/link.hpp"

#include <numeric>

namespace farandole { inline namespace platform {

Paths side_by_side(const std::vector<Paths>& ways) {
  if (ways.size() == 1) return ways.front();
  std::size_t each = 1;
  for (const Paths& way : ways) each = std::lcm(each, way.size());
  Paths result;
  for (const Paths& way : ways) {
    for (std::size_t i = 0; i < each; ++i) result.push_back(way[i % way.size()]);
  }
  return result;
}

Paths shifted(Paths paths, int first_link) {
  for (Path& path : paths) {
    for (int& link : path) link += first_link;
  }
  return paths;
}

}}  // namespace farandole::platform
