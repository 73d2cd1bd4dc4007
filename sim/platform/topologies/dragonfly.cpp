#include "platform/topologies/dragonfly.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "platform/bisection.hpp"
#include "platform/sections.hpp"
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

namespace {

struct Dragonfly {
  struct Rank {
    Topology::LinkRate link;
    int cables = 1;
  };
  DragonflyLayout layout;
  int nodes_per_router = 1;
  int ports = 0;
  std::array<Rank, 3> ranks;
};

Dragonfly::Rank read_rank(const Value& value) {
  Section section = sourced(value);
  Dragonfly::Rank rank{read_link(section.child("link")), 1};
  if (const auto cables = section.maybe("cables")) rank.cables = read_between(*cables, 1, most_cables_together);
  section.finish();
  return rank;
}

void read_optical(const Value& value, Dragonfly& dragonfly) {
  Section section = sourced(value);
  DragonflyLayout& layout = dragonfly.layout;
  dragonfly.ranks[2].link = read_link(section.child("link"));
  const auto per_router = section.maybe("cables_per_router");
  if (per_router && section.maybe("cables_per_pair")) {
    per_router->fail("either \"cables_per_router\" or \"cables_per_pair\"", "both");
  }
  const int peers = layout.groups - 1;
  if (per_router) {
    const Count of_group = Count(read_between(*per_router, 1, most_cables_together)) * layout.routers_of_group();
    require_at_most(of_group, most_cables, "cables out of a group", *per_router);
    const int all = static_cast<int>(of_group.number());
    layout.between = peers > 0 ? all / peers : 0;
    if (peers > all) {
      per_router->fail(fmt::format("cables from every group to {} others", peers), fmt::format("{} of a group", all));
    }
  } else {
    layout.between = read_between(section.child("cables_per_pair"), 1, most_cables);
  }
  section.finish();
}

void read_routing(Section& section, DragonflyLayout& layout) {
  const std::size_t chosen = read_choice(section, "routing", "a routing", {"adaptive", "minimal", "valiant"});
  layout.minimal = chosen == 0 ? read_positive(section, "minimal_paths", 2) : chosen == 1 ? 1 : 0;
  layout.non_minimal = chosen == 0 ? read_positive(section, "non_minimal_paths", 2) : chosen == 1 ? 0 : 1;
  layout.seed = static_cast<std::uint64_t>(section.optional<std::int64_t>("seed", 1));
}

Count pairs_of(Count n) {
  return Count(((n * n).number() - n.number()) / 2);
}

/// What it would take, before it is laid out.
void require_dragonfly_room(const Dragonfly& dragonfly, const Value& network) {
  const DragonflyLayout& layout = dragonfly.layout;
  const Count routers = Count(layout.groups) * layout.chassis * layout.slots;
  require_at_most(routers * dragonfly.nodes_per_router, most_devices, "nodes in a dragonfly", network);
  const Count of_group =
      Count(layout.chassis) * pairs_of(layout.slots) + Count(layout.slots) * pairs_of(layout.chassis);
  require_size(routers, of_group * layout.groups + pairs_of(layout.groups) * layout.between, network);
}

/// The routers in the order of one of the permutations of (group, chassis, slot).
std::vector<int> dragonfly_routers_in_order(const DragonflyLayout& layout, const std::array<int, 3>& order) {
  const std::array<int, 3> counts{layout.groups, layout.chassis, layout.slots};
  const std::array<int, 3> steps{layout.routers_of_group(), layout.slots, 1};
  const auto at = [](const std::array<int, 3>& list, int index) { return list.at(static_cast<std::size_t>(index)); };
  std::vector<int> routers;
  for (int i = 0; i < at(counts, order[0]); ++i) {
    for (int j = 0; j < at(counts, order[1]); ++j) {
      for (int k = 0; k < at(counts, order[2]); ++k) {
        routers.push_back(i * at(steps, order[0]) + j * at(steps, order[1]) + k * at(steps, order[2]));
      }
    }
  }
  return routers;
}

/// Halves of whole groups, chassis or slots, and what is left over of one.
BytesPerSecond dragonfly_bisection(const DragonflyLayout& layout, const Platform& platform) {
  BytesPerSecond least = BytesPerSecond::infinity();
  std::array<int, 3> order{0, 1, 2};
  do {
    least = std::min(least, least_prefix_cut(platform, dragonfly_routers_in_order(layout, order)));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

void lay_out_dragonfly(const Dragonfly& dragonfly, Platform& platform, const Value& where) {
  const DragonflyLayout& layout = dragonfly.layout;
  const int room = layout.routers() * dragonfly.nodes_per_router;
  if (platform.nodes > room) {
    where.fail(fmt::format("at most the {} nodes that the dragonfly has room for", room),
               fmt::format("{} nodes", platform.nodes));
  }
  for (int router = 0; router < layout.routers(); ++router) {
    const int local = router % layout.routers_of_group();
    add_switch(
        platform,
        fmt::format("group{}/chassis{}/router{}", layout.group_of(router), local / layout.slots, local % layout.slots),
        0, dragonfly.ports);
  }
  const int first_link = static_cast<int>(platform.links.size());
  layout.for_each_cable([&](int from, int to, int rank) {
    const auto& names = platform.network.switches;
    const Dragonfly::Rank& made_of = dragonfly.ranks.at(static_cast<std::size_t>(rank - 1));
    const std::string name =
        fmt::format("{}-{}", names[static_cast<std::size_t>(from)].name, names[static_cast<std::size_t>(to)].name);
    // Between groups two routers may have more than one cable; each has its own number.
    const int number = static_cast<int>(platform.network.cables.size());
    add_cable(platform, from, to, rank == 3 ? fmt::format("{}.{}", name, number) : name, made_of.link, made_of.cables);
  });
  const auto nics = static_cast<int>(platform.node.nics.size());
  for (int nic = 0; nic < platform.nodes * nics; ++nic) {
    platform.network.switch_of_nic.push_back(nic / nics / dragonfly.nodes_per_router);
  }
  const int per_router = nics * dragonfly.nodes_per_router;
  platform.network.paths = [=](int from, int to) {
    return shifted(layout.paths(from / per_router, to / per_router), first_link);
  };
  if (layout.minimal > 0 && layout.non_minimal > 0) {
    const DragonflyChoice choice(layout, dragonfly.nodes_per_router, first_link, platform);
    platform.network.choice = [=](int from, int to) { return choice.between(from / per_router, to / per_router); };
    platform.network.minimal_parts = choice_parts * layout.minimal / (layout.minimal + layout.non_minimal);
  }
  platform.network.bisection = [layout](const Platform& whole) { return dragonfly_bisection(layout, whole); };
}

}  // namespace

NetworkPlan read_dragonfly(Section& file, const Topology& /*topology*/, const TextReader& /*text*/) {
  const Value network = file.child("network");
  Section section = sourced(network);
  Dragonfly dragonfly;
  DragonflyLayout& layout = dragonfly.layout;
  layout.groups = read_at_least(section.child("groups"), 1);
  layout.chassis = read_positive(section, "chassis_per_group", 1);
  layout.slots = read_at_least(section.child("routers_per_chassis"), 1);
  dragonfly.nodes_per_router = read_at_least(section.child("nodes_per_router"), 1);
  if (const auto ports = section.maybe("router_ports")) dragonfly.ports = read_at_least(*ports, 1);
  require_dragonfly_room(dragonfly, network);
  // A rank that joins nothing may be left out.
  const auto has = [&](const char* rank, int count) { return section.maybe(rank) || count > 1; };
  if (has("rank1", layout.slots)) dragonfly.ranks[0] = read_rank(section.child("rank1"));
  if (has("rank2", layout.chassis)) dragonfly.ranks[1] = read_rank(section.child("rank2"));
  if (has("rank3", layout.groups)) read_optical(section.child("rank3"), dragonfly);
  require_dragonfly_room(dragonfly, network);  // now with the cables between groups
  read_routing(section, layout);
  section.finish();
  return [dragonfly](Platform& platform, const Value& where) { lay_out_dragonfly(dragonfly, platform, where); };
}

}}  // namespace farandole::platform
