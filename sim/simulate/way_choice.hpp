// How what a round sends is split between two kinds of ways where packets choose by load (platform/platform.hpp).
//
// Called by RoutedSchedule, which knows what is sent at once. A router compares what waits on the ways that a packet
// could take and prefers the shortest; over many packets all of a pair's go by the shortest ways until these are full,
// and more than that goes round about, so that either is as loaded as the other: Valiant, chosen by load (UGAL: Singh,
// "Load-Balanced Routing in Interconnection Networks", 2005; Kim, Dally, Scott, Abts, ISCA 2008), in expectation.
// Loads are those that the ends of all pairs let through together, each its share of its narrowest link there:
//
//   load(l) = sum over pairs of demand * (share * times(minimal, l) + (1 - share) * times(other, l))
//   fullness of a kind of ways = the largest load(l) / capacity(l) over the links that it crosses more often than the
//   other does
//   share = 1 where the minimal ways are not full; else such that they are no fuller than the others, or than full
//
// Shares depend on loads alone, so pairs that are alike have the same. They are rounded down to sixteenths.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "collective/schedule.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace simulate {

/// Of each pair that sends at once, so many `choice_parts` over its minimal ways. Links from `first_network_link` on
/// are not at the ends. O(pairs x links of their ways), some dozens of times where minimal ways are full.
std::vector<int> minimal_parts(const std::vector<RouteChoice>& pairs, std::span<const BytesPerSecond> capacities,
                               int first_network_link);

/// By link: bundles that can never be full, whatever the ranks of the placement send to one another and when. What
/// crosses them is not slower for it.
std::vector<bool> never_full(const Platform& platform, const Placement& placement,
                             std::span<const BytesPerSecond> capacities);

/// Marks those of the links that cannot be full where nodes cross them at most so often a byte, by link and node.
void leave_out_never_full(const std::map<std::pair<int, int>, double>& most, const Platform& platform,
                          std::span<const BytesPerSecond> capacities, std::vector<bool>& never);

// Exchanges in which no link between nodes is ever full, so that the network is a switch to them.
//
// Every rank sends as much to every other at once, and all nodes are alike: then exchanging two nodes changes nothing
// but the network between them. As long as that limits nobody, rates are fair in a network without it, too, and there
// every node sends as fast to one node as to any other: with N nodes at most 1 / (N - 1) of what its NICs carry. So of
// a link, which a byte from node i to node j crosses w(i, j) times,
//
//   load <= sum over i and j of w(i, j) * min(sum of NICs up, sum of NICs down) / (N - 1)
//
// and where that is within its capacity for every link, by the shortest ways, nobody is turned away from these
// (above) and nothing is lost by leaving the network out: ranks that it parts are alike behind a
// switch (simulate/folding/moves.hpp). True of what starts together and is under way at once, as at `analytic` and
// `flow`, not of messages that ranks post one after the other.

/// Of links that take no time. False where it is not known: of other patterns, of nodes that differ or are not full, or
/// whose NICs are plugged in at different switches, with limits of single connections and congestion curves.
/// O(nodes^2 x links of a way).
bool network_is_idle_in_even_exchange(const Schedule& schedule, const Platform& platform, const Placement& placement,
                                      std::span<const BytesPerSecond> capacities);

}}  // namespace farandole::simulate
