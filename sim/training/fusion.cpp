#include "training/fusion.hpp"

namespace farandole {

std::vector<std::vector<int>> fuse(const std::vector<Bytes>& sizes, Bytes threshold, bool past_misfits) {
  std::vector<std::vector<int>> groups;
  std::vector<bool> taken(sizes.size(), false);
  for (std::size_t first = 0; first < sizes.size(); ++first) {
    if (taken[first]) continue;
    std::vector<int> group{static_cast<int>(first)};
    Bytes filled = sizes[first];
    for (std::size_t next = first + 1; next < sizes.size(); ++next) {
      if (taken[next]) continue;
      if (filled + sizes[next] <= threshold) {
        filled += sizes[next];
        taken[next] = true;
        group.push_back(static_cast<int>(next));
      } else if (!past_misfits) {
        break;
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace farandole
