// TCP moves every byte with CPUs: a connection has what one core can do, a node what all can, on the same wires as
// RDMA.
#include <array>

#include <gtest/gtest.h>

#include "engine/company_kit.hpp"
#include "platform/networks.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::host_cpu_test { namespace {

using test::in_order;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};

/// Nodes on one switch, NICs of 10 GB/s whose protocol is without headers but for what CPUs do.
Platform with_protocol(const std::string& more, int nodes = 8) {
  return platform_of(
      star(R"({"device": "d", "nic": {"rate": "10 GB/s", "latency": "2 us", "protocol": {"name": "aries")" + more +
           "}}}"),
      nodes);
}
constexpr double wire = 6.4e9;  // 64 % of 10 GB/s

Seconds time_of(Fidelity fidelity, const Schedule& schedule, const Platform& platform, Bytes size,
                FoldingPolicy policy = FoldingPolicy::where_exact) {
  const auto clock =
      make_collective_clock(fidelity, RoutedSchedule(schedule, platform, in_order(schedule.ranks)), policy);
  return latest(clock->completion_times(size, all_at(schedule.ranks, 0_s)));
}

TEST(HostCpu, LimitsARingToWhatOneConnectionHas) {
  // 2 (n-1) (alpha + M / (n min(B, f)))
  for (const auto& [rate, expected] : {std::pair{"4 GB/s", 4e9}, std::pair{"40 GB/s", wire}}) {
    const Platform platform = with_protocol(std::string(R"(, "flow_rate": ")") + rate + "\"");
    for (const Fidelity fidelity : all_fidelities) {
      for (const FoldingPolicy policy : {FoldingPolicy::where_exact, FoldingPolicy::never}) {
        EXPECT_NEAR(time_of(fidelity, ring_allreduce(8), platform, 8_MB, policy).si(), 14 * (2e-6 + 1e6 / expected),
                    1e-12)
            << name(fidelity);
      }
    }
  }
}

TEST(HostCpu, LetsManyConnectionsFillTheWire) {
  // Seven at once have a seventh of the wire each, less than one connection's limit.
  for (const char* algorithm : {"direct", "pairwise"}) {
    const Schedule alltoall = find_algorithm(Operation::alltoall, algorithm)->build(Shape(8));
    const bool at_once = std::string(algorithm) == "direct";
    for (const Fidelity fidelity : all_fidelities) {
      const double time = time_of(fidelity, alltoall, with_protocol(R"(, "flow_rate": "2 GB/s")"), 8_MB).si();
      EXPECT_NEAR(time, at_once ? 2e-6 + 7e6 / wire : 7 * (2e-6 + 1e6 / 2e9), 1e-12) << name(fidelity);
    }
  }
}

TEST(HostCpu, OfANodeMovesWhatGoesOutAndWhatComesInTogether) {
  // In a ring every node sends and receives at once: half of its cores' rate for each.
  for (const Fidelity fidelity : all_fidelities) {
    const double time = time_of(fidelity, ring_allreduce(8), with_protocol(R"(, "cpu_rate": "6 GB/s")"), 8_MB).si();
    EXPECT_NEAR(time, 14 * (2e-6 + 1e6 / 3e9), 1e-12) << name(fidelity);
  }
  const Platform platform = with_protocol(R"(, "cpu_rate": "6 GB/s")", 2);
  EXPECT_EQ(names_of(platform, platform.route(0, 1)),
            (std::vector<std::string>{"node0/cpu", "node0/nic0/up", "node1/nic0/down", "node1/cpu"}));
}

TEST(HostCpu, GivesEveryCollectiveItsOwnConnections) {
  // Two rings at once: 3.2 GB/s of the wire for each, unless a connection has less.
  for (const auto& [rate, expected] : {std::pair{"2 GB/s", 2e9}, std::pair{"5 GB/s", wire / 2}}) {
    const Platform platform = with_protocol(std::string(R"(, "flow_rate": ")") + rate + "\"");
    const RoutedSchedule routed(ring_allreduce(8), platform, in_order(8));
    for (const Fidelity fidelity : all_fidelities) {
      test::Meeting clock(fidelity, platform, {routed, routed});
      clock.start(0, 8_MB, all_at(8, 0_s), 0);
      clock.start(1, 8_MB, all_at(8, 0_s), 1);
      clock.run([](int, const RankTimes&) {});
      EXPECT_NEAR(clock.now().si() / (14 * (2e-6 + 1e6 / expected)), 1, 1e-9) << name(fidelity);
    }
  }
}

TEST(HostCpu, IsRefusedOfLinksThatAreNoNics) {
  const std::string file = network_file(
      "leaf_spine", "4", 10,
      R"({"nodes_per_leaf": 2, "spines": 1, "link": {"rate": "1 GB/s", "protocol": {"name": "tcp", "flow_rate": "1 GB/s"}}})");
  EXPECT_NE(message_of([&] { built(file); }).find("in the protocol of a NIC only"), std::string::npos);
  EXPECT_NE(message_of([] { with_protocol(R"(, "cpu_rate": "0 GB/s")"); }).find("a rate above zero"),
            std::string::npos);
}

}}  // namespace farandole::host_cpu_test
