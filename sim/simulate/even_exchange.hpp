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
// (simulate/way_choice.hpp) and nothing is lost by leaving the network out: ranks that it parts are alike behind a
// switch (simulate/folding/moves.hpp). True of what starts together and is under way at once, as at `analytic` and
// `flow`, not of messages that ranks post one after the other.
#pragma once

#include <span>

#include "collective/schedule.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace simulate {

/// Of links that take no time. False where it is not known: of other patterns, of nodes that differ or are not full, or
/// whose NICs are plugged in at different switches, with limits of single connections and congestion curves.
/// O(nodes^2 x links of a way).
bool network_is_idle_in_even_exchange(const Schedule& schedule, const Platform& platform, const Placement& placement,
                                      std::span<const BytesPerSecond> capacities);

}}  // namespace farandole::simulate
