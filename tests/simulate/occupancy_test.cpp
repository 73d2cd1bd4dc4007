// Messages keep the processors of their ends busy (LogGP), at every fidelity: sends of a rank follow one another, and
// so does what it receives, with one processor for both.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/library_kit.hpp"
#include "simulate/random_kit.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole::occupancy_test { namespace {

using test::in_order;
using test::Random;
using test::star;

constexpr Fidelity levels[] = {Fidelity::analytic, Fidelity::flow, Fidelity::message};

RankTimes ends(const RoutedSchedule& routed, Fidelity fidelity, Bytes size, const RankTimes& start,
               FoldingPolicy policy = FoldingPolicy::where_exact) {
  return make_collective_clock(fidelity, routed, policy)->completion_times(size, start);
}

double time(const Platform& platform, Operation operation, const std::string& algorithm, int ranks, Bytes size,
            Fidelity fidelity) {
  const RoutedSchedule routed(find_algorithm(operation, algorithm)->build(Shape(ranks)), platform, in_order(ranks));
  return latest(ends(routed, fidelity, size, all_at(ranks, Seconds(0)))).si();
}

Platform occupied_star(int nodes, Seconds latency, Occupancy occupancy) {
  Platform platform = star(nodes, BytesPerSecond(1e15), latency);  // a byte costs nothing
  platform.transport.occupancy = occupancy;
  return platform;
}

/// Rank r sends k = n - 1 messages, posted o apart, and receives as many: the last one out comes in k - 1 turns after
/// the first at the earliest, and the processor is busy for k (o + q) in all.
double linear_alltoall(int ranks, double latency, double send, double receive) {
  const double k = ranks - 1;
  return std::max(k * (send + receive), latency + (k - 1) * std::max(send, receive));
}

TEST(Occupancy, ALinearAlltoallPaysForEachOfItsMessages) {
  for (const Fidelity fidelity : levels) {
    for (const int ranks : {2, 3, 8, 16, 33}) {
      for (const auto& [send, receive] : {std::pair(1e-6, 1e-6), {3e-6, 1e-6}, {0.1e-6, 0.7e-6}, {9e-6, 0.0}}) {
        const Platform platform = occupied_star(ranks, 5_us, {Seconds(send), Seconds(receive)});
        const double found = time(platform, Operation::alltoall, "direct", ranks, 4_B * ranks, fidelity);
        EXPECT_NEAR(found, linear_alltoall(ranks, 5e-6, send, receive), 1e-11) << ranks;
      }
    }
  }
}

/// Eager messages are copied by the processor of either end, each for half of the time that copying takes in all.
TEST(Occupancy, EagerMessagesAreCopiedByTheProcessors) {
  constexpr double o = 1e-6;
  constexpr double copy = 1e-6;  // at either end, of 1,000 bytes
  for (const Fidelity fidelity : levels) {
    for (const int ranks : {2, 8, 33}) {
      Platform platform = occupied_star(ranks, 5_us, {Seconds(o), Seconds(o)});
      platform.transport.message.eager_rate = BytesPerSecond(1000 / (2 * copy));
      platform.transport.message.rendezvous_from = 1001_B;
      platform.transport.message.rendezvous = Seconds(2.002e-6);
      const auto seconds = [&](Bytes block) {
        return time(platform, Operation::alltoall, "direct", ranks, block * ranks, fidelity);
      };
      EXPECT_NEAR(seconds(1000_B), linear_alltoall(ranks, 5e-6 + 2 * copy, o + copy, o + copy), 1e-11) << ranks;
      // What is fetched by the receiver is not copied.
      EXPECT_NEAR(seconds(2000_B), linear_alltoall(ranks, 5e-6 + 2.002e-6, o, o), 1e-11) << ranks;
    }
  }
}

