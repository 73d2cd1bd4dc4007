// Where packets choose between shortest and other ways by load: what a dragonfly lets through, level by level.
#include "simulate/way_choice.hpp"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "platform/networks.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/link_loads.hpp"
#include "simulate/message_clock.hpp"
#include "simulate/platform_kit.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole::way_choice_test { namespace {

using test::in_order;

constexpr Fidelity levels[] = {Fidelity::analytic, Fidelity::flow, Fidelity::message};

struct Rates {
  double nic = 10;
  double rank1 = 5;
  double rank2 = 5;
  double rank3 = 5;
};

/// GB/s; no latency anywhere.
Platform dragonfly(int groups, int chassis, int slots, int nodes_per_router, int between, const Rates& rates) {
  const auto link = [](double rate) { return fmt::format(R"({{"rate": "{} GB/s"}})", rate); };
  const auto text = fmt::format(
      R"({{"name": "n", "summary": "s", "kind": "dragonfly", "nodes": {}, "node": {{"device": "d", "nic": {}}},
          "network": {{"groups": {}, "chassis_per_group": {}, "routers_per_chassis": {}, "nodes_per_router": {},
                       "rank1": {{"link": {}}}, "rank2": {{"link": {}}},
                       "rank3": {{"link": {}, "cables_per_pair": {}}}}}}})",
      groups * chassis * slots * nodes_per_router, link(rates.nic), groups, chassis, slots, nodes_per_router,
      link(rates.rank1), link(rates.rank2), link(rates.rank3), between);
  return built(text);
}

/// A group of Aries: 6 chassis of 16 routers of 4 nodes.
Platform aries(int groups, double nic = 10) {
  return dragonfly(groups, 6, 16, 4, 320, {.nic = nic, .rank1 = 5.25, .rank2 = 15.75, .rank3 = 4.7});
}

/// Every pair sends `size` bytes, once, all at the same moment.
double exchange(const Platform& platform, const std::vector<std::pair<int, int>>& devices, Bytes size, Fidelity level) {
  Schedule schedule;
  schedule.operation = Operation::alltoall;
  Phase phase;
  Placement placement;
  for (const auto& [from, to] : devices) {
    const auto rank = static_cast<int>(placement.device_of_rank.size());
    placement.device_of_rank.insert(placement.device_of_rank.end(), {from, to});
    phase.transfers.push_back({rank, rank + 1, rank, Action::copy, 1});
  }
  schedule.ranks = static_cast<int>(placement.device_of_rank.size());
  schedule.chunks = schedule.ranks;
  phase.repeats = 1;
  schedule.phases = {phase};
  const RoutedSchedule routed(schedule, platform, placement);
  RoundRates rates(routed, level == Fidelity::analytic ? Sharing::by_load : Sharing::simulated, NetworkSolver::own);
  const std::vector<std::size_t> all = every_transfer(phase);
  return size.si() * rates.of({0, 0, all}).inverse_rate.maxCoeff();
}

double time(const RoutedSchedule& routed, Bytes size, Fidelity level,
            FoldingPolicy folding = FoldingPolicy::where_exact) {
  return latest(make_collective_clock(level, routed, folding)
                    ->completion_times(size, all_at(routed.schedule().ranks, 0_s)))
      .si();
}

double time(const Platform& platform, Operation operation, const std::string& algorithm, int ranks, Bytes size,
            Fidelity level) {
  return time(RoutedSchedule(find_algorithm(operation, algorithm)->build(Shape(ranks)), platform, in_order(ranks)),
              size, level);
}

/// 4 nodes of a router to those of the next: 40 GB/s at the NICs, 5.25 on the link between both. What is more goes by
/// the 94 other routers.
TEST(WayChoice, RouterToRouterIsLimitedByNicsWhereOtherRoutersAreFree) {
  const Platform platform = aries(1);
  for (const Fidelity level : {Fidelity::analytic, Fidelity::flow}) {
    EXPECT_NEAR(exchange(platform, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}, 1_GB, level), 0.1, 1e-9);
  }
}

