// The maximal flow through a small directed graph, by shortest augmenting paths (Edmonds and Karp, 1972).
//
// Called by platform/bisection.cpp. O(vertices^2) memory.
#pragma once

#include <vector>

#include "units/quantity.hpp"

namespace farandole {

class MaximumFlow {
 public:
  explicit MaximumFlow(int vertices)
      : vertices_(static_cast<std::size_t>(vertices)), left_(vertices_ * vertices_, 0.0) {}

  /// Edges between the same two vertices add up.
  void add(int from, int to, BytesPerSecond capacity) { left(index(from), index(to)) += capacity.si(); }

  /// Uses the graph up. Infinite where nothing limits it.
  BytesPerSecond between(int source, int sink);

 private:
  static std::size_t index(int vertex) { return static_cast<std::size_t>(vertex); }
  double& left(std::size_t from, std::size_t to) { return left_[from * vertices_ + to]; }
  bool find_path(std::size_t source, std::size_t sink);

  std::size_t vertices_;
  std::vector<double> left_;         // capacity that is not used yet
  std::vector<std::size_t> parent_;  // of the last path found
};

}  // namespace farandole
