// The inside of a node: which way two devices take, and which NIC a device uses.
#include <gmock/gmock.h>

#include "platform/samples.hpp"

namespace farandole::node_template_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two sockets with two PCIe switches each, two devices and one NIC on every switch.
std::string eight(const std::string& fabric, const std::string& nics) {
  return star(R"({"devices": 8, "device": "d", "fabric": {"pcie": {"link": {"rate": "12 GB/s"}, "devices_per_switch": 2,
    "sockets": 2, "interconnect": {"rate": "9 GB/s"})" +
              fabric + R"(}}, "nic": {"rate": "100 Gbit/s"}, "nics_at": )" + nics + "}");
}

std::vector<std::string> way(const Platform& platform, int from, int to) {
  return names_of(platform, platform.route(from, to));
}

const char* const nic_per_switch = R"(["switch0", "switch1", "switch2", "switch3"])";

TEST(NodeTemplate, ADeviceUsesTheNicOfItsOwnSwitch) {
  const auto platform = platform_of(eight("", nic_per_switch), 2);
  EXPECT_THAT(way(platform, 5, 8 + 2),
              ElementsAre("node0/device5/up", "node0/nic2/up", "node1/nic1/down", "node1/device2/down"));
}

TEST(NodeTemplate, WithoutANicOnItsSwitchItUsesThoseOfItsSocketAndDevicesShareThem) {
  const auto nics = platform_of(eight("", R"(["socket0", "socket0", "socket1"])"), 2).node.nics_of_device;
  // Devices 0 to 3 divide the two NICs of socket 0, devices 4 to 7 have one.
  EXPECT_THAT(nics, ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(1), ElementsAre(2),
                                ElementsAre(2), ElementsAre(2), ElementsAre(2)));
}

TEST(NodeTemplate, ANicOnAFarSwitchIsReachedOverTheInterconnect) {
  const auto platform = platform_of(eight("", R"(["switch1"])"), 2);
  EXPECT_THAT(way(platform, 7, 8 + 2),
              ElementsAre("node0/device7/up", "node0/switch3/up", "node0/socket1/up", "node0/switch1/down",
                          "node0/nic0/up", "node1/nic0/down", "node1/device2/down"));
}

TEST(NodeTemplate, TwoNicsOnASwitchWithTwoDevicesMakeOneEach) {
  const auto nics = platform_of(eight("", R"(["switch0", "switch0", "switch3", "switch3"])"), 1).node.nics_of_device;
  EXPECT_THAT(nics[0], ElementsAre(0));
  EXPECT_THAT(nics[1], ElementsAre(1));
  EXPECT_THAT(nics[6], ElementsAre(2));
  EXPECT_THAT(nics[7], ElementsAre(3));
}

TEST(NodeTemplate, OverAnNvlinkSwitchEveryPairCrossesOnePortIntoItAndOneOutOfIt) {
  const auto platform = platform_of(star(R"({"devices": 4, "device": "d", "nic": {"rate": "100 Gbit/s"},
    "fabric": {"pcie": {"link": {"rate": "12 GB/s"}}, "nvlink": {"link": {"rate": "25 GB/s", "latency": "2 us"}, "links_per_device": 6}}})"),
                                    1);
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from == to) continue;
      EXPECT_THAT(way(platform, from, to), ElementsAre("node0/nvlink" + std::to_string(from) + "/up",
                                                       "node0/nvlink" + std::to_string(to) + "/down"));
      EXPECT_EQ(platform.links[static_cast<std::size_t>(platform.route(from, to).links[0])].wire, 150_GBps);
    }
  }
}

TEST(NodeTemplate, HasAsManySwitchesAsGroupsOfDevices) {
  EXPECT_EQ(message_of([] { platform_of(eight("", R"(["switch3", "socket1"])"), 1); }), "(no error)");
  EXPECT_THAT(message_of([] { platform_of(eight("", R"(["switch4"])"), 1); }), HasSubstr("a part of the node"));
  EXPECT_THAT(message_of([] { platform_of(eight("", R"(["socket2"])"), 1); }), HasSubstr("a part of the node"));
}

TEST(NodeTemplate, ALoneDeviceSendsThroughAllItsNics) {
  const auto platform =
      platform_of(star(R"({"device": "d", "nic": {"rate": "100 Gbit/s"}, "nics_at": ["socket0", "socket0"]})"), 2);
  const auto route = platform.route(0, 1);
  EXPECT_EQ(route.paths, 2);
  EXPECT_THAT(names_of(platform, route),
              ElementsAre("node0/nic0/up", "node1/nic0/down", "node0/nic1/up", "node1/nic1/down"));
}

TEST(NodeTemplate, WithoutGpuDirectAMessagePassesTheMemoryOfTheNicsSocket) {
  const auto platform = platform_of(eight(R"(, "staging": {"memory": {"rate": "50 GB/s"}})", nic_per_switch), 2);
  EXPECT_THAT(way(platform, 5, 8 + 0),
              ElementsAre("node0/device5/up", "node0/switch2/up", "node0/socket1/memory", "node0/switch2/down",
                          "node0/nic2/up", "node1/nic0/down", "node1/switch0/up", "node1/socket0/memory",
                          "node1/switch0/down", "node1/device0/down"));
  EXPECT_THAT(way(platform, 0, 1), ElementsAre("node0/device0/up", "node0/device1/down"));
}

