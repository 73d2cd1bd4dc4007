#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "platform/samples.hpp"

namespace farandole::route_test { namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two sockets, two switches on each, two devices on each switch; every latency another power of two.
const char* const big_node = R"({
  "devices": 8, "device": "d",
  "fabric": {"pcie": {"link": {"rate": "8 GB/s", "latency": "1 us"}, "devices_per_switch": 2, "sockets": 2,
                      "interconnect": {"rate": "4 GB/s", "latency": "16 us"}}},
  "nic": {"rate": "2 GB/s", "latency": "64 us"}})";

const char* const transport = R"(, "transport": {"name": "t", "intra_node_latency": "256 us",
                                                 "inter_node_latency": "512 us", "launch": "3 us"})";

Platform big(int nodes) {
  return platform_of(star(big_node, transport), nodes);
}

TEST(Route, OfADeviceToItselfIsEmptyAndTakesNoTime) {
  const auto route = big(2).route(3, 3);
  EXPECT_THAT(route.links, IsEmpty());
  EXPECT_EQ(route.latency.si(), 0);
}

TEST(Route, BetweenTwoDevicesOfOneSwitchStaysUnderIt) {
  const auto platform = big(1);
  const auto route = platform.route(0, 1);
  EXPECT_THAT(names_of(platform, route), ElementsAre("node0/device0/up", "node0/device1/down"));
  // 1 up + 1 down + 256 of the transport inside a node
  EXPECT_DOUBLE_EQ(route.latency.si(), 258e-6);
}

TEST(Route, BetweenTwoSwitchesOfOneSocketPassesTheSocket) {
  const auto platform = big(1);
  EXPECT_THAT(names_of(platform, platform.route(1, 2)),
              ElementsAre("node0/device1/up", "node0/switch0/up", "node0/switch1/down", "node0/device2/down"));
}

TEST(Route, BetweenSocketsPassesTheInterconnectOnceEachWay) {
  const auto platform = big(1);
  const auto there = platform.route(0, 7);
  EXPECT_THAT(names_of(platform, there), ElementsAre("node0/device0/up", "node0/switch0/up", "node0/socket1/down",
                                                     "node0/switch3/down", "node0/device7/down"));
  // 4 PCIe links of 1, the interconnect's 16, the transport's 256
  EXPECT_DOUBLE_EQ(there.latency.si(), 276e-6);
  EXPECT_THAT(names_of(platform, platform.route(7, 0)),
              ElementsAre("node0/device7/up", "node0/switch3/up", "node0/socket1/up", "node0/switch0/down",
                          "node0/device0/down"));
}

TEST(Route, BetweenNodesClimbsToTheNetworkSwitchAndDown) {
  const auto platform = big(3);
  const auto route = platform.route(7, 16);
  EXPECT_THAT(names_of(platform, route),
              ElementsAre("node0/device7/up", "node0/switch3/up", "node0/socket1/up", "node0/nic0/up",
                          "node2/nic0/down", "node2/switch0/down", "node2/device0/down"));
  // 4 PCIe links of 1, one interconnect of 16, the NIC's 64 once, the transport's 512 between nodes
  EXPECT_DOUBLE_EQ(route.latency.si(), 596e-6);
}

TEST(Route, WithoutSwitchesDevicesHangOnTheirSocket) {
  const auto platform = platform_of(star(R"({"devices": 4, "device": "d",
    "fabric": {"pcie": {"link": {"rate": "8 GB/s"}, "sockets": 2, "interconnect": {"rate": "4 GB/s"}}},
    "nic": {"rate": "2 GB/s"}})"),
                                    2);
  EXPECT_THAT(names_of(platform, platform.route(0, 1)), ElementsAre("node0/device0/up", "node0/device1/down"));
  EXPECT_THAT(
      names_of(platform, platform.route(3, 4)),
      ElementsAre("node0/device3/up", "node0/socket1/up", "node0/nic0/up", "node1/nic0/down", "node1/device0/down"));
}

