// A message's cost by its size: T(n) = latency + (n < from ? n / eager rate : handshake) + n / B, at every fidelity.
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/platform_kit.hpp"

namespace farandole::message_cost_test { namespace {

using test::in_order;

double broadcast_to_one(Bytes size, Fidelity fidelity) {
  Platform platform = test::star(2, 1_GBps, 2_us);
  platform.transport.message = {8_KiB, 3_us, 4_GBps};
  const Algorithm* binomial = find_algorithm(Operation::broadcast, "binomial");
  const auto clock = make_collective_clock(fidelity, RoutedSchedule(binomial->build(Shape(2)), platform, in_order(2)));
  return latest(clock->completion_times(size, all_at(2, Seconds(0)))).si();
}

TEST(MessageCost, AShortMessageIsCopiedAndALongOneWaitsForAHandshake) {
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
    EXPECT_NEAR(broadcast_to_one(4000_B, fidelity), 2e-6 + 4000 / 4e9 + 4000 / 1e9, 1e-12);
    EXPECT_NEAR(broadcast_to_one(8191_B, fidelity), 2e-6 + 8191 / 4e9 + 8191 / 1e9, 1e-12);
    EXPECT_NEAR(broadcast_to_one(8192_B, fidelity), 2e-6 + 3e-6 + 8192 / 1e9, 1e-12);
    EXPECT_NEAR(broadcast_to_one(1_MiB, fidelity), 2e-6 + 3e-6 + 1048576 / 1e9, 1e-12);
  }
}

TEST(MessageCost, IsTheSameFoldedAndMessageByMessage) {
  Platform platform = test::star(64, 1_GBps, 2_us);
  platform.transport.message = {8_KiB, 3_us, 4_GBps};
  const auto time = [&](Bytes size, FoldingPolicy policy) {
    const RoutedSchedule routed(ring_allreduce(64), platform, in_order(64));
    return latest(
               make_collective_clock(Fidelity::message, routed, policy)->completion_times(size, all_at(64, Seconds(0))))
        .si();
  };
  for (const Bytes size : {64_KiB, 64 * 8_KiB, 4_MiB}) {
    const double folded = time(size, FoldingPolicy::where_exact);
    EXPECT_NEAR(folded / time(size, FoldingPolicy::never), 1, 1e-12);
    // 2 (n-1) rounds of one chunk each
    const Bytes chunk = size / 64;
    EXPECT_NEAR(folded, 126 * (2e-6 + platform.transport.message.of(chunk).si() + chunk.si() / 1e9), 1e-12);
  }
}

}}  // namespace farandole::message_cost_test