TEST(NodeTemplate, StagingBetweenDevicesPassesTheMemoryOfTheSendersSocket) {
  const auto platform =
      platform_of(eight(R"(, "staging": {"memory": {"rate": "50 GB/s"}, "between_devices": true})", nic_per_switch), 1);
  EXPECT_THAT(way(platform, 0, 1), ElementsAre("node0/device0/up", "node0/switch0/up", "node0/socket0/memory",
                                               "node0/switch0/down", "node0/device1/down"));
  EXPECT_THAT(way(platform, 6, 0), ElementsAre("node0/device6/up", "node0/switch3/up", "node0/socket1/memory",
                                               "node0/socket1/up", "node0/switch0/down", "node0/device0/down"));
}

TEST(NodeTemplate, AMeshJoinsThePairsItListsWithAllTheirLinksAndTheOthersUsePcie) {
  const auto platform =
      platform_of(star(R"({"devices": 3, "device": "d", "fabric": {"pcie": {"link": {"rate": "12 GB/s"}},
               "nvlink": {"link": {"rate": "25 GB/s", "latency": "1 us"}, "mesh": [[0, 1, 2], [2, 1, 1]]}},
               "nic": {"rate": "100 Gbit/s"}})"),
                  1);
  EXPECT_THAT(way(platform, 1, 0), ElementsAre("node0/nvlink0-1/down"));
  EXPECT_EQ(platform.links[static_cast<std::size_t>(platform.route(0, 1).links.at(0))].capacity, 50_GBps);
  EXPECT_EQ(platform.links[static_cast<std::size_t>(platform.route(1, 2).links.at(0))].capacity, 25_GBps);
  EXPECT_EQ(platform.route(1, 2).latency, 1_us);
  EXPECT_THAT(way(platform, 0, 2), ElementsAre("node0/device0/up", "node0/device2/down"));
}

TEST(NodeTemplate, ASwitchOfNvlinksGivesEveryDeviceAllItsLinksTowardsAnyOther) {
  const auto platform = platform_of(star(R"({"devices": 3, "device": "d", "nic": {"rate": "100 Gbit/s"},
    "fabric": {"nvlink": {"link": {"rate": "25 GB/s"}, "links_per_device": 12}}})"),
                                    1);
  EXPECT_THAT(way(platform, 0, 2), ElementsAre("node0/nvlink0/up", "node0/nvlink2/down"));
  EXPECT_EQ(platform.links[static_cast<std::size_t>(platform.route(0, 2).links.at(0))].capacity, 300_GBps);
  EXPECT_THAT(platform.route(1, 1).links, IsEmpty());
}

std::string refusal(const std::string& fabric, const std::string& nics = R"(["socket0"])") {
  return message_of([&] {
    topology_of(star(R"({"devices": 4, "device": "d", "nic": {"rate": "1 GB/s"}, "fabric": {)" + fabric +
                     R"(}, "nics_at": )" + nics + "}"));
  });
}

TEST(NodeTemplate, RefusesNodesThatCannotBe) {
  const std::string pcie = R"("pcie": {"link": {"rate": "12 GB/s"}})";
  const auto mesh = [&](const std::string& pairs) {
    return pcie + R"(, "nvlink": {"link": {"rate": "25 GB/s"}, "mesh": [)" + pairs + "]}";
  };
  EXPECT_THAT(refusal(mesh("[0, 4, 1]")), HasSubstr("/mesh/0: expected devices below 4"));
  EXPECT_THAT(refusal(mesh("[0, 0, 1]")), HasSubstr("expected two devices"));
  EXPECT_THAT(refusal(mesh("[0, 1]")), HasSubstr("two devices and the number of links"));
  EXPECT_THAT(refusal(mesh("[0, 1, 1], [1, 0, 2]")), HasSubstr("/mesh/1: expected every pair of devices once"));
  EXPECT_THAT(refusal(mesh("")), HasSubstr("at least one pair"));
  EXPECT_THAT(refusal(R"("nvlink": {"link": {"rate": "25 GB/s"}, "mesh": [[0, 1, 1]]})"),
              HasSubstr("a \"pcie\" tree for the devices without an NVLink between them, got 1 of 6 pairs joined"));
  EXPECT_THAT(refusal(pcie + R"(, "nvlink": {"link": {"rate": "1 GB/s"}, "links_per_device": 2, "mesh": [[0, 1, 1]]})"),
              HasSubstr("not both"));
  EXPECT_THAT(refusal(pcie, R"(["switch0"])"), HasSubstr("/nics_at/0: expected a part of the node, got \"switch0\""));
  EXPECT_THAT(refusal(pcie, "[]"), HasSubstr("at least one NIC"));
}

}}  // namespace farandole::node_template_test
