// Every algorithm at every fidelity: closed forms on a star, agreement, and never below the bounds (which the clocks
// check at every call).
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/platform_kit.hpp"

namespace farandole::every_algorithm_test { namespace {

using test::in_order;
using test::star;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};

Schedule built(Operation operation, const std::string& name, const Shape& shape) {
  return find_algorithm(operation, name)->build(shape);
}

RankTimes finish(Fidelity fidelity, const Schedule& schedule, const Platform& platform, Bytes size,
                 const RankTimes& start) {
  return make_collective_clock(fidelity, RoutedSchedule(schedule, platform, in_order(schedule.ranks)))
      ->completion_times(size, start);
}

double time_of(Fidelity fidelity, const Schedule& schedule, const Platform& platform, Bytes size) {
  return finish(fidelity, schedule, platform, size, all_at(schedule.ranks, 0_s)).maxCoeff();
}

struct ClosedForm {
  Operation operation;
  const char* name;
  double rounds;
  double share;  // of the size, sent one after the other
};

TEST(EveryAlgorithm, TakesItsClosedFormOnAStar) {
  // T = rounds alpha + share M / B; n = 16, S = 8 segments.
  constexpr int n = 16;
  using enum Operation;
  const std::array forms{
      ClosedForm{allreduce, "recursive_doubling", 4, 4},
      ClosedForm{allreduce, "halving_doubling", 8, 2.0 * 15 / 16},
      ClosedForm{allreduce, "doubling_halving", 8, 2.0 * 15 / 16},
      ClosedForm{allreduce, "doubling_halving_split", 8, 2.0 * 15 / 16},
      ClosedForm{allreduce, "torus", 12, 2.0 * 15 / 16},
      ClosedForm{allreduce, "direct", 2, 2.0 * 15 / 16},
      ClosedForm{allreduce, "reduce_broadcast", 8, 8},
      ClosedForm{allreduce, "plain_ring", 15, 15},
      ClosedForm{allreduce, "adasum", 8, 2.0 * 15 / 16},
      ClosedForm{allgather, "hierarchical", 15, 15.0 / 16},
      ClosedForm{reduce, "chain", 15, 15},
      ClosedForm{reduce_scatter, "recursive_halving", 4, 15.0 / 16},
      ClosedForm{reduce_scatter, "butterfly", 5, 15.0 / 16 + 1.0 / 16},
      ClosedForm{allgather, "bruck", 4, 15.0 / 16},
      ClosedForm{broadcast, "binomial", 4, 4},
      ClosedForm{broadcast, "binomial_nearest_first", 4, 4},
      ClosedForm{broadcast, "split_binary", 5, 4},
      ClosedForm{reduce, "binomial", 4, 4},
      ClosedForm{reduce, "binomial_farthest_first", 4, 4},
      ClosedForm{reduce, "doubling_gather", 8, 2.0 * 15 / 16},
      ClosedForm{broadcast, "chain", 8 + 16 - 2, (8 + 16 - 2) / 8.0},
      ClosedForm{broadcast, "scatter_allgather", 4 + 15, 2.0 * 15 / 16},
      ClosedForm{alltoall, "pairwise", 15, 15.0 / 16},
      ClosedForm{alltoall, "direct", 1, 15.0 / 16},
      ClosedForm{alltoall, "bruck", 4, 4 * 0.5},
      ClosedForm{gather, "binomial", 4, 15.0 / 16},
      ClosedForm{scatter, "binomial", 4, 15.0 / 16},
      ClosedForm{barrier, "dissemination", 4, 4},
  };
  const Platform platform = star(n, 1_GBps, 2_us);
  for (const ClosedForm& form : forms) {
    for (const Fidelity fidelity : all_fidelities) {
      const double expected = form.rounds * 2e-6 + form.share * 16e6 / 1e9;
      const double time = time_of(fidelity, built(form.operation, form.name, n), platform, 16_MB);
      EXPECT_NEAR(time / expected, 1, 1e-9) << name(form.operation) << " " << form.name << ", " << name(fidelity);
    }
  }
}

/// Rank 2, a leaf beside rank 1 and its child, sends while rank 3 does: two rounds of whole arrays, not a third for two
/// at once.
TEST(EveryAlgorithm, UpABinaryTreeSendsWhatIsSummedAtOnce) {
  for (const Fidelity fidelity : all_fidelities) {
    const double time = time_of(fidelity, built(Operation::reduce, "binary", 4), star(4, 1_GBps, 2_us), 16_MB);
    EXPECT_NEAR(time / (2 * (2e-6 + 16e6 / 1e9)), 1, 1e-9) << name(fidelity);
  }
}

TEST(EveryAlgorithm, OfAPipelineIsWithinAHundredthOfItsMessages) {
  // Rounds have the rates of what takes part in them; ranks of a tree that run ahead of others are all that is left.
  const std::array pipelines{std::pair(Operation::allreduce, "double_tree"),
                             std::pair(Operation::broadcast, "double_tree"), std::pair(Operation::broadcast, "chain")};
  for (const auto& [operation, algorithm] : pipelines) {
    for (const int n : {4, 8, 16, 31, 64}) {
      for (const Bytes size : {Bytes(1e4), Bytes(1.6e6), Bytes(1.6e8)}) {
        const Schedule schedule = built(operation, algorithm, n);
        const double messages = time_of(Fidelity::message, schedule, star(n, 25_Gbps, 2_us), size);
        for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
          EXPECT_NEAR(time_of(fidelity, schedule, star(n, 25_Gbps, 2_us), size) / messages, 1, 0.01)
              << algorithm << ", " << n << " ranks, " << size.si() << " bytes";
        }
      }
    }
  }
}