TEST(Route, OfBareNodesIsOneLinkUpAndOneDownAndCostsTheLatencyOnce) {
  const auto platform = platform_of(star(R"({"device": "d", "nic": {"rate": "25 Gbit/s", "latency": "2 us"}})"), 5);
  const auto route = platform.route(4, 1);
  EXPECT_THAT(names_of(platform, route), ElementsAre("node4/nic0/up", "node1/nic0/down"));
  EXPECT_EQ(route.latency, 2_us);  // exactly: 1 us + 1 us
}

TEST(Route, InsideANodeUsesTheFabricWhereThereIsOne) {
  const auto platform = platform_of(star(R"({"devices": 2, "device": "d",
    "fabric": {"pcie": {"link": {"rate": "8 GB/s", "latency": "1 us"}},
               "nvlink": {"link": {"rate": "300 GB/s", "latency": "4 us"}}},
    "nic": {"rate": "2 GB/s", "latency": "8 us"}})"),
                                    2);
  EXPECT_THAT(names_of(platform, platform.route(2, 3)), ElementsAre("node1/nvlink0/up", "node1/nvlink1/down"));
  EXPECT_DOUBLE_EQ(platform.route(2, 3).latency.si(), 4e-6);  // once through the fabric
  EXPECT_THAT(names_of(platform, platform.route(1, 2)),
              ElementsAre("node0/device1/up", "node0/nic0/up", "node1/nic0/down", "node1/device0/down"));
  EXPECT_DOUBLE_EQ(platform.route(1, 2).latency.si(), 10e-6);  // two PCIe links and the NIC's 8
}

TEST(Route, NeverUsesALinkTwiceAndItsLatencyIsTheSumOfItsParts) {
  const auto platform = big(3);
  const int devices = platform.devices();
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from == to) continue;
      const auto route = platform.route(from, to);
      EXPECT_EQ(std::set<int>(route.links.begin(), route.links.end()).size(), route.links.size());
      // latency = sum over links + transport
      Seconds sum = from / 8 == to / 8 ? 256_us : 512_us;
      for (const int link : route.links) sum += platform.links[static_cast<std::size_t>(link)].latency;
      EXPECT_NEAR(route.latency.si(), sum.si(), 1e-15);
    }
  }
}

/// So many paths, each over two links of its own.
Route paths_of(int paths, int first_link, Seconds latency) {
  Route route{{}, latency, paths};
  for (int link = 0; link < 2 * paths; ++link) route.links.push_back(first_link + link);
  return route;
}

/// Of m minimal and n other paths, with a share s over the minimal ones, every link of a minimal one has s / m of what
/// is sent, every other one (1 - s) / n, and the mean latency is s of one and 1 - s of the other.
RC_GTEST_PROP(RouteChoice, SharesWhatIsSentAmongItsPaths, ()) {
  const int minimal = *rc::gen::inRange(1, 9);
  const int other = *rc::gen::inRange(1, 9);
  const int parts = *rc::gen::inRange(0, choice_parts + 1);
  const Route route = RouteChoice{paths_of(minimal, 0, 3_us), paths_of(other, 100, 8_us)}.split(parts);
  const double share = static_cast<double>(parts) / choice_parts;
  std::map<int, int> crossings;
  for (const int link : route.links) ++crossings[link];
  const auto expect = [](double found, double expected) { RC_ASSERT(std::abs(found - expected) < 1e-12); };
  for (int link = 0; link < 2 * minimal; ++link)
    expect(static_cast<double>(crossings[link]) / route.paths, share / minimal);
  for (int link = 0; link < 2 * other; ++link)
    expect(static_cast<double>(crossings[100 + link]) / route.paths, (1 - share) / other);
  expect(route.latency / 1_us, 3 * share + 8 * (1 - share));
}

TEST(RouteChoice, WithoutOtherWaysIsTheMinimalOnes) {
  const Route route = RouteChoice{paths_of(3, 0, 3_us)}.split(0);
  EXPECT_EQ(route.paths, 3);
  EXPECT_EQ(route.links.size(), 6);
  EXPECT_EQ(route.latency, 3_us);
}

}}  // namespace farandole::route_test
