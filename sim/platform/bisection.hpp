// What crosses from one half of a platform's nodes to the other, in one direction, at least: its bisection.
//
// The least, over all ways to split the nodes into halves (the larger half has one more where their number is odd), of
// the most that all nodes of one half together could send to the other if the network chose the best ways: a maximal
// flow, which is a minimal cut (Ford and Fulkerson, 1956). NICs limit it too. Static routes may reach less.
#pragma once

#include <optional>
#include <span>

#include "platform/platform.hpp"

namespace farandole {

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

}  // namespace farandole
