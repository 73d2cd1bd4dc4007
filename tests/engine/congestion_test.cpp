// Links that lose to flows that converge on them, at every fidelity, folded and not.
#include <array>

#include <gtest/gtest.h>

#include "engine/company_kit.hpp"
#include "platform/networks.hpp"
#include "simulate/folding_kit.hpp"
#include "simulate/max_min_network.hpp"
#include "simulate/shared_links.hpp"

namespace farandole::congestion_test { namespace {

using test::in_order;
using test::star;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};

std::shared_ptr<const CongestionCurve> curve(std::vector<CongestionCurve::Point> points) {
  return std::make_shared<const CongestionCurve>(std::move(points));
}

/// 90 % of two flows, 60 % of four or more.
std::shared_ptr<const CongestionCurve> example() {
  return curve({{2, 0.9}, {4, 0.6}});
}

Platform congested(Platform platform, int from, const std::shared_ptr<const CongestionCurve>& on_links) {
  for (auto link = static_cast<std::size_t>(from); link < platform.links.size(); ++link) {
    platform.links[link].congestion = on_links;
  }
  return platform;
}

Seconds time_of(Fidelity fidelity, const Schedule& schedule, const Platform& platform, const Placement& placement,
                Bytes size, FoldingPolicy policy = FoldingPolicy::where_exact) {
  const auto clock = make_collective_clock(fidelity, RoutedSchedule(schedule, platform, placement), policy);
  return latest(clock->completion_times(size, all_at(schedule.ranks, 0_s)));
}

TEST(Congestion, IsOnStraightLinesBetweenItsPointsAndConstantBeyond) {
  const auto of = example();
  EXPECT_EQ(of->left(0.25), 1);
  EXPECT_EQ(of->left(1), 1);
  EXPECT_DOUBLE_EQ(of->left(1.5), 0.95);
  EXPECT_DOUBLE_EQ(of->left(2), 0.9);
  EXPECT_DOUBLE_EQ(of->left(3), 0.75);
  EXPECT_DOUBLE_EQ(of->left(4), 0.6);
  EXPECT_DOUBLE_EQ(of->left(64), 0.6);
}

TEST(Congestion, LastsOnlyAsLongAsFlowsMeet) {
  // Two flows of 1 and 2 MB on 1 GB/s: 0.45 GB/s each until the first is over, then 1 MB at the whole rate.
  FluidNetwork network(std::vector<FluidLink>{{1_GBps, {example()}}}, 2);
  const int route = network.add_route(std::vector<int>{0});
  std::array<double, 2> ends{};
  network.start(route, 0_s, 1_MB, 0);
  network.start(route, 0_s, 2_MB, 1);
  network.run([&](int tag) { ends[static_cast<std::size_t>(tag)] = network.now().si(); });
  EXPECT_NEAR(ends[0], 1e6 / 0.45e9, 1e-12);
  EXPECT_NEAR(ends[1], 1e6 / 0.45e9 + 1e-3, 1e-12);
}

TEST(Congestion, CountsAFlowByItsShareOfEachOfItsPaths) {
  // Four flows over two links side by side are two on each: 2 MB through each of them, at 0.9 of 1 GB/s.
  FluidNetwork network(std::vector<FluidLink>{{1_GBps, {example()}}, {1_GBps, {example()}}}, 2);
  const int route = network.add_route(std::vector<int>{0, 1}, 2);
  for (int tag = 0; tag < 4; ++tag) network.start(route, 0_s, 1_MB, tag);
  network.run([](int) {});
  EXPECT_NEAR(network.now().si(), 2e6 / 0.9e9, 1e-12);
}

TEST(Congestion, OfAnIncastIsTheSameAtEveryFidelity) {
  // Everyone sends 1 MB to everyone else at once: n - 1 flows into every NIC, at 1 GB/s times what is left.
  const Schedule alltoall = find_algorithm(Operation::alltoall, "direct")->build(Shape(4));
  const Platform platform = congested(star(4, 1_GBps, 0_s), 0, example());
  for (const Fidelity fidelity : all_fidelities) {
    EXPECT_NEAR(time_of(fidelity, alltoall, platform, in_order(4), 4_MB).si(), 3e6 / 0.75e9, 1e-12) << name(fidelity);
  }
}

TEST(Congestion, LeavesARingAloneThatMeetsNobody) {
  // 2 (n-1) (alpha + M / (n B))
  const Platform platform = congested(star(8, 1_GBps, 2_us), 0, example());
  for (const Fidelity fidelity : all_fidelities) {
    EXPECT_NEAR(time_of(fidelity, ring_allreduce(8), platform, in_order(8), 8_MB).si(), 14 * (2e-6 + 1e-3), 1e-12);
  }
}

TEST(Congestion, OfFoldedSchedulesIsThatOfAllFlows) {
  Placement in_turn = in_order(16);
  for (int rank = 0; rank < 16; ++rank)
    in_turn.device_of_rank[static_cast<std::size_t>(rank)] = rank % 4 * 4 + rank / 4;
  int slower = 0;
  for (const Platform& tree :
       {test::leaf_spine(4, 4, 1, 1_GBps, 2_GBps), test::split_leaf_spine(4, 4, 1, 1_GBps, 1_GBps, 2)}) {
    const Platform platform = congested(tree, 0, example());
    for (const auto& build : test::schedules_to_fold()) {
      const Schedule schedule = build(16);
      const Bytes size(1e5 * static_cast<double>(schedule.chunks));
      const RankTimes start = all_at(16, 0_s);
      const RoutedSchedule routed(schedule, platform, in_turn);
      const Folding folding = fold(routed);
      const RankTimes whole = MessageClock(routed).completion_times(size, start);
      const RankTimes folded =
          folding.of_ranks(MessageClock(folding.quotient).completion_times(size, folding.of_classes(start)));
      EXPECT_LT(((folded - whole).abs() / whole).maxCoeff(), 1e-12) << schedule.algorithm;
      const RankTimes free = MessageClock(RoutedSchedule(schedule, tree, in_turn)).completion_times(size, start);
      slower += whole.maxCoeff() > 1.01 * free.maxCoeff() ? 1 : 0;
    }
  }
  EXPECT_GT(slower, 2);
}

TEST(Congestion, SlowsARingWhereverItLeavesItsLeafAtEveryFidelityFoldedAndNot) {
  // Four transfers on every leaf's 4 GB/s: 0.6 GB/s for each, where NICs have 1.
  const Platform platform = congested(test::leaf_spine(4, 4, 1, 1_GBps, 4_GBps), 64, example());
  Placement in_turn = in_order(16);
  for (int rank = 0; rank < 16; ++rank)
    in_turn.device_of_rank[static_cast<std::size_t>(rank)] = rank % 4 * 4 + rank / 4;
  for (const Fidelity fidelity : all_fidelities) {
    for (const FoldingPolicy policy : {FoldingPolicy::where_exact, FoldingPolicy::never}) {
      const double time = time_of(fidelity, ring_allreduce(16), platform, in_turn, 16_MB, policy).si();
      EXPECT_NEAR(time, 30 * (6e-6 + 1e6 / 0.6e9), 1e-9) << name(fidelity);
    }
  }
}

TEST(Congestion, IsThatOfBothWhereCollectivesMeet) {
  // 2 (n-1) (alpha + 2 M / (n 0.9 B))
  const Platform platform = congested(star(8, 1_GBps, 2_us), 0, example());
  const RoutedSchedule routed(ring_allreduce(8), platform, in_order(8));
  for (const Fidelity fidelity : all_fidelities) {
    test::Meeting clock(fidelity, platform, {routed});
    clock.start(0, 8_MB, all_at(8, 0_s), 1);
    clock.start(0, 8_MB, all_at(8, 0_s), 2);
    clock.run([](int, const RankTimes&) {});
    EXPECT_NEAR(clock.now().si() / (14 * (2e-6 + 2e-3 / 0.9)), 1, 1e-9) << name(fidelity);
  }
}

TEST(Congestion, OfMessagesToServersIsTheSameOnBothKindsOfNetwork) {
  // Three messages of 1 MB, and one that stands for two and is crossed twice: five of them, 5 MB at 0.6 GB/s.
  const auto time = [](SharedNetwork&& network) {
    const int link = network.add_link(1_GBps, {example()});
    const int one = network.add_route(std::vector{link}, 1);
    const int two = network.add_route(std::vector{link, link}, 1);
    for (int tag = 0; tag < 3; ++tag) network.start(one, 0_s, 1_MB, tag);
    network.start(two, 0_s, 1_MB, 3);
    network.run([](int) {});
    return network.now().si();
  };
  EXPECT_NEAR(time(SharedLinks()), 5e6 / 0.6e9, 1e-12);
  EXPECT_NEAR(time(MaxMinNetwork()), 5e6 / 0.6e9, 1e-12);
}

}}  // namespace farandole::congestion_test
