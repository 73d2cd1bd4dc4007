// Folded and unfolded on networks of every kind, read from files drawn at random: every rank ends at the same moment.
#include <set>
#include <span>

#include <gtest/gtest.h>

#include "platform/networks.hpp"
#include "simulate/folding/orbits.hpp"
#include "simulate/folding/parts.hpp"
#include "simulate/folding_kit.hpp"
#include "simulate/recurrence_clock.hpp"

namespace farandole::folding_networks_test { namespace {

class FoldingOnEveryKind : public testing::TestWithParam<DrawnKind> {};

constexpr int seeds = 60;
constexpr int most_nodes = 16;

struct Named {
  Operation operation;
  const char* algorithm;
};

RoutedSchedule routed(const Named& named, const Platform& platform, Random& random) {
  const int ranks = draw(random, 0, 1) > 0 ? platform.nodes : draw(random, 2, platform.nodes);
  Shape shape(ranks);
  shape.ranks_per_node = draw(random, 1, 3);
  const Placement placement =
      draw(random, 0, 2) > 0 ? test::in_order(ranks) : test::shuffled(random, ranks, platform.nodes);
  return {find_algorithm(named.operation, named.algorithm)->build(shape), platform, placement};
}

Bytes size_of_equal_chunks(const RoutedSchedule& whole, Random& random) {
  return Bytes(static_cast<double>(whole.schedule().chunks) * draw(random, 1, 500'000));
}

/// Message by message, every rank.
void expect_the_same_ends(const Folding& folding, const RoutedSchedule& whole, Bytes size) {
  const RankTimes start = all_at(whole.schedule().ranks, 0_s);
  const RankTimes unfolded = MessageClock(whole).completion_times(size, start);
  const RankTimes folded =
      folding.of_ranks(MessageClock(folding.quotient).completion_times(size, folding.of_classes(start)));
  EXPECT_LT(((folded - unfolded).abs() / unfolded.max(1e-9)).maxCoeff(), 1e-12);
}

TEST_P(FoldingOnEveryKind, EveryRankOfAnAllreduceEndsWhenItWouldHaveEndedUnfolded) {
  int smaller = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    const std::string text = GetParam().draw(random, most_nodes);
    const Platform platform = built(text);
    for (const char* algorithm : {"ring", "halving_doubling", "doubling_halving", "hierarchical"}) {
      SCOPED_TRACE(fmt::format("{}, seed {}: {}", algorithm, seed, text));
      const RoutedSchedule whole = routed({Operation::allreduce, algorithm}, platform, random);
      ASSERT_TRUE(is_foldable(whole.schedule()));
      const Folding folding = fold(whole);
      expect_the_same_ends(folding, whole, size_of_equal_chunks(whole, random));
      smaller += folding.quotient.schedule().ranks < whole.schedule().ranks ? 1 : 0;
    }
  }
  EXPECT_GT(smaller, seeds / 4);
}

TEST_P(FoldingOnEveryKind, AShiftAlltoallTakesWhatItWouldHaveTakenUnfolded) {
  int folded = 0;
  for (std::uint64_t seed = 1; seed <= 4 * seeds; ++seed) {
    Random random(seed);
    const std::string text = GetParam().draw(random, most_nodes);
    const Platform platform = built(text);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
    for (const char* algorithm : {"pairwise", "direct"}) {
      const RoutedSchedule whole = routed({Operation::alltoall, algorithm}, platform, random);
      const auto folding = fold_by_moves(whole);
      if (!folding) continue;
      expect_the_same_ends(*folding, whole, size_of_equal_chunks(whole, random));
      ++folded;
    }
  }
  // Hashed ways repeat nowhere, and of a listed graph nobody says that it does.
  const std::set<std::string> repeating{"star", "leaf_spine", "fat_tree", "torus"};
  EXPECT_GE(folded, repeating.contains(GetParam().name) ? 5 : 0);
}

INSTANTIATE_TEST_SUITE_P(Drawn, FoldingOnEveryKind, testing::ValuesIn(drawn_kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

/// With every way in it, and nothing of where it was mapped to.
RoutedSchedule listed(const RoutedSchedule& whole) {
  std::vector<std::vector<RoutedSchedule::Leg>> legs;
  for (std::size_t phase = 0; phase < whole.schedule().phases.size(); ++phase) legs.push_back(whole.legs(phase));
  return {whole.schedule(), legs, {whole.capacities().begin(), whole.capacities().end()}, whole.message_cost()};
}

/// However many devices of a node have ranks, wherever these are: classes are those of like devices on like nodes.
TEST(Parts, WhatAllSendToAllOnOneSwitchTakesWhatItWouldHaveTakenUnfolded) {
  int unlike = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    const int devices = draw(random, 1, 4);
    Platform platform = test::two_level(draw(random, 2, 6), devices, 10_GB / 1_s, 3_GB / 1_s);
    if (draw(random, 0, 2) == 0) {
      for (Link& link : std::span(platform.links).last(platform.node.links.size())) link.capacity = 2_GB / 1_s;
    }
    const int ranks = draw(random, 2, platform.devices());
    const Placement placement =
        draw(random, 0, 2) > 0 ? test::in_order(ranks) : test::shuffled(random, ranks, platform.devices());
    for (const Operation operation : {Operation::alltoall, Operation::allreduce}) {
      SCOPED_TRACE(fmt::format("seed {}: {} ranks of {} a node", seed, ranks, devices));
      const RoutedSchedule whole(find_algorithm(operation, "direct")->build(Shape(ranks)), platform, placement,
                                 RoutedSchedule::Routing::when_asked);
      const auto folding = fold_by_parts(whole);
      ASSERT_TRUE(folding);
      const Bytes size = size_of_equal_chunks(whole, random);
      expect_the_same_ends(*folding, whole, size);
      EXPECT_EQ(bounds_of(whole).least_time(size), bounds_of(listed(whole)).least_time(size));
      unlike += ranks % devices != 0 && folding->is_worthwhile() ? 1 : 0;
    }
  }
  EXPECT_GT(unlike, 5);
}

/// Behind spines that carry what the leaves' NICs do, a switch; else as it was.
TEST(NeverFull, NetworksAreSwitchesToEveryRankOfAnAlltoall) {
  int switches = 0;
  for (const int nodes : {8, 10, 12}) {
    for (const int spines : {1, 2, 3, 4, 5}) {
      const std::string text = network_file(
          "leaf_spine", std::to_string(nodes), 10,
          fmt::format(R"({{"nodes_per_leaf": 4, "routing": "spread", "spines": {}, "link": {{"rate": "12 GB/s"}}}})",
                      spines));
      const Platform platform = built(text);
      for (const char* algorithm : {"pairwise", "direct"}) {
        SCOPED_TRACE(fmt::format("{}: {}", algorithm, text));
        const RoutedSchedule whole(find_algorithm(Operation::alltoall, algorithm)->build(Shape(nodes)), platform,
                                   test::in_order(nodes));
        RoutedSchedule forgotten = whole;
        forgotten.forget_idle_links();
        const bool is_switch = forgotten.capacities().size() < whole.capacities().size();
        EXPECT_EQ(is_switch, spines * 12 >= 4 * 10);
        EXPECT_EQ(fold_by_moves(forgotten).has_value(), is_switch || nodes % 4 == 0);
        const Bytes size(static_cast<double>(whole.schedule().chunks) * 1000);
        const RankTimes start = all_at(nodes, 0_s);
        const RankTimes ends = MessageClock(whole).completion_times(size, start);
        EXPECT_LT(((MessageClock(forgotten).completion_times(size, start) - ends).abs() / ends).maxCoeff(), 1e-12);
        RecurrenceClock flow(whole, Sharing::simulated, {});
        RecurrenceClock forgetful(forgotten, Sharing::simulated, {});
        const RankTimes by_flow = flow.completion_times(size, start);
        EXPECT_LT(((forgetful.completion_times(size, start) - by_flow).abs() / by_flow).maxCoeff(), 1e-12);
        switches += is_switch ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(switches, 3 * 2 * 2);
}

}}  // namespace farandole::folding_networks_test
