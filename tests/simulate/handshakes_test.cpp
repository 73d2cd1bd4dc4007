// Handshakes of long messages that queue behind data: two ranks that exchange send one after the other.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/library_kit.hpp"

namespace farandole::handshakes_test { namespace {

using test::in_order;
using test::star;

constexpr Fidelity levels[] = {Fidelity::analytic, Fidelity::flow, Fidelity::message};
constexpr double rate = 12.5e6;
constexpr double latency = 20e-6;

/// Open MPI over TCP as it is shipped: eager below 64 KiB.
Platform hosts(int count, const std::optional<Handshakes>& handshakes) {
  Platform platform = star(count, BytesPerSecond(rate), Seconds(latency));
  platform.transport.eager_sends = true;
  platform.transport.message.rendezvous_from = 64_KiB;
  platform.transport.handshakes = handshakes;
  return platform;
}

double time(const Platform& platform, Operation operation, const std::string& algorithm, Bytes size,
            Fidelity fidelity) {
  const RoutedSchedule routed(find_algorithm(operation, algorithm)->build(Shape(platform.nodes)), platform,
                              in_order(platform.nodes));
  return latest(make_collective_clock(fidelity, routed)->completion_times(size, all_at(platform.nodes, Seconds(0))))
      .si();
}

constexpr Handshakes in_line{145000_B, 100_us};

/// M / B one way and then the other. Both announce and are answered, which takes four latencies, two of them at once.
TEST(Handshakes, TwoThatExchangeSendOneAfterTheOther) {
  for (const Bytes size : {64_KiB, 1_MiB, 16_MiB}) {
    const double once = size.si() / rate;
    for (const Fidelity fidelity : levels) {
      const double found = time(hosts(2, in_line), Operation::alltoall, "pairwise", size * 2, fidelity);
      EXPECT_GE(found, 2 * once) << name(fidelity);
      EXPECT_LE(found, 2 * once + 6 * latency + 2 * in_line.skew.si()) << name(fidelity);
    }
  }
}

/// Announced at the same moment, both answers are under way before any data are.
TEST(Handshakes, WhoAnnounceWithinALatencyExchangeAtTheSameTime) {
  const Handshakes in_step{145000_B, Seconds(0)};
  EXPECT_NEAR(time(hosts(2, in_step), Operation::alltoall, "pairwise", 2_MiB, Fidelity::message),
              (1_MiB).si() / rate + 3 * latency, 1e-9);
}

TEST(Handshakes, OneWayCostsAnAnnouncementAndItsAnswer) {
  for (const Fidelity fidelity : levels) {
    const double without = time(hosts(2, {}), Operation::broadcast, "binomial", 1_MiB, fidelity);
    const double with =
        time(hosts(2, Handshakes{145000_B, Seconds(0)}), Operation::broadcast, "binomial", 1_MiB, fidelity);
    EXPECT_NEAR(with - without, 2 * latency, 1e-9) << name(fidelity);
  }
}

/// Two children of the root, and the grandchild behind one of them: 2 M / B and M / B, where one after the other would
/// be 2.
TEST(Handshakes, ARootSendsToAllItsChildrenAtOnce) {
  const double found = time(hosts(4, in_line), Operation::broadcast, "binomial", 1_MiB, Fidelity::message);
  EXPECT_NEAR(found, 3 * (1_MiB).si() / rate, 1e-3);
}

TEST(Handshakes, ShortMessagesHaveNone) {
  for (const Fidelity fidelity : levels) {
    for (const auto& [operation, algorithm] : {std::pair(Operation::allreduce, "ring"),
                                               {Operation::alltoall, "direct"},
                                               {Operation::alltoall, "pairwise"}}) {
      EXPECT_EQ(time(hosts(4, in_line), operation, algorithm, 4 * 65535_B, fidelity),
                time(hosts(4, {}), operation, algorithm, 4 * 65535_B, fidelity));
    }
  }
}

/// Neither do ranks wait there for who is first.
TEST(Handshakes, InsideANodeThereAreNone) {
  Platform platform = test::nodes_of(1, 2, BytesPerSecond(1e9), BytesPerSecond(rate), Seconds(latency));
  platform.transport.eager_sends = true;
  platform.transport.message.rendezvous_from = 64_KiB;
  for (const Fidelity fidelity : levels) {
    const auto seconds = [&] {
      const RoutedSchedule routed(find_algorithm(Operation::alltoall, "pairwise")->build(Shape(2)), platform,
                                  in_order(2));
      return latest(make_collective_clock(fidelity, routed)->completion_times(2_MiB, all_at(2, Seconds(0)))).si();
    };
    platform.transport.handshakes.reset();
    const double without = seconds();
    platform.transport.handshakes = in_line;
    EXPECT_EQ(seconds(), without) << name(fidelity);
  }
}

/// What no message waits for costs nothing to simulate either.
TEST(Handshakes, RanksStayAlikeWhereNoMessageIsLong) {
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
    Platform platform = hosts(64, in_line);
    platform.transport.message.rendezvous_from = Bytes::infinity();
    const RoutedSchedule routed(find_algorithm(Operation::allreduce, "direct")->build(Shape(64)), platform,
                                in_order(64));
    const auto clock = make_collective_clock(fidelity, routed);
    EXPECT_TRUE(clock->answer(16_MiB, all_at(64, Seconds(0))).provenance.folded) << name(fidelity);
  }
}

/// A round of a ring: announced, answered, M / (n B), and the answer behind half of what its rank sends the next one,
/// or behind what the kernel has taken of that, the lesser: 2 (n - 1) (3 L + M / (n B) + min(ahead, M / 2 n) / B).
TEST(Handshakes, ARingsAnswersStandBehindWhatRanksSendTheNext) {
  for (const int ranks : {3, 4, 8}) {
    for (const Bytes chunk : {128_KiB, 1_MiB}) {
      const double round = 3 * latency + (chunk.si() + std::min(145000.0, chunk.si() / 2)) / rate;
      for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
        EXPECT_NEAR(time(hosts(ranks, in_line), Operation::allreduce, "ring", chunk * ranks, fidelity),
                    2 * (ranks - 1) * round, 1e-9);
      }
    }
  }
}

