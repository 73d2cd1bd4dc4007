// What crosses from one half of a platform's nodes to the other, in one direction, at least: its bisection.
//
// The least, over all ways to split the nodes into halves (the larger half has one more where their number is odd), of
// the most that all nodes of one half together could send to the other if the network chose the best ways: a maximal
// flow, which is a minimal cut (Ford and Fulkerson, 1956). NICs limit it too. Static routes may reach less.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "platform/platform.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace platform {

/// By the formula of the topology's kind; by enumeration where there is none and at most `most_enumerated` nodes;
/// nothing for fewer than two nodes and otherwise.
std::optional<BytesPerSecond> bisection(const Platform& platform);

inline constexpr int most_enumerated = 16;

/// By definition, over all splits: exponential in the number of nodes.
BytesPerSecond enumerated_bisection(const Platform& platform);

/// The most that the nodes marked in `first` can send to all others.
BytesPerSecond greatest_flow(const Platform& platform, const std::vector<bool>& first);

/// The least cut of all that put the first switches of `order` on one side and the rest on the other; nodes that are
/// too many for a half are cut off at their NICs. `order` has every switch once. O(cables): for networks in which every
/// switch has nodes and some order is known to contain a minimal cut.
BytesPerSecond least_prefix_cut(const Platform& platform, std::span<const int> order);

// The maximal flow through a small directed graph, by shortest augmenting paths (Edmonds and Karp, 1972).
//
// Called by platform/bisection.cpp. O(vertices^2) memory.

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

// How far apart the switches are that nodes are plugged into: the greatest number of cables on a shortest way.
//
// Called by `farandole show topology`. Looks from at most 64 of the switches, evenly picked: on networks whose switches
// are alike as exact as from all. O(64 x cables). Switches that cannot be reached do not count.

int diameter(const Platform& platform);

}}  // namespace farandole::platform