TEST(EveryAlgorithm, IsTimedWithinTheBoundsOnSharedLinksWithLateRanks) {
  // Four nodes of three devices on thin NICs; every third rank is late.
  const Platform platform = test::two_level(4, 3, 1_GBps, 100_MBps);
  for (const Algorithm& row : algorithms()) {
    Shape shape(12, 5);
    shape.ranks_per_node = 3;
    const Schedule schedule = row.build(shape);
    RankTimes start = RankTimes::Zero(12);
    for (int rank = 0; rank < 12; rank += 3) start[rank] = 0.001 * rank;
    for (const Fidelity fidelity : all_fidelities) {
      EXPECT_GT(time_of(fidelity, schedule, platform, 120_MB), 0) << name(row.operation) << " " << row.name;
      EXPECT_TRUE((finish(fidelity, schedule, platform, 1_MB, start) >= start).all()) << row.name;
    }
  }
}

TEST(EveryAlgorithm, WithUnequalContributionsWaitsForTheLongest) {
  // Allgather around a ring of 4, rank 1 contributing all 4 MB: three hops of it, and nothing else to send.
  Shape shape(4);
  shape.weights = {0, 1, 0, 0};
  const Schedule schedule = built(Operation::allgather, "ring", shape);
  for (const Fidelity fidelity : all_fidelities) {
    const double time = time_of(fidelity, schedule, star(4, 1_GBps, 2_us), 4_MB);
    EXPECT_NEAR(time, 3 * (2e-6 + 4e-3), 1e-12) << name(fidelity);
  }
}

TEST(Bounds, OfRootedOperationsCountWhatTheRootSendsAndReceives) {
  const auto least = [](Operation operation) {
    const RoutedSchedule routed(built(operation, "binomial", {8, 3}), star(8, 1_GBps, 2_us), in_order(8));
    return bounds_of(routed).least_time(8_GB).si();
  };
  EXPECT_NEAR(least(Operation::broadcast), 8, 1e-9);
  EXPECT_NEAR(least(Operation::reduce), 8, 1e-9);
  EXPECT_NEAR(least(Operation::scatter), 7, 1e-9);
  EXPECT_NEAR(least(Operation::gather), 7, 1e-9);
}

