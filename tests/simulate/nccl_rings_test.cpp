// NCCL up to 2.3: rings over all the channels there are, at the transport's own latencies.
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "collective/specification.hpp"
#include "simulate/library/planners.hpp"
#include "simulate/library_kit.hpp"

namespace farandole::nccl_rings_test { namespace {

using test::all_fidelities;
using test::gpu_nodes;
using test::in_order;
using test::library_clock;
using test::time;

/// With latencies and a launch, so that these count too.
Platform nodes_of_four(int nics) {
  Platform platform = gpu_nodes({4, 4, nics, 100_GBps, 12.5_GBps});
  platform.transport.intra_node_latency = 5_us;
  platform.transport.inter_node_latency = 12_us;
  platform.transport.launch = 8_us;
  return platform;
}

TEST(NcclRings, WithOneNicTheyAreThePlainRingInEveryDigit) {
  const Platform platform = nodes_of_four(1);
  const Placement placement = in_order(16);
  for (const Operation operation : {Operation::allreduce, Operation::reduce_scatter, Operation::allgather}) {
    for (const Fidelity fidelity : all_fidelities) {
      const auto times = [&](CollectiveClock& clock) {
        std::vector<Seconds> found;
        for (const Bytes size : {1_KiB, 1_MiB, 64_MiB}) found.push_back(time(clock, size, 16));
        return found;
      };
      // One after the other: a process holds one SimGrid at a time.
      const auto by_rings = times(*library_clock("nccl-2.3", operation, platform, placement, fidelity, 60));
      const Schedule ring = find_algorithm(operation, "ring")->build(Shape(16));
      const auto plain = times(*make_collective_clock(fidelity, RoutedSchedule(ring, platform, placement)));
      for (std::size_t i = 0; i < plain.size(); ++i) {
        EXPECT_NEAR(by_rings[i] / (plain[i] + platform.transport.launch), 1, 1e-12) << name(operation) << ' ' << i;
      }
    }
  }
}

/// An allreduce moves 2 (n - 1) / n of the size through every node, over `nics` NICs side by side.
TEST(NcclRings, EveryNicOfANodeCarriesItsShare) {
  constexpr int ranks = 16;
  for (const int nics : {1, 2, 4}) {
    const Platform platform = gpu_nodes({4, 4, nics, 100_GBps, 12.5_GBps});
    const Placement placement = in_order(ranks);
    for (const Fidelity fidelity : all_fidelities) {
      auto rings = library_clock("nccl-2.3", Operation::allreduce, platform, placement, fidelity, 60);
      const Seconds expected = 2.0 * (ranks - 1) / ranks * (64_MiB / (12.5_GBps * nics));
      EXPECT_NEAR(time(*rings, 64_MiB, ranks) / expected, 1, 1e-9) << nics << ' ' << name(fidelity);
    }
  }
}

/// A pipeline is charged the wire's time and the latencies of its hops, not those of rounds that fill it.
TEST(NcclRings, ABroadcastTakesOneWayThroughAllRanks) {
  constexpr int ranks = 16;
  Platform platform = gpu_nodes({4, 4, 1, 100_GBps, 12.5_GBps});
  platform.transport.intra_node_latency = 10_us;
  platform.transport.inter_node_latency = 10_us;
  const Placement placement = in_order(ranks);
  for (const Operation operation : {Operation::broadcast, Operation::reduce}) {
    auto rings = library_clock("nccl-2.3", operation, platform, placement, Fidelity::analytic, 60);
    const Seconds expected = 10_us * (ranks - 1) + 64_MiB / 12.5_GBps;
    EXPECT_NEAR(time(*rings, 64_MiB, ranks) / expected, 1, 0.02) << name(operation);
  }
}

TEST(NcclRings, EveryOperationTheyHaveIsTimedAtEveryFidelityAlike) {
  const Platform platform = nodes_of_four(4);
  const Placement placement = in_order(16);
  for (const Operation operation : find_library("nccl-2.3")->operations) {
    auto analytic = library_clock("nccl-2.3", operation, platform, placement, Fidelity::analytic, 60);
    auto flow = library_clock("nccl-2.3", operation, platform, placement, Fidelity::flow, 60);
    EXPECT_NEAR(time(*flow, 16_MiB, 16) / time(*analytic, 16_MiB, 16), 1, 1e-6) << name(operation);
  }
}

}}  // namespace farandole::nccl_rings_test
