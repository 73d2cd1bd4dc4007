#include "training/fusion.hpp"

namespace farandole { inline namespace training {

std::vector<std::vector<int>> fuse(const std::vector<Bytes>& sizes, Bytes threshold) {
  std::vector<std::vector<int>> groups;
  Bytes filled;
  for (std::size_t next = 0; next < sizes.size(); ++next) {
    if (groups.empty() || filled + sizes[next] > threshold) {
      groups.emplace_back();
      filled = Bytes(0);
    }
    groups.back().push_back(static_cast<int>(next));
    filled += sizes[next];
  }
  return groups;
}

}}  // namespace farandole::training
