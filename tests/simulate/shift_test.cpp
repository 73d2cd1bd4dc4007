// Folding by shift: alltoall and direct exchanges on platforms that look the same from every so many ranks.
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/folding/orbits.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::shift_test { namespace {

using test::draw;
using test::in_order;
using test::Random;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};

Schedule built(Operation operation, const char* name, int ranks) {
  return find_algorithm(operation, name)->build(Shape(ranks));
}

Platform draw_platform(Random& random) {
  const auto rate = [&] { return BytesPerSecond(1e9 * draw(random, 1, 4)); };
  const int kind = draw(random, 0, 4);
  Platform platform = kind == 0   ? test::star(draw(random, 2, 12), rate(), 2_us)
                      : kind == 1 ? test::two_level(draw(random, 2, 5), draw(random, 1, 3), rate(), rate())
                      : kind == 2 ? test::split_leaf_spine(draw(random, 2, 4), draw(random, 1, 2), 2, rate(), rate(), 2)
                                  : test::leaf_spine(draw(random, 2, 4), draw(random, 1, 2), 2, rate(), rate());
  if (kind == 4) platform = test::half_duplex(platform);
  if (draw(random, 0, 1) == 0) platform.transport.reduce_rate = rate();
  return platform;
}

TEST(FoldingByShift, EveryRankEndsWhenItWouldHaveEndedUnfolded) {
  const std::array schedules{std::pair(Operation::alltoall, "pairwise"), std::pair(Operation::alltoall, "direct"),
                             std::pair(Operation::allreduce, "direct"), std::pair(Operation::reduce_scatter, "direct"),
                             std::pair(Operation::allgather, "direct")};
  int folded = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Platform platform = draw_platform(random);
    const int n = platform.devices();
    const auto& [operation, name_of] = schedules[seed % schedules.size()];
    const RoutedSchedule routed(built(operation, name_of, n), platform, in_order(n));
    const Bytes size(static_cast<double>(n) * draw(random, 1, 500'000));
    for (const Fidelity fidelity : all_fidelities) {
      RankTimes with;
      {
        const auto clock = make_collective_clock(fidelity, routed);
        const Answer answer = clock->answer(size, all_at(n, 0_s));
        with = answer.ends;
        folded += answer.provenance.folded ? 1 : 0;
      }
      const auto clock = make_collective_clock(fidelity, routed, FoldingPolicy::never);
      const RankTimes without = clock->completion_times(size, all_at(n, 0_s));
      EXPECT_LT((with / without - 1).abs().maxCoeff(), 1e-12) << "seed " << seed << ", " << name(fidelity);
    }
  }
  EXPECT_GT(folded, 300);
}

TEST(FoldingByShift, OfAPairwiseAlltoallOnAStarIsOneRank) {
  // T = (n-1) (alpha + m / B), with m = M / n to each of the others.
  const int n = 256;
  const RoutedSchedule routed(built(Operation::alltoall, "pairwise", n), test::star(n, 1_GBps, 2_us), in_order(n));
  const auto folding = fold_by_moves(routed);
  ASSERT_TRUE(folding);
  EXPECT_EQ(folding->quotient.schedule().ranks, 1);
  for (const Fidelity fidelity : all_fidelities) {
    const double time = make_collective_clock(fidelity, routed)->completion_times(256_MB, all_at(n, 0_s)).maxCoeff();
    EXPECT_NEAR(time / (255 * (2e-6 + 1e-3)), 1, 1e-9) << name(fidelity);
  }
}

TEST(FoldingByShift, IsNotDoneWhereALinkDiffers) {
  for (const std::size_t link : {std::size_t{5}, std::size_t{8 * 6 + 1}}) {  // of a node, and of the spine
    Platform platform = test::leaf_spine(4, 2, 2, 1_GBps, 1_GBps);
    platform.links[link].capacity = 2_GBps;
    EXPECT_FALSE(fold_by_moves({built(Operation::alltoall, "pairwise", 16), platform, in_order(16)})) << link;
  }
}

TEST(FoldingByShift, IsNotDoneForRanksInAnotherOrder) {
  Random random(1);
  const Platform platform = test::star(8, 1_GBps, 1_us);
  EXPECT_FALSE(fold_by_moves({built(Operation::alltoall, "pairwise", 8), platform, test::shuffled(random, 8, 8)}));
}

TEST(FoldingByShift, IsNotDoneForRanksThatStartApart) {
  RankTimes start = all_at(8, 0_s);
  start[3] = 1e-3;
  const RoutedSchedule routed(built(Operation::alltoall, "pairwise", 8), test::star(8, 1_GBps, 1_us), in_order(8));
  const auto clock = make_collective_clock(Fidelity::message, routed);
  EXPECT_FALSE(clock->answer(8_MB, start).provenance.folded);
}

TEST(Shifts, CarryEveryStartThroughTheRecurrence) {
  // begin = T[from], of what waits for its receiver max(T[from], T[to]);  done = begin + alpha + m / B;
  // T' = max(T, done) of the sender, max(T, done) + m / reduce rate of the receiver, who is i + 1 ahead in round i.
  const int n = 11;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const bool reduces = draw(random, 0, 1) == 0;
    const bool waits = draw(random, 0, 1) == 0;
    Platform platform = test::star(n, 1_GBps, 2_us);
    platform.transport.reduce_rate = 4_GBps;
    platform.transport.message.rendezvous_from = waits ? 0_B : Bytes::infinity();
    const Operation operation = reduces ? Operation::reduce_scatter : Operation::alltoall;
    const auto clock =
        make_collective_clock(Fidelity::flow, RoutedSchedule(built(operation, "pairwise", n), platform, in_order(n)));
    RankTimes moments(n);
    for (double& moment : moments) moment = 1e-4 * draw(random, 0, 100);
    const RankTimes ends = clock->completion_times(11_MB, moments);
    for (int round = 0; round < n - 1; ++round) {
      const RankTimes before = moments;
      for (int rank = 0; rank < n; ++rank) {
        const int to = (rank + round + 1) % n;
        const double done = (waits ? std::max(before[rank], before[to]) : before[rank]) + 2e-6 + 1e-3;
        moments[rank] = std::max(moments[rank], done);
        moments[to] = std::max(moments[to], std::max(done, before[to]) + (reduces ? 1e-3 / 4 : 0));
      }
    }
    EXPECT_LT((ends / moments - 1).abs().maxCoeff(), 1e-12) << name(operation) << ", seed " << seed;
  }
}

}}  // namespace farandole::shift_test
