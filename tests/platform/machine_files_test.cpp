// The machines of topologies/ against the facts of their datasheets: counts and rates, worked out again here.
#include <set>

#include <gmock/gmock.h>

#include "platform/samples.hpp"

namespace farandole::machine_files_test { namespace {

using testing::Each;
using testing::ElementsAre;

constexpr double nvlink_payload = 128.0 / 144;        // a cache line and its header flit
constexpr double infiniband_payload = 4096.0 / 4122;  // a packet and its headers
constexpr double tcp_payload = 1448.0 / 1538;
constexpr double jumbo_payload = 8949.0 / 9039;

Platform two_of(const std::string& name) {
  return build(topology_named(name), 2, anywhere());
}

double gigabytes(const Platform& platform, int link) {
  return platform.links[static_cast<std::size_t>(link)].capacity.si() / 1e9;
}

/// Of the narrowest link between two devices, in GB/s.
double rate_between(const Platform& platform, int from, int to) {
  double rate = 1e9;
  for (const int link : platform.route(from, to).links) rate = std::min(rate, gigabytes(platform, link));
  return rate;
}

bool passes(const Platform& platform, int from, int to, const std::string& part) {
  const auto names = names_of(platform, platform.route(from, to));
  return std::ranges::any_of(names, [&](const auto& name) { return name.find(part) != std::string::npos; });
}

/// GB/s of all NVLinks out of a device of a mesh.
double leaving(const Platform& platform, int device) {
  std::set<int> links;
  for (int other = 0; other < platform.devices_per_node; ++other) {
    if (other != device && passes(platform, device, other, "nvlink")) {
      links.insert(platform.route(device, other).links.front());
    }
  }
  double sum = 0;
  for (const int link : links) sum += gigabytes(platform, link);
  return sum;
}

struct Mesh {
  const char* name;
  int links_per_device;
  double link;  // GB/s
  int pairs;    // that are joined
};

class MeshOf : public testing::TestWithParam<Mesh> {};

TEST_P(MeshOf, HasTheLinksOfTheDatasheetOnEveryDevice) {
  const auto& [name, links, rate, pairs] = GetParam();
  const Platform platform = two_of(name);
  int joined = 0;
  for (int from = 0; from < platform.devices_per_node; ++from) {
    EXPECT_NEAR(leaving(platform, from), links * rate * nvlink_payload, 1e-6) << from;
    for (int to = 0; to < from; ++to) joined += passes(platform, from, to, "nvlink") ? 1 : 0;
  }
  EXPECT_EQ(joined, pairs);
}

INSTANTIATE_TEST_SUITE_P(Machines, MeshOf,
                         testing::Values(Mesh{"dgx1-p100", 4, 20, 16}, Mesh{"dgx1-v100", 6, 25, 16},
                                         Mesh{"aws-p3.16xlarge", 6, 25, 16}, Mesh{"dlperf-4x8v100", 6, 25, 16},
                                         Mesh{"dell-c4140", 6, 25, 6}),
                         [](const auto& each) {
                           std::string name = each.param.name;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(Machines, ADgx1WithVoltaHasARingOfDoubleLinks) {
  const Platform platform = two_of("dgx1-v100");
  const std::vector<int> ring{0, 3, 2, 1, 5, 6, 7, 4};
  for (std::size_t i = 0; i < ring.size(); ++i) {
    EXPECT_NEAR(rate_between(platform, ring[i], ring[(i + 1) % ring.size()]), 2 * 25 * nvlink_payload, 1e-6);
  }
}

TEST(Machines, PairsOfAHybridCubeMeshWithoutALinkGoOverPcieAndTheInterconnect) {
  const Platform platform = two_of("dgx1-v100");
  EXPECT_TRUE(passes(platform, 0, 7, "socket1"));
  EXPECT_DOUBLE_EQ(rate_between(platform, 0, 7), 6);  // QPI
}

TEST(Machines, AnNvswitchGivesEveryPairAllLinksOfADevice) {
  // 6, 12 and 18 links of 25 GB/s; 18 of 50 from Blackwell on
  for (const auto& [name, links, each] : {std::tuple{"dgx2h", 6, 25},
                                          {"dgx-a100", 12, 25},
                                          {"aws-p4d", 12, 25},
                                          {"dgx-h100", 18, 25},
                                          {"hgx-h100", 18, 25},
                                          {"hgx-h200", 18, 25},
                                          {"eos", 18, 25},
                                          {"hgx-b200", 18, 50},
                                          {"gb200-nvl72", 18, 50}}) {
    const Platform platform = two_of(name);
    for (int to = 1; to < platform.devices_per_node; ++to) {
      EXPECT_NEAR(rate_between(platform, 0, to), links * each * nvlink_payload, 1e-6) << name;
    }
  }
}

TEST(Machines, AnyTwoMi300xHaveALinkThatLeavesPayloadThreeQuarters) {
  const Platform platform = two_of("mi300x-8");
  for (int to = 1; to < 8; ++to) EXPECT_NEAR(rate_between(platform, 0, to), 48, 1e-9);
  // Every one sends to other nodes through a NIC of its own.
  EXPECT_THAT(names_of(platform, platform.route(3, 8 + 3)),
              ElementsAre("node0/device3/up", "node0/nic3/up", "node1/nic3/down", "node1/device3/down"));
}

struct Nics {
  const char* name;
  int devices;
  int nics;
  double gigabits;  // each
  double payload;   // share of the wire, and of what the host leaves
};

class NicsOf : public testing::TestWithParam<Nics> {};

TEST_P(NicsOf, AreAsManyAndAsFastAsTheDatasheetSays) {
  const auto& [name, devices, nics, gigabits, payload] = GetParam();
  const Platform platform = two_of(name);
  EXPECT_EQ(platform.devices_per_node, devices);
  ASSERT_EQ(static_cast<int>(platform.node.nics.size()), nics);
  for (const auto& nic : platform.node.nics) {
    EXPECT_NEAR(platform.node.links[static_cast<std::size_t>(nic.up)].wire.si() * 8e-9, gigabits, 1e-9);
    EXPECT_NEAR(gigabytes(platform, nic.up), gigabits / 8 * payload, 1e-6);
  }
}

TEST_P(NicsOf, AreUsedByTheDevicesInEqualParts) {
  const Platform platform = two_of(GetParam().name);
  std::vector<int> users(platform.node.nics.size(), 0);
  for (const auto& nics : platform.node.nics_of_device) {
    ASSERT_EQ(nics.size(), 1U);
    ++users[static_cast<std::size_t>(nics.front())];
  }
  EXPECT_THAT(users, Each(GetParam().devices / GetParam().nics));
}

INSTANTIATE_TEST_SUITE_P(
    Machines, NicsOf,
    testing::Values(Nics{"dgx1-p100", 8, 4, 100, infiniband_payload}, Nics{"dgx1-v100", 8, 4, 100, infiniband_payload},
                    Nics{"dgx2h", 16, 8, 100, infiniband_payload}, Nics{"dgx-a100", 8, 8, 200, infiniband_payload},
                    Nics{"dgx-h100", 8, 8, 400, infiniband_payload}, Nics{"dell-c4140", 4, 1, 100, infiniband_payload},
                    Nics{"dlperf-4x8v100", 8, 1, 100, infiniband_payload}, Nics{"gce-8xk80", 8, 1, 16, 1408.0 / 1498},
                    Nics{"aws-p2.xlarge", 1, 1, 2.23, jumbo_payload}, Nics{"aws-p2.8xlarge", 8, 1, 10, jumbo_payload},
                    Nics{"aws-p3.16xlarge", 8, 1, 25, jumbo_payload}, Nics{"aws-p4d", 8, 4, 100, 8192.0 / 8274},
                    Nics{"hgx-h100", 8, 8, 400, infiniband_payload}, Nics{"hgx-h200", 8, 8, 400, infiniband_payload},
                    Nics{"hgx-b200", 8, 8, 400, infiniband_payload}, Nics{"eos", 8, 8, 400, infiniband_payload},
                    Nics{"gb200-nvl72", 72, 72, 400, infiniband_payload}, Nics{"mi300x-8", 8, 8, 400, 4096.0 / 4178},
                    Nics{"frontier", 8, 4, 200, 4096.0 / 4178}, Nics{"leonardo", 4, 4, 100, infiniband_payload},
                    Nics{"edge-wan", 1, 1, 0.1, tcp_payload}, Nics{"lab-star", 1, 1, 0.1, 1448.0 / 1514},
                    Nics{"lab-star-2", 2, 1, 0.1, 1448.0 / 1514}),
    [](const auto& each) {
      std::string name = each.param.name;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

TEST(Machines, TheNicOfDlperfIsNextToGpus2And3) {
  const Platform platform = two_of("dlperf-4x8v100");
  EXPECT_THAT(names_of(platform, platform.route(2, 8 + 3)),
              ElementsAre("node0/device2/up", "node0/nic0/up", "node1/nic0/down", "node1/device3/down"));
  EXPECT_TRUE(passes(platform, 0, 8, "node0/switch1/down"));
  EXPECT_EQ(build(topology_named("dlperf-4x8v100"), 4, anywhere()).devices(), 32);
}

TEST(Machines, Tcp40MovesAByteAtTheCostOfWireAndHost) {
  // 1/B = 1/5 + 1/3.68, the host of tcp25-4xp100
  const Platform platform = build(topology_named("tcp40-4xp100"), 16, anywhere());
  EXPECT_EQ(platform.devices(), 64);
  EXPECT_NEAR(rate_between(platform, 3, 4), 1 / (1 / 5.0 + 1 / 3.69), 1e-9);
  EXPECT_EQ(topology_named("tcp40-4xp100").nic.host_rate, topology_named("tcp25-4xp100").nic.host_rate);
}

TEST(Machines, TheLabsGoodputIsThatOfItsFormulaAtEveryRate) {
  // goodput = rate * (MTU - 52) / (MTU + 14)
  for (const auto& [rate, mtu] : {std::pair{100.0, 1500.0}, {400.0, 9000.0}, {1000.0, 9000.0}}) {
    Document document = Document::read(test::source_folder() / "topologies/lab-star.json");
    document.set("/node/nic/rate", std::to_string(rate) + " Mbit/s");
    document.set("/node/nic/protocol/mtu", std::to_string(mtu) + " B");
    const auto platform = build(read_topology(document.root(), "lab-star.json"), 4, anywhere());
    EXPECT_NEAR(rate_between(platform, 0, 3) * 8000, rate * (mtu - 52) / (mtu + 14), 1e-6);
  }
}

}}  // namespace farandole::machine_files_test