TEST(Occupancy, WhoHasOneMessageAtATimeNoticesItOnceItIsLongerThanTheLatency) {
  for (const Fidelity fidelity : levels) {
    for (const auto& [o, round] : {std::pair(0.0, 5e-6), {1e-6, 5e-6}, {2.5e-6, 5e-6}, {4e-6, 8e-6}}) {
      const Platform platform = occupied_star(48, 5_us, {Seconds(o), Seconds(o)});
      EXPECT_NEAR(time(platform, Operation::barrier, "dissemination", 48, 1_B, fidelity), 6 * round, 1e-11);
      EXPECT_NEAR(time(platform, Operation::allreduce, "ring", 48, 48_B, fidelity), 94 * round, 1e-11);
    }
  }
}

/// Between nodes: messages each way over its proxy thread, whatever passes between the devices of a node.
TEST(Occupancy, AnAlltoallOfNcclGrowsWithTheMessagesThatLeaveTheNode) {
  const auto seconds = [](int ranks, Fidelity fidelity) {
    const Platform platform = test::dgx_a100(ranks / 8);
    const Placement placement = in_order(ranks);
    const auto clock = test::library_clock("nccl-2.18", Operation::alltoall, platform, placement, fidelity);
    return latest(clock->completion_times(4_KiB, all_at(ranks, Seconds(0)))).si();
  };
  for (const Fidelity fidelity : levels) {
    // Each of two processors' steps takes 3 x 2 us with AMD's; eight more messages each way take eight more.
    EXPECT_NEAR(seconds(32, fidelity) - seconds(24, fidelity), 8 * 6e-6, 1e-6);
    EXPECT_GT(seconds(16, fidelity), 8 * 6e-6);
  }
}

/// A platform, a schedule and starts drawn as elsewhere, with processors that messages keep busy.
struct Drawn {
  Platform platform;
  Schedule schedule;
  Placement placement;
  RankTimes start;
  Bytes size;

  [[nodiscard]] RoutedSchedule routed(double times) const {
    Platform occupied = platform;
    occupied.transport.occupancy.send *= times;
    occupied.transport.occupancy.receive *= times;
    return {schedule, occupied, placement};
  }
};

Drawn draw_occupied(Random& random) {
  Platform platform = test::draw_platform(random);
  platform.transport.occupancy = {Seconds(1e-6 * test::draw(random, 0, 9)), Seconds(1e-6 * test::draw(random, 1, 9))};
  const int ranks = platform.devices();
  const auto& all = test::schedules_to_fold();
  Schedule schedule = all[static_cast<std::size_t>(test::draw(random, 0, static_cast<int>(all.size()) - 1))](ranks);
  const Bytes size(static_cast<double>(schedule.chunks) * test::draw(random, 1, 20'000));
  return {platform, std::move(schedule), in_order(ranks), test::draw_start(random, ranks), size};
}

TEST(Occupancy, FoldedEveryRankEndsWhenItWouldHaveEndedUnfolded) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const Drawn drawn = draw_occupied(random);
    const RoutedSchedule routed = drawn.routed(1);
    const Folding folding = fold(routed, drawn.start);
    const RankTimes unfolded = MessageClock(routed).completion_times(drawn.size, drawn.start);
    const RankTimes start = folding.of_classes(drawn.start);
    const RankTimes found = folding.of_ranks(MessageClock(folding.quotient).completion_times(drawn.size, start));
    EXPECT_LT(((found - unfolded).abs() / unfolded).maxCoeff(), 1e-12) << "seed " << seed;
    const RankTimes clock = ends(routed, Fidelity::message, drawn.size, drawn.start);
    EXPECT_LT(((clock - unfolded).abs() / unfolded).maxCoeff(), 1e-11) << "seed " << seed;
    for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
      const RankTimes one = ends(routed, fidelity, drawn.size, drawn.start);
      const RankTimes other = ends(routed, fidelity, drawn.size, drawn.start, FoldingPolicy::never);
      EXPECT_LT(((one - other).abs() / other).maxCoeff(), 1e-11) << "seed " << seed;
    }
  }
}

