#include <algorithm>
#include <cmath>
#include <limits>

#include "platform/bisection.hpp"

namespace farandole { inline namespace platform {

bool MaximumFlow::find_path(std::size_t source, std::size_t sink) {
  parent_.assign(vertices_, vertices_);
  parent_[source] = source;
  std::vector<std::size_t> queue{source};
  for (std::size_t next = 0; next < queue.size() && parent_[sink] == vertices_; ++next) {
    for (std::size_t to = 0; to < vertices_; ++to) {
      if (parent_[to] != vertices_ || !(left(queue[next], to) > 0)) continue;
      parent_[to] = queue[next];
      queue.push_back(to);
    }
  }
  return parent_[sink] != vertices_;
}

BytesPerSecond MaximumFlow::between(int source, int sink) {
  const std::size_t first = index(source);
  const std::size_t last = index(sink);
  double flow = 0;
  while (find_path(first, last)) {
    double narrowest = std::numeric_limits<double>::infinity();
    for (std::size_t at = last; at != first; at = parent_[at]) narrowest = std::min(narrowest, left(parent_[at], at));
    if (std::isinf(narrowest)) return BytesPerSecond::infinity();
    for (std::size_t at = last; at != first; at = parent_[at]) {
      left(parent_[at], at) -= narrowest;
      left(at, parent_[at]) += narrowest;
    }
    flow += narrowest;
  }
  return BytesPerSecond(flow);
}

}}  // namespace farandole::platform