/// One cable to each of 3 other groups, of 1 GB/s: straight 1 GB/s, by the two others 1 GB/s each.
TEST(WayChoice, GroupToGroupHasAllCablesOutOfTheGroup) {
  const Platform platform = dragonfly(4, 1, 2, 2, 1, {.nic = 10, .rank1 = 100, .rank3 = 1});
  for (const Fidelity level : {Fidelity::analytic, Fidelity::flow}) {
    EXPECT_NEAR(exchange(platform, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}, 1_GB, level), 4.0 / 3, 1e-9);
  }
}

TEST(WayChoice, EverythingGoesTheShortestWaysWhereTheyAreNotFull) {
  const Platform platform = aries(4);
  const std::vector<RouteChoice> pairs{platform.choices(0, 400), platform.choices(8, 1000), platform.choices(0, 1)};
  std::vector<BytesPerSecond> capacities;
  for (const Link& link : platform.links) capacities.push_back(link.capacity);
  EXPECT_EQ(minimal_parts(pairs, capacities, platform.first_network_link()), std::vector<int>(3, choice_parts));
}

/// An alltoall takes (n - 1) blocks through every NIC.
TEST(WayChoice, AnAlltoallDoesNotJumpWithTheNumberOfNodes) {
  const Platform platform = aries(2);
  for (const Fidelity level : levels) {
    for (const int ranks : {2, 4, 5, 8, 16, 24, 48}) {
      const double block = time(platform, Operation::alltoall, "pairwise", ranks, 1_MB * ranks, level) / (ranks - 1);
      EXPECT_NEAR(block, 1e-4, 0.07e-4) << ranks << " " << name(level);
    }
  }
}

TEST(WayChoice, NodesOfAGroupAreAlikeToOtherGroups) {
  const Platform platform = aries(4);
  Random random(1);
  double expected = 0;
  for (int draw = 0; draw < 10; ++draw) {
    std::vector<int> here(384);
    std::vector<int> there(384);
    std::iota(here.begin(), here.end(), 0);
    std::iota(there.begin(), there.end(), 384);
    std::ranges::shuffle(here, random);
    std::ranges::shuffle(there, random);
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < 384; ++i)
      pairs.emplace_back(here[static_cast<std::size_t>(i)], there[static_cast<std::size_t>(i)]);
    const double found = exchange(platform, pairs, 1_GB, Fidelity::flow);
    if (draw == 0) expected = found;
    EXPECT_DOUBLE_EQ(found, expected);
  }
}

struct Drawn {
  int groups;
  int chassis;
  int slots;
  int nodes;
  int between;
  Rates rates;
  [[nodiscard]] Platform platform() const { return dragonfly(groups, chassis, slots, nodes, between, rates); }
  [[nodiscard]] int room() const { return groups * chassis * slots * nodes; }
};

Drawn any_dragonfly() {
  const auto rate = [] { return static_cast<double>(*rc::gen::inRange(1, 21)); };
  return {*rc::gen::inRange(2, 6), *rc::gen::inRange(1, 4), *rc::gen::inRange(1, 5),
          *rc::gen::inRange(1, 4), *rc::gen::inRange(1, 7), {rate(), rate(), rate(), rate()}};
}

/// Any device to any other, none twice.
std::vector<std::pair<int, int>> any_pairs(int room) {
  std::vector<int> to(static_cast<std::size_t>(room));
  std::iota(to.begin(), to.end(), 0);
  Random random(static_cast<std::uint64_t>(*rc::gen::inRange(0, 1 << 30)));
  std::ranges::shuffle(to, random);
  std::vector<std::pair<int, int>> pairs;
  for (int from = 0; from < room; ++from) {
    if (to[static_cast<std::size_t>(from)] != from) pairs.emplace_back(from, to[static_cast<std::size_t>(from)]);
  }
  return pairs;
}

