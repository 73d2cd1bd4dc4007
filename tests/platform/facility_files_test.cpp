// Whole facilities of topologies/ against what is published of them: counts, ports and rates, worked out again here.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "platform/bisection.hpp"
#include "platform/samples.hpp"

namespace farandole {
namespace {

Platform whole(const std::string& name) {
  const auto topology = topology_named(name);
  return build(topology, topology.nodes.value(), anywhere());
}

/// Ends of cables per rank of Aries, told apart by what a cable joins.
std::map<int, int> ports_by_rank(const Platform& platform) {
  std::map<int, int> ports;
  for (const Cable& cable : platform.network.cables) {
    const bool same_group = cable.from / 96 == cable.to / 96;
    const bool same_chassis = cable.from / 16 == cable.to / 16;
    ports[!same_group ? 3 : same_chassis ? 1 : 2] += 2 * cable.count;
  }
  return ports;
}

double narrowest(const Platform& platform, int from, int to) {
  double rate = 1e12;
  for (const int link : platform.route(from, to).links) {
    rate = std::min(rate, platform.links[static_cast<std::size_t>(link)].capacity.si() / 1e9);
  }
  return rate;
}

TEST(Theta, Has4392NodesIn4608SlotsOf12GroupsAnd24Cabinets) {
  const Platform theta = whole("theta");
  EXPECT_EQ(theta.nodes, 4392);
  const int groups = 12;
  EXPECT_EQ(theta.network.switches.size(), groups * 6U * 16);
  EXPECT_EQ(groups * 6 * 16 * 4, 4608);
  EXPECT_EQ(groups * 6 / 3, 24);  // three chassis a cabinet
  EXPECT_EQ(topology_named("theta").nodes_per_group, 384);
}

TEST(Theta, HasThePortsOfTwelveGroupsWhereTheFacilityPrintsThoseOfTen) {
  const auto ports = ports_by_rank(whole("theta"));
  // 15 ports of rank 1 and 5 x 3 of rank 2 on each of 96 routers; 87 optical cables from a group to each of 11 others.
  EXPECT_EQ(ports.at(1), 12 * 96 * 15);
  EXPECT_EQ(ports.at(2), 12 * 96 * 15);
  EXPECT_EQ(ports.at(3), 12 * 11 * 87);
  EXPECT_EQ(10 * 96 * 15, 14400);  // as printed, rank 1 and rank 2
  EXPECT_EQ(10 * 96 * 10, 9600);   // as printed, rank 3
}

TEST(Theta, AGroupHasTheBisectionOfAries) {
  Document document = Document::read(source_folder() / "topologies/theta.json");
  document.set("/nodes", "384");
  document.set("/network/groups", "1");
  document.set("/node/nic/rate", "100 GB/s");  // so that the network limits, not 192 NICs
  document.set("/node/nic/host_rate", "1e9 GB/s");
  const auto group = build(read_topology(document.root(), "theta.json"), 384, anywhere());
  // Half of the slots from the other half: 8 x 8 pairs in 6 chassis, 5.25 GB/s each way. The white paper's 4,032 GB/s
  // are both directions of these 384 links; 64 % of it is payload.
  EXPECT_NEAR(bisection(group).value().si() / 1e9, 384 * 5.25 * 0.64, 0.01);
  EXPECT_DOUBLE_EQ(384 * 5.25 * 2, 4032);
}

TEST(Theta, OneStreamGetsWhatPingPongReachedAndWaitsForMpiAndTheHops) {
  const Platform theta = whole("theta");
  // 1/8.5 = 1/10.2 + 1/51; nodes 0 and 1 share a router.
  EXPECT_NEAR(narrowest(theta, 0, 1), 8.5, 1e-9);
  EXPECT_NEAR(theta.route(0, 1).latency.si(), 3.22e-6, 1e-12);
  // Routers 0 and 1 of a chassis: one hop on the shortest of the ways, more on the others.
  EXPECT_GE(theta.route(0, 4).latency.si(), 3.32e-6 - 1e-12);
  EXPECT_LE(theta.route(0, 4391).latency.si(), 3.22e-6 + 10 * 0.1e-6 + 1e-12);
}

TEST(PizDaint, Has5704NodesInFifteenGroups) {
  for (const char* name : {"piz-daint", "piz-daint-mpi"}) {
    const Platform machine = whole(name);
    EXPECT_EQ(machine.nodes, 5704);
    EXPECT_EQ(machine.network.switches.size(), 15U * 96);
  }
  EXPECT_NEAR(narrowest(whole("piz-daint-mpi"), 0, 1), 9.6, 1e-9);
  EXPECT_LT(narrowest(whole("piz-daint"), 0, 1), 9.6);  // IP over Aries
}

TEST(ThetaGpu, Has20SwitchesOf40PortsAndEightRailsOf200Gigabits) {
  const Platform machine = whole("thetagpu");
  EXPECT_EQ(machine.devices(), 192);
  ASSERT_EQ(machine.network.switches.size(), 20U);
  std::vector<int> used(20, 0);
  for (const int nics : machine.network.switch_of_nic) ++used[static_cast<std::size_t>(nics)];
  for (const Cable& cable : machine.network.cables) {
    used[static_cast<std::size_t>(cable.from)] += cable.count;
    used[static_cast<std::size_t>(cable.to)] += cable.count;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    EXPECT_EQ(machine.network.switches[i].ports, 40);
    EXPECT_TRUE(used[i] == 24 + 12 || used[i] == 8) << used[i];
  }
  EXPECT_EQ(machine.node.nics.size(), 8U);
  // 200 Gbit/s less InfiniBand's headers; device i of every node is on rail i, which stays on its leaf.
  const int up = machine.node.nics[3].up;
  EXPECT_NEAR(machine.links[static_cast<std::size_t>(up)].capacity.si() / 1e9, 25 * 4096.0 / 4122, 1e-9);
  EXPECT_DOUBLE_EQ(narrowest(machine, 3, 8 * 20 + 3), 24);  // PCIe gen4 is a little less
  for (const std::string& name : names_of(machine, machine.route(3, 8 * 20 + 3))) {
    EXPECT_EQ(name.find("spine"), std::string::npos) << name;
  }
}

TEST(Polaris, Has560NodesOfFourGpusOnTwoNicsOf200Gigabits) {
  const Platform machine = whole("polaris");
  EXPECT_EQ(machine.devices(), 2240);
  EXPECT_EQ(machine.network.switches.size(), 140U);
  EXPECT_EQ(machine.node.nics.size(), 2U);
  EXPECT_NEAR(narrowest(machine, 0, 1), 4 * 25 * 128.0 / 144, 1e-9);  // four NVLinks between any two
  EXPECT_NEAR(machine.links[static_cast<std::size_t>(machine.node.nics[1].up)].capacity.si() / 1e9, 25 * 4096.0 / 4178,
              1e-9);
}

TEST(LabTwoTier, CrossesATrunkOfTwiceAHostsRate) {
  const Platform lab = whole("lab-two-tier");
  double trunk = 0;
  for (const int link : lab.route(0, 3).links) {
    const Link& crossed = lab.links[static_cast<std::size_t>(link)];
    if (crossed.name.find("nic") == std::string::npos) trunk = crossed.capacity.si();
  }
  EXPECT_NEAR(trunk * 8, 200e6 * 1448 / 1514, 1e-3);
  const auto near = lab.route(0, 1).links;  // there, and back with acknowledgements
  EXPECT_EQ(std::set<int>(near.begin(), near.end()).size(), 4U);
}

TEST(Facilities, AJobGoesByTheirGroups) {
  PlacementRule rule;
  rule.nodes = PlacementRule::Nodes::by_group;
  const auto placed = place(rule, 13, {}, layout_of(topology_named("theta")), anywhere());
  for (int rank = 0; rank < 12; ++rank) EXPECT_EQ(placed.device_of_rank[static_cast<std::size_t>(rank)], rank * 384);
  EXPECT_EQ(placed.device_of_rank.back(), 1);
}

}  // namespace
}  // namespace farandole
