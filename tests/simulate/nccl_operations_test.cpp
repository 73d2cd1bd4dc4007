// NCCL's cost model by operation and between nodes, against what its sources say.
#include <set>

#include <gtest/gtest.h>

#include "simulate/library/nccl_route.hpp"
#include "simulate/nccl_kit.hpp"

namespace farandole::nccl_operations_test { namespace {

using test::dgx_a100;
using test::Modelled;
using enum NcclAlgorithm;
using enum NcclProtocol;

/// A DGX-2: 12 links of 21 GB/s into switches. A rank of 8 sends 14/8, 7/8 or all of the data. Rows of tuning.cc:
/// ll128MaxBw of 2.5 for all channels, ll128MaxBwPerCh of 2.7 for each of 12.
TEST(NcclOperations, RingsOfLl128AreHeldToWhatVoltaReachesWithTheOperation) {
  struct Row {
    Operation operation;
    double of_all;
    double of_a_channel;
    double sent;
  };
  for (const Row& row :
       {Row{Operation::broadcast, 113, 18.8, 1}, Row{Operation::reduce, 72, 12.0, 1},
        Row{Operation::allgather, 110, 18.3, 7 / 8.0}, Row{Operation::reduce_scatter, 91, 15.2, 7 / 8.0},
        Row{Operation::allreduce, 100, 16.7, 14 / 8.0}}) {
    const auto rate = [&](const char* version) {
      const Modelled volta(version, test::gpu_nodes({1, 8, 8, 300_GBps, 12.5_GBps}), 8, row.operation, 70);
      return volta.model.cost(ring, ll128, 1_GiB).rate.si() / 1e9;
    };
    EXPECT_NEAR(rate("2.5"), row.of_all / row.sent, 1e-6) << name(row.operation);
    EXPECT_NEAR(rate("2.7"), 12 * row.of_a_channel / row.sent, 1e-6) << name(row.operation);
  }
}

/// From 2.7 on up to 2.20 a third of the bus, not a quarter, where nothing is added up and one node has all ranks.
TEST(NcclOperations, RingsOfLlTakeAThirdOfTheBusOfOneNodeWhereTheyOnlyPassOn) {
  const auto share = [](const char* version, int nodes, Operation operation) {
    const Platform platform = test::gpu_nodes({nodes, 8, 8, 300_GBps, 12.5_GBps});
    const Modelled volta(version, platform, 8 * nodes, operation, 70);
    return volta.model.cost(ring, ll, 1_KiB).rate / volta.model.cost(ring, simple, 1_KiB).rate;
  };
  EXPECT_NEAR(share("2.7", 1, Operation::allgather), 1 / 3.0, 1e-12);
  EXPECT_NEAR(share("2.7", 1, Operation::broadcast), 1 / 3.0, 1e-12);
  EXPECT_NEAR(share("2.7", 1, Operation::allreduce), 1 / 4.0, 1e-12);
  EXPECT_NEAR(share("2.7", 1, Operation::reduce), 1 / 4.0, 1e-12);
  EXPECT_NEAR(share("2.7", 2, Operation::allgather), 1 / 4.0, 1e-12);
  EXPECT_NEAR(share("2.5", 1, Operation::allgather), 1 / 4.0, 1e-12);
}

/// Two trees, each of n - 1 edges between n nodes, there and back; where both have an edge it is the same.
TEST(NcclOperations, NodesThatTreesJoinAreJoinedByOnePairOfDevices) {
  for (const int nodes : {2, 3, 4, 7}) {
    const Platform platform = dgx_a100(nodes);
    const Modelled cluster("2.10", platform, 8 * nodes, Operation::allreduce, 80);
    const NcclJob job{platform, cluster.graph, nvlink_rate(80), Operation::allreduce,
                      cluster.model.messages(NcclProtocol::simple)};
    const RoutedSchedule routed = route_as_nccl(job, cluster.model.choice_of(tree, simple, 1_MiB), 1_MiB);
    std::set<std::pair<int, int>> devices;
    std::set<std::pair<int, int>> joined;
    for (const Phase& phase : routed.schedule().phases) {
      for (const Transfer& transfer : phase.transfers) {
        if (transfer.from / 8 == transfer.to / 8) continue;
        devices.emplace(transfer.from, transfer.to);
        joined.emplace(transfer.from / 8, transfer.to / 8);
      }
    }
    EXPECT_EQ(devices.size(), joined.size());
    EXPECT_GE(joined.size(), 2 * (nodes - 1));
    EXPECT_LE(joined.size(), 4 * (nodes - 1));
  }
}

/// NICs that run at a tenth, of which the model knows nothing: eight of 2.5 GB/s pass all the data on once.
TEST(NcclOperations, APipelineIsNoFasterThanTheLinksBetweenItsNodes) {
  Platform platform = dgx_a100(2);
  for (Link& link : platform.links) {
    if (link.name.starts_with("nic")) link.capacity = 2.5_GBps;
  }
  const Placement placement = test::in_order(16);
  for (const Operation operation : {Operation::broadcast, Operation::reduce}) {
    for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
      auto clock = test::library_clock("nccl-2.20", operation, platform, placement, fidelity);
      const double taken = latest(clock->completion_times(1_GiB, all_at(16, 0_s))).si();
      EXPECT_NEAR(taken, (1_GiB / 20_GBps).si(), 1e-3) << name(operation) << ' ' << name(fidelity);
    }
  }
}

/// graph/tuning.cc: LL128 is for Volta, from 2.7 on for the A100, and for Hopper once a release knows it; of other
/// devices, Turing's and the A40's, for none. A tuner may have Simple alone.
TEST(NcclOperations, Ll128IsForTheDevicesThatAReleaseKnowsItOf) {
  for (const std::string& release : test::nccl_versions()) {
    const auto is_of = [&](const std::string& number) {
      return release == number || release.starts_with(number + "-");
    };
    const bool knows_ampere = !is_of("2.5");
    const bool knows_hopper = knows_ampere && !is_of("2.7") && !is_of("2.10");
    for (const auto& [capability, is_there] :
         {std::pair{60, false}, {70, true}, {75, false}, {80, knows_ampere}, {86, false}, {90, knows_hopper}}) {
      const Platform platform = test::gpu_nodes({1, 8, 8, 300_GBps, 25_GBps});
      const Modelled node(release, platform, 8, Operation::allreduce, capability);
      EXPECT_EQ(node.model.cost(ring, ll128, 1_MiB).rate > BytesPerSecond(0),
                is_there && !test::tuning(release).simple_alone)
          << release << ' ' << capability;
      EXPECT_GT(node.model.cost(ring, simple, 1_MiB).rate, BytesPerSecond(0));
    }
  }
}

/// A node of four devices that NVLinks join, each with a cable of its own to a PCIe switch or to the processor; `up`
/// are the links that a device passes from there to its NIC.
Platform with_pcie(bool has_switches, const Path& up) {
  Platform platform = test::gpu_nodes({2, 4, 2, 300_GBps, 25_GBps});
  NodeTemplate& node = platform.node;
  const auto add = [&](const char* name) {
    node.links.push_back({name, 24_GBps, 0_s, 24_GBps});
    return static_cast<int>(node.links.size()) - 1;
  };
  const int cable = add("device0/up");
  if (has_switches) add("switch0/up");
  node.to_nic.clear();
  for (int device = 0; device < 4; ++device) {
    for (int nic = 0; nic < 2; ++nic) {
      Path way{cable};
      way.insert(way.end(), up.begin(), up.end());
      way.push_back(2 * nic);
      node.to_nic.push_back({way});
    }
  }
  platform.links = node.links;
  platform.links.insert(platform.links.end(), node.links.begin(), node.links.end());
  return platform;
}

/// graph/tuning.cc: typeInter <= PATH_PXB. A NIC on the processor's own lanes is further than that (Polaris), and so is
/// one that a device reaches by way of its processor. On one node no NIC matters.
TEST(NcclOperations, Ll128BetweenNodesNeedsNicsOnTheDevicesOwnSwitches) {
  const auto is_there = [](const Platform& platform, int ranks) {
    const Modelled run("2.18", platform, ranks, Operation::allreduce, 80);
    EXPECT_GT(run.model.cost(ring, simple, 1_MiB).rate, BytesPerSecond(0));
    return run.model.cost(ring, ll128, 1_MiB).rate > BytesPerSecond(0);
  };
  const int to_processor = static_cast<int>(test::gpu_nodes({1, 4, 2, 300_GBps, 25_GBps}).node.links.size()) + 1;
  EXPECT_TRUE(is_there(with_pcie(true, {}), 8));
  EXPECT_FALSE(is_there(with_pcie(false, {}), 8));
  EXPECT_FALSE(is_there(with_pcie(true, {to_processor}), 8));
  EXPECT_TRUE(is_there(with_pcie(false, {}), 4));
  EXPECT_TRUE(is_there(test::dgx_a100(2), 16));
}

/// v2.5.7-1 has no treeCorrectionFactor; later ones have one that is 1 below 1 KiB of LL and LL128 and from 256 MiB on.
TEST(NcclOperations, TreesOf25HaveOneRateWhateverTheSize) {
  const Platform platform = test::gpu_nodes({1, 8, 8, 300_GBps, 12.5_GBps});
  const auto rate = [&](const char* version, NcclProtocol protocol, Bytes size) {
    return Modelled(version, platform, 8, Operation::allreduce, 70).model.cost(tree, protocol, size).rate;
  };
  for (const NcclProtocol protocol : nccl_protocols()) {
    for (const Bytes size : {64_B, 1_KiB, 64_KiB, 1_MiB, 16_MiB})
      EXPECT_EQ(rate("2.5", protocol, size), rate("2.5", protocol, 4_GiB)) << name(protocol) << ' ' << size.si();
    EXPECT_LT(rate("2.7", protocol, 1_MiB), rate("2.7", protocol, 4_GiB)) << name(protocol);
  }
}

}}  // namespace farandole::nccl_operations_test