/// But for what rounding to sixteenths costs.
RC_GTEST_PROP(WayChoice, MoreBandwidthIsNeverSlower, ()) {
  Drawn drawn = any_dragonfly();
  const auto pairs = any_pairs(drawn.room());
  RC_PRE(!pairs.empty());
  const double before = exchange(drawn.platform(), pairs, 1_GB, Fidelity::analytic);
  double Rates::*const which = *rc::gen::element(&Rates::nic, &Rates::rank1, &Rates::rank2, &Rates::rank3);
  drawn.rates.*which *= *rc::gen::inRange(2, 5);
  RC_ASSERT(exchange(drawn.platform(), pairs, 1_GB, Fidelity::analytic) <= before * (1 + 2.0 / choice_parts));
}

RC_GTEST_PROP(WayChoice, BytesThatLeaveAGroupArriveInOthers, ()) {
  const Drawn drawn = any_dragonfly();
  const Platform platform = drawn.platform();
  Schedule schedule = find_algorithm(Operation::alltoall, "pairwise")->build(Shape(drawn.room()));
  const RoutedSchedule routed(schedule, platform, in_order(drawn.room()));
  const Bytes block = 1_MB;
  const std::vector<Bytes> bytes = link_bytes(routed, block * drawn.room());
  const double of_group = drawn.room() / drawn.groups;
  const Bytes elsewhere = block * (of_group * (drawn.room() - of_group));
  const auto on = [&](const std::string& name) {
    const auto link = std::ranges::find(platform.links, name, &Link::name);
    return link == platform.links.end() ? Bytes(0) : bytes[static_cast<std::size_t>(link - platform.links.begin())];
  };
  Bytes straight;
  for (int group = 0; group < drawn.groups; ++group) {
    RC_ASSERT(std::abs(on(fmt::format("group{}/out", group)) / elsewhere - 1) < 1e-9);
    RC_ASSERT(std::abs(on(fmt::format("group{}/in", group)) / elsewhere - 1) < 1e-9);
    for (int to = 0; to < drawn.groups; ++to) straight += on(fmt::format("group{}/to{}", group, to));
  }
  // Straight ways have one optical hop, all others two.
  const Bytes all = elsewhere * drawn.groups;
  RC_ASSERT(std::abs(on("rank3") / (all * 2 - straight) - 1) < 1e-9);
}

/// Folded or not, with links that are never full or without them.
RC_GTEST_PROP(WayChoice, ForgottenLinksAndFoldedRanksChangeNothing, ()) {
  const Drawn drawn = any_dragonfly();
  const Platform platform = drawn.platform();
  const int ranks = drawn.room();
  const std::string algorithm = *rc::gen::element<std::string>("ring", "recursive_doubling", "halving_doubling");
  const RoutedSchedule routed(find_algorithm(Operation::allreduce, algorithm)->build(Shape(ranks)), platform,
                              in_order(ranks));
  std::vector<std::vector<RoutedSchedule::Leg>> legs;
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) legs.push_back(routed.legs(phase));
  const std::vector<BytesPerSecond> capacities(routed.capacities().begin(), routed.capacities().end());
  const RoutedSchedule whole(routed.schedule(), legs, capacities, routed.message_cost());
  const Bytes size = 1_MB * ranks;
  for (const Fidelity level : levels) {
    const double expected = time(whole, size, level, FoldingPolicy::never);
    RC_ASSERT(std::abs(time(routed, size, level) - expected) <= 1e-9 * expected);
  }
}

RoutedSchedule all_to_all(const Platform& platform, RoutedSchedule::Routing routing) {
  Schedule schedule = find_algorithm(Operation::alltoall, "direct")->build(Shape(platform.nodes));
  return {std::move(schedule), platform, in_order(platform.nodes), routing};
}