TEST(Bounds, OfWhatIsAtItsPlaceAlreadyAreNothing) {
  Shape shape(4, 2);
  shape.weights = {0, 0, 1, 0};
  const RoutedSchedule routed(built(Operation::gather, "binomial", shape), star(4, 1_GBps, 2_us), in_order(4));
  EXPECT_EQ(bounds_of(routed).least_time(1_GB), 0_s);
}

/// Found at random: the root receives of one round what others have sent already in the next, all over one slow link.
TEST(EveryAlgorithm, LeavesTheRootOfAReduceItsLink) {
  const int n = 5;
  Platform platform = star(n, 1_GBps, 1_us);
  constexpr std::array rates{2, 5, 11, 5, 5, 9, 2, 11, 2, 1};  // MB/s
  for (std::size_t link = 0; link < platform.links.size(); ++link) {
    platform.links[link].capacity = BytesPerSecond(rates.at(link) * 1e6);
  }
  for (const Algorithm& row : algorithms()) {
    if (row.operation != Operation::reduce) continue;
    for (const Fidelity fidelity : all_fidelities) {
      EXPECT_GE(time_of(fidelity, row.build({n, 4}), platform, 3456_B), 3456e-6 * (1 - 1e-9)) << row.name;
    }
  }
}

TEST(EveryAlgorithm, IsABarrierOnlyWhereTheLastToJoinIsAllThatCounts) {
  // ends(start) = ends(0) + latest(start), whoever is late by how much.
  constexpr int n = 6;
  std::map<std::string, int> barriers;
  for (const Algorithm& row : algorithms()) {
    Shape shape(n, 2);
    shape.ranks_per_node = 3;
    const RoutedSchedule routed(row.build(shape), star(n, 1_GBps, 2_us), in_order(n));
    const auto clock = make_collective_clock(Fidelity::flow, routed);
    if (!clock->is_barrier(6_MB)) continue;
    ++barriers[std::string(name(row.operation)) + " " + std::string(row.name)];
    const RankTimes together = clock->completion_times(6_MB, all_at(n, 0_s));
    for (int late = 0; late < n; ++late) {
      RankTimes start = RankTimes::LinSpaced(n, 0, 1e-4);
      start[late] = 0.5;
      const RankTimes ends = clock->completion_times(6_MB, start);
      EXPECT_LE((ends - together - 0.5).abs().maxCoeff(), 1e-12) << row.name << ", rank " << late;
    }
  }
  EXPECT_EQ(barriers.count("allreduce ring"), 1U);
  EXPECT_EQ(barriers.count("broadcast binomial"), 0U);
  EXPECT_EQ(barriers.count("allgather bruck"), 0U);
}

RC_GTEST_PROP(EveryAlgorithm, NeverBeatsItsBoundsOnRandomStarsWithRandomStarts, ()) {
  const std::vector<Algorithm> rows(algorithms().begin(), algorithms().end());
  const auto index = *rc::gen::inRange<std::size_t>(0, rows.size());
  const int n = *rc::gen::inRange(2, 9);
  const Schedule schedule = rows[index].build({n, *rc::gen::inRange(0, n)});
  Platform platform = star(n, 1_GBps, 1_us);
  for (Link& link : platform.links) link.capacity = BytesPerSecond(*rc::gen::inRange(1, 50) * 1e6);
  RankTimes start(n);
  for (int rank = 0; rank < n; ++rank) start[rank] = *rc::gen::inRange(0, 1000) * 1e-5;
  const Bytes size(*rc::gen::inRange(1, 50000));
  for (const Fidelity fidelity : all_fidelities) {
    RC_ASSERT(time_of(fidelity, schedule, platform, size) > 0 || schedule.phases.empty() || size < Bytes(n));
    RC_ASSERT((finish(fidelity, schedule, platform, size, start) >= start).all());
  }
}

}}  // namespace farandole::every_algorithm_test
