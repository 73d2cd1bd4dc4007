#include <gmock/gmock.h>

#include "platform/platform.hpp"

namespace farandole::paths_test { namespace {

using testing::ElementsAre;

/// Two nodes of one device with two NICs; links of a node: 0, 1 up and down of NIC 0, 2, 3 of NIC 1.
Platform two_nics(bool rails_apart) {
  Platform platform;
  platform.nodes = 2;
  const BytesPerSecond rate = 1_GBps;
  platform.node.links = {
      {"a", rate, 1_us, rate}, {"b", rate, 1_us, rate}, {"c", rate, 1_us, rate}, {"d", rate, 1_us, rate}};
  platform.node.nics = {{0, 1}, {2, 3}};
  platform.node.nics_of_device = {{0, 1}};
  platform.node.between = {{{}}};
  platform.node.to_nic = {{{0}}, {{2}}};
  platform.node.from_nic = {{{1}}, {{3}}};
  for (int i = 0; i < 10; ++i) platform.links.push_back({"link", rate, 1_us, rate});
  platform.network.rails_apart = rails_apart;
  platform.network.paths = [](int, int) { return Paths{{}}; };
  return platform;
}

TEST(Paths, OfWaysSideBySideGetEqualSharesOfEach) {
  // One path of the first way, two of the second: half of what is sent over the first, a quarter over each other.
  EXPECT_THAT(side_by_side({{{1}}, {{2}, {3}}}), ElementsAre(Path{1}, Path{1}, Path{2}, Path{3}));
}

TEST(Paths, OfADeviceWithTwoNicsUseBoth) {
  const Route route = two_nics(false).route(0, 1);
  EXPECT_EQ(route.paths, 2);
  EXPECT_THAT(route.links, ElementsAre(0, 5, 2, 7));
  EXPECT_DOUBLE_EQ(route.latency.si(), 2e-6);  // of either path
}

TEST(Paths, OnRailsApartArriveThroughTheNicOfTheSamePlace) {
  Platform platform = two_nics(true);
  platform.devices_per_node = platform.node.devices = 2;
  platform.node.nics_of_device = {{0}, {1}};
  platform.node.between.assign(4, {{}});
  platform.node.to_nic.assign(4, {{0}});
  platform.node.to_nic[1] = platform.node.to_nic[3] = {{2}};
  platform.node.from_nic = {{{1}}, {{1}}, {{3}}, {{3}}};
  EXPECT_THAT(platform.route(0, 3).links, ElementsAre(0, 5));  // device 1 of node 1, through NIC 0
  EXPECT_THAT(platform.route(1, 2).links, ElementsAre(2, 7));
}

TEST(Paths, OfTheNetworkMeetOneWayOutAndOneWayIn) {
  Platform platform = two_nics(false);
  platform.node.nics_of_device = {{1}};
  platform.network.paths = [](int from, int to) -> Paths { return {{8}, {from, to, 9}}; };
  const Route route = platform.route(0, 1);
  EXPECT_EQ(route.paths, 2);
  EXPECT_THAT(route.links, ElementsAre(2, 8, 7, 2, 1, 3, 9, 7));  // NIC 1 of node 0 is NIC 1, of node 1 NIC 3
  EXPECT_DOUBLE_EQ(route.latency.si(), 4e-6);                     // the mean of 3 and 5
}

}}  // namespace farandole::paths_test