bool is_idle(const Platform& platform, int ranks) {
  const RoutedSchedule routed(find_algorithm(Operation::alltoall, "direct")->build(Shape(ranks)), platform,
                              in_order(ranks), RoutedSchedule::Routing::when_asked);
  return network_is_idle_in_even_exchange(routed.schedule(), platform, in_order(ranks), routed.capacities());
}

/// Two groups of two routers of two nodes: at 7 GB/s a node sends 1 GB/s to each of the others, and 4 x 4 pairs of them
/// meet on the cable between the groups.
TEST(EvenExchange, LeavesANetworkIdleThatCarriesWhatAllSendToTheOtherGroup) {
  const auto with = [](double between) { return dragonfly(2, 1, 2, 2, 1, {.nic = 7, .rank1 = 100, .rank3 = between}); };
  EXPECT_TRUE(is_idle(with(16.01), 8));
  EXPECT_FALSE(is_idle(with(15.99), 8));
}

TEST(EvenExchange, IsKnownOfNodesThatAreAlikeAlone) {
  Platform platform = dragonfly(2, 1, 2, 2, 1, {.nic = 7, .rank1 = 100, .rank3 = 100});
  EXPECT_TRUE(is_idle(platform, 8));
  platform.links[0].capacity = BytesPerSecond(6e9);
  EXPECT_FALSE(is_idle(platform, 8));
}

/// By the moment at which all is there, at `analytic` and `flow`; at `message` ranks post one message after another.
RC_GTEST_PROP(EvenExchange, TakesAsLongWithoutTheNetworkThatItLeavesIdle, ()) {
  const Platform platform = any_dragonfly().platform();
  const RoutedSchedule known = all_to_all(platform, RoutedSchedule::Routing::as_it_pays);
  const std::vector<BytesPerSecond> capacities(known.capacities().begin(), known.capacities().end());
  const RoutedSchedule whole(known.schedule(), {known.legs(0)}, capacities, known.message_cost());
  const Bytes size = 1_MB * platform.nodes;
  for (const Fidelity level : levels) {
    const double expected = time(whole, size, level, FoldingPolicy::never);
    const double found = time(all_to_all(platform, RoutedSchedule::Routing::when_asked), size, level);
    RC_ASSERT(std::abs(found - expected) <= 1e-9 * expected);
  }
}

/// Of a few ranks on a large machine: the same times over the links that they cross, whatever others there are.
TEST(UncrossedLinks, AreForgottenWithoutATraceInTime) {
  for (const double flow_rate : {0.0, 3.0}) {
    Platform platform = aries(3);
    if (flow_rate > 0) platform.flow_rate = BytesPerSecond(flow_rate * 1e9);
    const std::vector<int> devices{0, 1, 5, 70, 390, 395, 800, 1100};
    Placement placement = in_order(static_cast<int>(devices.size()));
    placement.device_of_rank = devices;
    for (const char* algorithm : {"ring", "halving_doubling", "double_tree", "direct"}) {
      SCOPED_TRACE(fmt::format("{} at {} GB/s", algorithm, flow_rate));
      const Algorithm* const found = find_algorithm(Operation::allreduce, algorithm);
      ASSERT_NE(found, nullptr);
      const RoutedSchedule whole(found->build(Shape(static_cast<int>(devices.size()))), platform, placement);
      RoutedSchedule few = whole;
      few.forget_idle_links();
      const std::size_t links = few.capacities().size();
      few.forget_uncrossed_links();
      EXPECT_LT(few.capacities().size(), links / 4);
      const RankTimes start = RankTimes::LinSpaced(std::ssize(devices), 0, 1e-3);
      const RankTimes ends = MessageClock(whole).completion_times(8_MiB, start);
      EXPECT_LT(((MessageClock(few).completion_times(8_MiB, start) - ends).abs() / ends).maxCoeff(), 1e-12);
      EXPECT_DOUBLE_EQ(bounds_of(few).least_time(8_MiB).si(), bounds_of(whole).least_time(8_MiB).si());
    }
  }
}

}}  // namespace farandole::way_choice_test
