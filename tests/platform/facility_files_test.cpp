// Whole facilities of topologies/ against what is published of them: counts, ports and rates, worked out again here.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "platform/bisection.hpp"
#include "platform/samples.hpp"

namespace farandole::facility_files_test { namespace {

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

double gigabytes_of_nic(const Platform& platform, std::size_t nic) {
  return platform.links[static_cast<std::size_t>(platform.node.nics.at(nic).up)].capacity.si() / 1e9;
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
  Document document = Document::read(test::source_folder() / "topologies/theta.json");
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

/// Cables between groups, of so many switches each.
int between_groups(const Platform& platform, int switches) {
  int cables = 0;
  for (const Cable& cable : platform.network.cables) {
    if (cable.from / switches != cable.to / switches) cables += cable.count;
  }
  return cables;
}

/// Cables into the switches of that level.
int cables_to(const Platform& platform, const std::string& level) {
  const auto is_there = [&](int at) {
    return platform.network.switches[static_cast<std::size_t>(at)].name.find(level) != std::string::npos;
  };
  int cables = 0;
  for (const Cable& cable : platform.network.cables) {
    if (is_there(cable.from) || is_there(cable.to)) cables += cable.count;
  }
  return cables;
}

constexpr double slingshot_payload = 4096.0 / 4178;
constexpr double infiniband_payload = 4096.0 / 4122;

TEST(Frontier, HasTheGlobalBandwidthAndTheTaperThatArePublished) {
  const Platform machine = whole("frontier");
  EXPECT_EQ(machine.nodes, 9408);
  EXPECT_EQ(machine.devices_per_node, 8);
  ASSERT_EQ(machine.network.switches.size(), 74U * 8);
  const int global = between_groups(machine, 8);
  EXPECT_NEAR(global * 25e-3, 270, 0.5);                    // TB/s each way, with headers
  EXPECT_NEAR(2.0 * global / 74 / (128 * 4), 0.57, 0.005);  // of what a group's NICs can send
  EXPECT_NEAR(narrowest(machine, 0, 1), 4 * 37.5, 1e-9);    // the dies of a module, of 50 GB/s a link
  EXPECT_NEAR(narrowest(machine, 2, 8 + 2), 25 * slingshot_payload, 1e-9);
}

TEST(Aurora, HasTheInjectionAndTheBisectionThatArePublished) {
  const Platform machine = whole("aurora");
  EXPECT_EQ(machine.nodes, 10624);
  EXPECT_EQ(machine.devices(), 63744);
  ASSERT_EQ(machine.network.switches.size(), 166U * 8);
  EXPECT_NEAR(machine.nodes * static_cast<double>(machine.node.nics.size()) * 25e-6, 2.12, 0.01);  // PB/s
  // Of 166 x 165 / 2 pairs of groups 83 x 83 lie across the middle; both directions, as published.
  const double pairs = 166 * 165 / 2.0;
  EXPECT_NEAR(between_groups(machine, 8) / pairs * 83 * 83 * 25e-6 * 2, 0.69, 0.005);
}

TEST(Aurora, SendsEagerlyWhatLibfabricDoes) {
  // CXIP_RDZV_THRESHOLD and rdzv_get_min: no longer than both together.
  EXPECT_EQ(whole("aurora").transport.message.rendezvous_from, Bytes(16384 + 2049 + 1));
}

TEST(Slingshot, NcclsAndRcclsMessagesAreEagerAsLibfabricHasThemUntil122) {
  // CXIP_RDZV_THRESHOLD was 2048 then; rdzv_get_min is 2049.
  for (const char* name : {"polaris", "perlmutter", "frontier"}) {
    EXPECT_EQ(whole(name).transport.nic.rendezvous_from, Bytes(2048 + 2049 + 1)) << name;
    EXPECT_EQ(whole(name).transport.nic.of(2_KiB), Seconds(0)) << name;
    EXPECT_DOUBLE_EQ(whole(name).transport.nic.of(8_KiB).si(), 7.4e-6) << name;
  }
  EXPECT_EQ(whole("eos").transport.nic.of(1_GiB), Seconds(0));
}

TEST(Perlmutter, HasAGroupForEvery128NodesAndNeighboursShareSwitches) {
  const Platform machine = whole("perlmutter");
  EXPECT_EQ(machine.devices(), 7168);
  EXPECT_EQ(machine.network.switches.size(), 14U * 8);
  EXPECT_EQ(machine.node.nics.size(), 4U);
  EXPECT_NEAR(narrowest(machine, 0, 1), 4 * 25 * 128.0 / 144, 1e-9);
  for (const std::string& name : names_of(machine, machine.route(3, 4 * 15 + 3))) {
    EXPECT_EQ(name.find("group"), std::string::npos) << name;  // of a chassis: no cable between switches
  }
}

TEST(JuwelsBooster, HasTenCablesFromEveryCellToEveryOther) {
  const Platform machine = whole("juwels-booster");
  EXPECT_EQ(machine.devices(), 3744);
  EXPECT_EQ(cables_to(machine, "global"), (936 + 49) / 50 * 10 * 19);  // cells x upper switches x other cells
  EXPECT_NEAR(gigabytes_of_nic(machine, 0), 25 * infiniband_payload, 1e-9);
}

TEST(Leonardo, HasACableFromEveryUpperSwitchToEveryOtherCell) {
  const Platform machine = whole("leonardo");
  EXPECT_EQ(machine.devices(), 13824);
  EXPECT_EQ(cables_to(machine, "global"), 20 * 18 * 22);
  EXPECT_NEAR(gigabytes_of_nic(machine, 3), 12.5 * infiniband_payload, 1e-9);
}

TEST(RailsOfNdr, CarryWhatAllNicsSendAcrossAnyMiddle) {
  for (const auto& [name, nodes] : {std::pair{"hgx-h100", 128},
                                    {"hgx-h100", 256},
                                    {"hgx-h100", 2048},
                                    {"hgx-h200", 2048},
                                    {"hgx-b200", 128},
                                    {"eos", 576}}) {
    const Platform machine = build(topology_named(name), nodes, anywhere());
    EXPECT_NEAR(bisection(machine).value().si() / 1e9, nodes / 2 * 8 * 50 * infiniband_payload, 1e-6) << name;
    // GPU i of any two nodes of a unit: one leaf, nothing above it.
    for (const std::string& link : names_of(machine, machine.route(5, 8 * 31 + 5))) {
      EXPECT_EQ(link.find("spine"), std::string::npos) << link;
    }
  }
}

TEST(RailsOfNdr, ComeByUnitsOf128NodesAsManyAsAJobNeeds) {
  const Topology machine = topology_named("hgx-h100");
  for (const auto& [ranks, nodes] : {std::pair{8, 128}, {1024, 128}, {1025, 256}, {16384, 2048}}) {
    const Placement placement = place({}, ranks, {}, layout_of(machine), anywhere());
    EXPECT_EQ(build_for(machine, placement, anywhere()).nodes, nodes) << ranks;
  }
  EXPECT_THROW(place({}, 16385, {}, layout_of(machine), anywhere()), InputError);
  PlacementRule last;
  last.nodes = PlacementRule::Nodes::listed;
  last.listed = {2047};
  EXPECT_EQ(place(last, 1, {}, layout_of(machine), anywhere()).device_of_rank, std::vector<int>{2047 * 8});
  EXPECT_EQ(build(machine, 128, anywhere()).network.switches.size(), 32U + 32U);  // no level that nothing crosses
  EXPECT_EQ(build(machine, 256, anywhere()).network.switches.size(), 2 * (32U + 32U) + 256U);
  // Between units of one 128 a way goes by a spine, between others by a core.
  const Platform two = build(machine, 256, anywhere());
  const auto crosses = [&](int from, int to, const char* what) {
    return std::ranges::any_of(names_of(two, two.route(from * 8, to * 8)),
                               [&](const std::string& link) { return link.find(what) != std::string::npos; });
  };
  EXPECT_TRUE(crosses(0, 127, "spine"));
  EXPECT_FALSE(crosses(0, 127, "core"));
  EXPECT_TRUE(crosses(0, 128, "core"));
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

}}  // namespace farandole::facility_files_test