/// Round by round they cost what message by message comes out in the mean: a tenth at most where rings turn.
TEST(Handshakes, ARingTakesAboutAsLongMessageByMessage) {
  for (const int ranks : {4, 8, 16}) {
    for (const Bytes chunk : {128_KiB, 256_KiB, 1_MiB}) {
      const double flow = time(hosts(ranks, in_line), Operation::allreduce, "ring", chunk * ranks, Fidelity::flow);
      const double message =
          time(hosts(ranks, in_line), Operation::allreduce, "ring", chunk * ranks, Fidelity::message);
      EXPECT_NEAR(message / flow, 1, 0.25) << ranks << " ranks, " << chunk.si();
    }
  }
}

/// Whatever is sent: nobody ends earlier for it, and with more ahead of answers flow and analytic end no earlier.
RC_GTEST_PROP(Handshakes, NeverShortenACollective, ()) {
  const int ranks = *rc::gen::inRange(2, 12);
  const Bytes size(static_cast<double>(*rc::gen::inRange(1, 1 << 24)));
  const std::vector<std::string> names = algorithm_names(Operation::allreduce);
  const std::string algorithm = *rc::gen::elementOf(names);
  if (!find_algorithm(Operation::allreduce, algorithm)->build(Shape(ranks)).phases.empty()) {
    for (const Fidelity fidelity : levels) {
      const double without = time(hosts(ranks, {}), Operation::allreduce, algorithm, size, fidelity);
      const double with = time(hosts(ranks, in_line), Operation::allreduce, algorithm, size, fidelity);
      const double more =
          time(hosts(ranks, Handshakes{1_MiB, 100_us}), Operation::allreduce, algorithm, size, fidelity);
      // Message by message, who waits may leave a link to others that meet on it otherwise.
      const double least = fidelity == Fidelity::message ? 0.8 : 1 - 1e-12;
      RC_ASSERT(with >= without * least);
      if (fidelity != Fidelity::message) RC_ASSERT(more >= with * (1 - 1e-12));
    }
  }
}

}}  // namespace farandole::handshakes_test
