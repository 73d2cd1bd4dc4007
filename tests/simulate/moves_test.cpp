// Folding before ways are worked out: by moves of all ranks and by parts, beside colouring and beside every rank alone.
#include "simulate/folding/moves.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/folding/fold.hpp"
#include "simulate/folding_kit.hpp"
#include "simulate/recurrence_clock.hpp"

namespace farandole::moves_test { namespace {

using test::draw;
using test::in_order;
using test::Random;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};
constexpr auto when_asked = RoutedSchedule::Routing::when_asked;

Schedule built(Operation operation, const char* name, int ranks, int servers = 0) {
  Shape shape(ranks);
  shape.servers = servers;
  return find_algorithm(operation, name)->build(shape);
}

/// Powers of two more often than not, for exchanges.
int draw_nodes(Random& random) {
  return draw(random, 0, 2) > 0 ? 1 << draw(random, 1, 3) : draw(random, 2, 9);
}

Platform draw_platform(Random& random) {
  const auto rate = [&] { return BytesPerSecond(1e9 * draw(random, 1, 4)); };
  const int kind = draw(random, 0, 4);
  Platform platform = kind <= 1   ? test::star(draw_nodes(random), rate(), 2_us)
                      : kind == 2 ? test::two_level(draw_nodes(random), draw(random, 1, 3), rate(), rate())
                      : kind == 3 ? test::split_leaf_spine(draw(random, 2, 4), draw(random, 1, 2), 2, rate(), rate(), 2)
                                  : test::leaf_spine(draw(random, 2, 4), draw(random, 1, 2), 2, rate(), rate());
  if (draw(random, 0, 4) == 0) platform = test::half_duplex(platform);
  if (draw(random, 0, 2) == 0) platform.transport.reduce_rate = rate();
  if (draw(random, 0, 3) == 0) platform.transport.occupancy = {1_us, 2_us};
  if (draw(random, 0, 3) == 0) {  // a node, or a link between leaves, is not like the others
    const int links = static_cast<int>(platform.links.size());
    platform.links[static_cast<std::size_t>(draw(random, 0, links - 1))].capacity = rate() * 0.5;
  }
  if (draw(random, 0, 5) == 0) platform.network.alike_after = 0;  // as after the failure of a cable
  return platform;
}

RoutedSchedule draw_schedule(Random& random, const Platform& platform) {
  const int n = platform.devices();
  std::vector<Algorithm> rows(algorithms().begin(), algorithms().end());
  Shape shape(n);
  shape.ranks_per_node = platform.devices_per_node;
  shape.servers = draw(random, 1, std::max(n - 1, 1));
  const Algorithm& row = rows[static_cast<std::size_t>(draw(random, 0, static_cast<int>(rows.size()) - 1))];
  const Placement placement = draw(random, 0, 9) > 0 ? in_order(n) : test::shuffled(random, n, n);
  return {row.build(shape), platform, placement, when_asked};
}

TEST(FoldingBeforeRouting, EveryRankEndsWhenItWouldHaveEndedColouredAndAlone) {
  int folded = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    const Platform platform = draw_platform(random);
    const RoutedSchedule routed = draw_schedule(random, platform);
    const Schedule& schedule = routed.schedule();
    SCOPED_TRACE(fmt::format("seed {}: {} {} over {} ranks", seed, name(schedule.operation), schedule.algorithm,
                             schedule.ranks));
    const auto folding = fold_before_routing(routed);
    if (!folding) continue;
    ++folded;
    const RankTimes start = all_at(schedule.ranks, 0_s);
    const Bytes size(static_cast<double>(schedule.chunks) * draw(random, 1, 500'000));
    const RankTimes alone = MessageClock(routed).completion_times(size, start);
    const auto difference = [&](const Folding& of) {
      const RankTimes ends = of.of_ranks(MessageClock(of.quotient).completion_times(size, of.of_classes(start)));
      return ((ends - alone).abs() / alone.max(1e-9)).maxCoeff();
    };
    EXPECT_LT(difference(*folding), 1e-12);
    if (is_foldable(schedule)) {
      EXPECT_LT(difference(fold(routed)), 1e-12);
    }
  }
  EXPECT_GT(folded, 120);
}

TEST(FoldingBeforeRouting, IsExactOnEveryLevelAndForWhoeverStartsApart) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const Platform platform = draw_platform(random);
    const RoutedSchedule routed = draw_schedule(random, platform);
    const Schedule& schedule = routed.schedule();
    const Bytes size(static_cast<double>(schedule.chunks) * draw(random, 1, 500'000));
    RankTimes apart = all_at(schedule.ranks, 0_s);
    for (double& moment : apart) moment = 1e-4 * draw(random, 0, 2);
    for (const Fidelity fidelity : all_fidelities) {
      for (const RankTimes& start : {all_at(schedule.ranks, 0_s), apart}) {
        SCOPED_TRACE(fmt::format("seed {}: {}, {}", seed, schedule.algorithm, name(fidelity)));
        const RankTimes with = make_collective_clock(fidelity, routed)->completion_times(size, start);
        const RankTimes alone =
            make_collective_clock(fidelity, routed, FoldingPolicy::never)->completion_times(size, start);
        EXPECT_LT(((with - alone).abs() / alone.max(1e-9)).maxCoeff(), 1e-12);
      }
    }
  }
}

/// How many ways between nodes are worked out for all that one collective needs.
int ways_for(const Schedule& schedule, int nodes, Fidelity fidelity) {
  Platform platform = test::star(nodes, 25_Gbps, 2_us);
  const auto asked = std::make_shared<int>(0);
  platform.network.paths = [asked](int, int) {
    ++*asked;
    return Paths{{}};
  };
  const auto clock = make_collective_clock(fidelity, RoutedSchedule(schedule, platform, in_order(nodes)));
  const Bytes size(static_cast<double>(schedule.chunks) * 4096);
  EXPECT_TRUE(clock->answer(size, all_at(nodes, 0_s)).provenance.folded);
  return *asked;
}

TEST(FoldingBeforeRouting, WorksOutTheWaysOfThoseThatStandForAll) {
  // One rank of 1,024: what it sends, once for the bound that every answer is held to and once to be folded.
  for (const Fidelity fidelity : all_fidelities) {
    EXPECT_LE(ways_for(built(Operation::allreduce, "direct", 1024), 1024, fidelity), 2 * 2 * 1023 * 2);
    EXPECT_LE(ways_for(built(Operation::allreduce, "halving_doubling", 1024), 1024, fidelity), 2 * 20 * 2);
  }
}

TEST(FoldingBeforeRouting, OfParameterServersWorksOutOneWayForEachPhase) {
  const int n = 4096;
  Platform platform = test::star(n, 25_Gbps, 2_us);
  const auto asked = std::make_shared<int>(0);
  platform.network.paths = [asked](int, int) {
    ++*asked;
    return Paths{{}};
  };
  const RoutedSchedule routed(built(Operation::parameter_server, "dedicated", n, 64), platform, in_order(n));
  const auto folding = fold_before_routing(routed);
  ASSERT_TRUE(folding);
  EXPECT_EQ(folding->quotient.schedule().ranks, 2);
  EXPECT_EQ(*asked, 2);
  // T = 2 (alpha + (n - s) M / s / B): every server receives from all workers, and sends to all.
  RecurrenceClock clock(routed, Sharing::simulated, FoldingPolicy::where_exact);
  const double time = clock.completion_times(64_MB, all_at(n, 0_s)).maxCoeff();
  EXPECT_NEAR(time / (2 * (2e-6 + (n - 64) * 1e6 / (25e9 / 8))), 1, 1e-9);
}

TEST(Moves, AreRefusedWhereSomethingIsNotAlike) {
  const Schedule exchange = built(Operation::allreduce, "recursive_doubling", 8);
  const auto moves = [&](const Platform& platform) {
    return moves_of(RoutedSchedule(exchange, platform, in_order(8), when_asked));
  };
  const Platform star = test::star(8, 1_GBps, 1_us);
  ASSERT_TRUE(moves(star));
  EXPECT_EQ(moves(star)->step(), 1);
  Platform slower = star;
  slower.links[5].capacity = 0.5_GBps;
  EXPECT_FALSE(moves(slower));
  Platform farther = star;
  farther.links[4].latency = 5_us;
  EXPECT_FALSE(moves(farther));
  Platform limited = star;
  limited.flow_rate = 0.5_GBps;
  EXPECT_FALSE(moves(limited));
  Platform failed = star;
  failed.network.alike_after = 0;
  EXPECT_FALSE(moves(failed));
  EXPECT_FALSE(moves(test::leaf_spine(4, 2, 1, 1_GBps, 1_GBps)));  // not every exchange of nodes keeps its leaves
  Random random(1);
  const Placement shuffled = test::shuffled(random, 8, 8);
  EXPECT_FALSE(moves_of(RoutedSchedule(exchange, star, shuffled, when_asked)));
  Schedule other = exchange;
  std::swap(other.phases[1].transfers[0].to, other.phases[1].transfers[1].to);
  EXPECT_FALSE(moves_of(RoutedSchedule(other, star, in_order(8), when_asked)));
}

}}  // namespace farandole::moves_test