TEST(Occupancy, TheLevelsAgreeWhereNoLinkIsShared) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const Drawn drawn = draw_occupied(random);
    const auto alone = uncontended(drawn.routed(1));
    if (!alone) continue;
    ++compared;
    const RankTimes message = ends(*alone, Fidelity::message, drawn.size, drawn.start, FoldingPolicy::never);
    for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
      const RankTimes found = ends(*alone, fidelity, drawn.size, drawn.start);
      EXPECT_LT(((found - message).abs() / message).maxCoeff(), 1e-9) << "seed " << seed << drawn.schedule.algorithm;
    }
  }
  EXPECT_GT(compared, 250);
}

TEST(Occupancy, WhenItVanishesTimesAreThoseWithoutIt) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const Drawn drawn = draw_occupied(random);
    for (const Fidelity fidelity : levels) {
      const RankTimes without = ends(drawn.routed(0), fidelity, drawn.size, drawn.start);
      const RankTimes vanishing = ends(drawn.routed(1e-10), fidelity, drawn.size, drawn.start);
      EXPECT_LT(((vanishing - without).abs() / without).maxCoeff(), 1e-8) << "seed " << seed;
    }
  }
}

TEST(Occupancy, NobodyEndsEarlierForIt) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const Drawn drawn = draw_occupied(random);
    for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
      RankTimes before = ends(drawn.routed(0), fidelity, drawn.size, drawn.start);
      for (const double times : {0.3, 1.0, 2.0, 10.0}) {
        const RankTimes more = ends(drawn.routed(times), fidelity, drawn.size, drawn.start);
        EXPECT_TRUE((more >= before * (1 - 1e-12)).all()) << "seed " << seed;
        before = more;
      }
    }
  }
}

RC_GTEST_PROP(Occupancy, AnAlltoallTakesNoLessWithMoreRanks, ()) {
  const int ranks = *rc::gen::inRange(2, 40);
  const Occupancy occupancy{Seconds(1e-7 * *rc::gen::inRange(0, 60)), Seconds(1e-7 * *rc::gen::inRange(0, 60))};
  const Fidelity fidelity = *rc::gen::elementOf(std::vector<Fidelity>(std::begin(levels), std::end(levels)));
  const auto of = [&](int n) {
    return time(occupied_star(n, 5_us, occupancy), Operation::alltoall, "direct", n, 8_B * n, fidelity);
  };
  RC_ASSERT(of(ranks + 1) >= of(ranks) * (1 - 1e-9));
}

/// Chunks that differ by a byte count as the longest, folded and not.
TEST(Occupancy, ARingOfUnevenChunksTakesAsLongFolded) {
  for (const auto& [o, latency] : {std::pair(1_us, 5_us), {4_us, 5_us}, {40_us, 5_us}}) {
    Platform platform = star(24, 1_GBps, latency);
    platform.transport.occupancy = {o, o};
    const Bytes size = 24 * 20000_B + 5_B;
    const RoutedSchedule routed(ring_allreduce(24), platform, in_order(24));
    const double all = MessageClock(routed).completion_times(size, all_at(24, Seconds(0))).maxCoeff();
    for (const Fidelity fidelity : levels) {
      const RankTimes found = ends(routed, fidelity, size, all_at(24, Seconds(0)));
      EXPECT_NEAR(latest(found).si() / all, 1, 1e-9) << o.si();
    }
  }
}

/// Where the link sets the pace, messages that wait for the processor wait for the link anyway.
TEST(Occupancy, CostsNothingOnALinkThatIsFullAnyway) {
  constexpr int ranks = 9;
  for (const Fidelity fidelity : levels) {
    Platform platform = star(ranks, 1_GBps, 5_us);
    const double without = time(platform, Operation::alltoall, "direct", ranks, 9_MiB, fidelity);
    platform.transport.occupancy = {1_us, 1_us};  // a message takes 1 ms
    const double with = time(platform, Operation::alltoall, "direct", ranks, 9_MiB, fidelity);
    EXPECT_NEAR(with / without, 1, 2e-3);
  }
}

}}  // namespace farandole::occupancy_test
