#include <algorithm>

#include "platform/topologies/dragonfly.hpp"
#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {
namespace {

/// The number of the pair i < j among all pairs of n.
int pair_number(int i, int j, int n) {
  return i * n - i * (i + 1) / 2 + (j - i - 1);
}

int pairs(int n) {
  return n * (n - 1) / 2;
}

int drawn(std::uint64_t& random, int count) {
  const auto from = static_cast<std::uint64_t>(count);
  const auto result = static_cast<int>(random % from);
  random /= from;
  return result;
}

}  // namespace

int DragonflyLayout::gateway(int group, int other, int index) const {
  const int peer = other < group ? other : other - 1;
  return group * routers_of_group() + (peer * between + index) % routers_of_group();
}

int DragonflyLayout::cables_of_group() const {
  return chassis * pairs(slots) + slots * pairs(chassis);
}

void DragonflyLayout::for_each_cable(const std::function<void(int, int, int)>& visit) const {
  for (int group = 0; group < groups; ++group) {
    const int first = group * routers_of_group();
    for (int c = 0; c < chassis; ++c) {
      for (int s = 0; s < slots; ++s) {
        for (int t = s + 1; t < slots; ++t) visit(first + c * slots + s, first + c * slots + t, 1);
      }
    }
    for (int s = 0; s < slots; ++s) {
      for (int c = 0; c < chassis; ++c) {
        for (int d = c + 1; d < chassis; ++d) visit(first + c * slots + s, first + d * slots + s, 2);
      }
    }
  }
  for (int group = 0; group < groups; ++group) {
    for (int other = group + 1; other < groups; ++other) {
      for (int i = 0; i < between; ++i) visit(gateway(group, other, i), gateway(other, group, i), 3);
    }
  }
}

/// Between two routers of a group that have a cable.
DragonflyLayout::Step DragonflyLayout::step_within(int from, int to) const {
  const int low = std::min(from, to) % routers_of_group();
  const int high = std::max(from, to) % routers_of_group();
  int cable = group_of(from) * cables_of_group();
  if (low / slots == high / slots) {
    cable += low / slots * pairs(slots) + pair_number(low % slots, high % slots, slots);
  } else {
    cable += chassis * pairs(slots) + low % slots * pairs(chassis) + pair_number(low / slots, high / slots, chassis);
  }
  return {2 * cable + (from < to ? 0 : 1), to};
}

DragonflyLayout::Step DragonflyLayout::step_between(int from_group, int to_group, int index) const {
  const int pair = pair_number(std::min(from_group, to_group), std::max(from_group, to_group), groups);
  const int cable = groups * cables_of_group() + pair * between + index;
  return {2 * cable + (from_group < to_group ? 0 : 1), gateway(to_group, from_group, index)};
}

void DragonflyLayout::walk_within(Walk& walk, int from, int to, std::uint64_t choice) const {
  if (from == to) return;
  const bool same_chassis = from / slots == to / slots;
  const bool same_slot = from % slots == to % slots;
  if (!same_chassis && !same_slot) {
    const int corner = choice % 2 == 0 ? from / slots * slots + to % slots : to / slots * slots + from % slots;
    walk.push_back(step_within(from, corner));
    from = corner;
  }
  walk.push_back(step_within(from, to));
}

void DragonflyLayout::walk_shortest(Walk& walk, int from, int to, std::uint64_t choice) const {
  const int here = group_of(from);
  const int there = group_of(to);
  if (here == there) {
    walk_within(walk, from, to, choice);
    return;
  }
  const int index = drawn(choice, between);
  walk_within(walk, from, gateway(here, there, index), choice);
  walk.push_back(step_between(here, there, index));
  walk_within(walk, gateway(there, here, index), to, choice / 2);
}

Paths DragonflyLayout::shortest_within(int from, int to) const {
  Paths ways;
  const bool has_corners = from / slots != to / slots && from % slots != to % slots;
  for (std::uint64_t choice = 0; choice < (has_corners ? 2U : 1U); ++choice) {
    Walk walk;
    walk_within(walk, from, to, choice);
    Path& way = ways.emplace_back();
    for (const Step step : walk) way.push_back(step.link);
  }
  return ways;
}

bool DragonflyLayout::is_of_rank_one(int link) const {
  return link / 2 % cables_of_group() < chassis * pairs(slots);
}

/// A router in a third group; within a group, or where there is no third, in the sender's own.
int DragonflyLayout::midway(int from, int to, std::uint64_t choice) const {
  const int within = drawn(choice, routers_of_group());
  if (group_of(from) == group_of(to) || groups < 3) return group_of(from) * routers_of_group() + within;
  int group = drawn(choice, groups - 2);
  if (group >= std::min(group_of(from), group_of(to))) ++group;
  if (group >= std::max(group_of(from), group_of(to))) ++group;
  return group * routers_of_group() + within;
}

/// The way by some other router, without the circles that make it pass a router twice.
DragonflyLayout::Walk DragonflyLayout::walk_by(int from, int to, std::uint64_t choice) const {
  const int middle = midway(from, to, choice);
  Walk walk;
  walk_shortest(walk, from, middle, choice >> 32);
  walk_shortest(walk, middle, to, choice >> 16);
  Walk simple;
  for (const Step step : walk) {
    const auto before = std::ranges::find(simple, step.router, &Step::router);
    if (step.router == from) {
      simple.clear();
    } else if (before != simple.end()) {
      simple.erase(before + 1, simple.end());
    } else {
      simple.push_back(step);
    }
  }
  return simple;
}

Paths DragonflyLayout::paths(int from, int to) const {
  if (from == to) return {{}};
  Paths all;
  for (int i = 0; i < minimal + non_minimal; ++i) {
    // Inside a group there are two shortest ways, by one corner or by the other: the first is drawn, the second
    // follows.
    const bool corners = i < minimal && group_of(from) == group_of(to);
    const auto turn = static_cast<std::uint64_t>(i);
    const std::uint64_t choice = corners ? flow_hash(seed, from, to, 0) + turn : flow_hash(seed, from, to, i);
    Walk walk;
    if (i < minimal) {
      walk_shortest(walk, from, to, choice);
    } else {
      walk = walk_by(from, to, choice);
    }
    Path& path = all.emplace_back();
    for (const Step step : walk) path.push_back(step.link);
  }
  if (std::ranges::all_of(all, [&](const Path& path) { return path == all.front(); })) all.resize(1);
  return all;
}

}}  // namespace farandole::platform
