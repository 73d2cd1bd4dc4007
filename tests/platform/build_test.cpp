#include <chrono>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "platform/samples.hpp"

namespace farandole::build_test { namespace {

using testing::HasSubstr;

const char* const four_devices = R"({"devices": 4, "device": "d", "measurements": "m",
  "fabric": {"pcie": {"link": {"rate": "12 GB/s"}, "sockets": 2, "interconnect": {"rate": "9 GB/s"}}},
  "nic": {"rate": "25 Gbit/s", "host_rate": "12.5 GB/s"}})";

const Link& link_named(const Platform& platform, const std::string& name) {
  return *std::ranges::find(platform.links, name, &Link::name);
}

TEST(Build, GivesALinkTheRateOfWireAndHostInSeries) {
  const auto platform = platform_of(star(four_devices), 1);
  // 1/B = 1/wire + 1/host_rate: 1/3.125 + 1/12.5 = 0.32 + 0.08 = 0.4 = 1/2.5
  const Link& nic = link_named(platform, "node0/nic0/up");
  EXPECT_DOUBLE_EQ(nic.capacity.si(), 2.5e9);
  EXPECT_EQ(nic.wire, 25_Gbps);
  EXPECT_EQ(link_named(platform, "node0/socket1/down").capacity, 9_GBps);
}

TEST(Build, WithoutAHostRateTheWireIsAllThereIs) {
  EXPECT_EQ((Topology::LinkRate{25_Gbps, std::nullopt, 0_s, "", 1}.effective()), 25_Gbps);
}

TEST(Build, LaysOutEveryPartOnceAndDevicesNodeByNode) {
  const auto platform = platform_of(star(four_devices), 3);
  // Per node: 4 devices, 1 interconnect, 1 NIC, each with a link up and one down.
  EXPECT_EQ(platform.links.size(), 3U * (4 + 1 + 1) * 2);
  std::set<std::string> names;
  for (const Link& link : platform.links) names.insert(link.name);
  EXPECT_EQ(names.size(), platform.links.size());
  for (int device = 0; device < 12; ++device) EXPECT_EQ(platform.node_of(device), device / 4);
}

TEST(Build, CarriesOverWhatTheFileSays) {
  const auto platform = platform_of(star(four_devices, R"(, "transport": {"name": "t", "launch": "3 us"},
                              "variability": {"device_spread": "1.5 %", "step_jitter": "0.2 %"})"),
                                    7);
  EXPECT_EQ(platform.name, "sample");
  EXPECT_EQ(platform.device, "d");
  EXPECT_EQ(platform.measurements, "m");
  EXPECT_EQ(platform.nodes, 7);
  EXPECT_EQ(platform.devices_per_node, 4);
  EXPECT_EQ(platform.transport.name, "t");
  EXPECT_EQ(platform.transport.launch, 3_us);
  EXPECT_DOUBLE_EQ(platform.device_spread, 0.015);
  EXPECT_DOUBLE_EQ(platform.step_jitter, 0.002);
}

TEST(Build, CopiesShareTheirLinksUntilOneIsEdited) {
  const Platform first = platform_of(star(four_devices), 3);
  const std::vector<std::function<void(Links&)>> edits{
      [](Links& links) { links[0].capacity *= 2; },
      [](Links& links) { links.back().name += "?"; },
      [](Links& links) { links.begin()->latency = 1_s; },
      [](Links& links) {
        links.push_back({"more", 1_GBps, 1_us, 1_GBps});
      },
      [](Links& links) { links.resize(3); },
      [](Links& links) { links.insert(links.end(), links.begin(), links.begin() + 2); },
  };
  const auto text_of = [](const std::vector<Link>& links) {
    std::string text;
    for (const Link& link : links) text += fmt::format("{} {} {}\n", link.name, link.capacity.si(), link.latency.si());
    return text;
  };
  const std::string before = text_of(first.links);
  for (const auto& edit : edits) {
    Platform copy = first;
    EXPECT_EQ(&std::as_const(copy).links.front(), &first.links.front());
    const Platform other = copy;
    edit(copy.links);
    EXPECT_EQ(text_of(first.links), before);
    EXPECT_EQ(text_of(other.links), before);
    EXPECT_NE(text_of(copy.links), before);
    const Link* const own = &std::as_const(copy).links.front();
    edit(copy.links);  // nobody else's now: in place, where it does not grow
    EXPECT_TRUE(copy.links.size() > first.links.size() || &std::as_const(copy).links.front() == own);
  }
}

TEST(Build, GrowsAnOpenTopologyToAnyNumberOfNodes) {
  for (const int nodes : {1, 2, 3, 17, 1000}) {
    const auto platform = build(topology_named("ethernet-25g"), nodes, anywhere());
    EXPECT_EQ(platform.nodes, nodes);
    EXPECT_EQ(platform.devices(), nodes);
    EXPECT_EQ(platform.links.size(), static_cast<std::size_t>(2 * nodes));
  }
}

TEST(Build, MakesSixtyFiveThousandNodesInWellUnderASecond) {
  const auto start = std::chrono::steady_clock::now();
  const auto platform = build(topology_named("ethernet-25g"), 65536, anywhere());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(names_of(platform, platform.route(65535, 0)),
            (std::vector<std::string>{"node65535/nic0/up", "node0/nic0/down"}));
  EXPECT_LT(took.count(), 2.0);  // 0.1 s in a debug build; the margin is for busy and instrumented ones
}

TEST(Build, RefusesMoreNodesThanTheMachineHas) {
  EXPECT_THAT(message_of([] { build(topology_named("roce25-4xp100"), 129, anywhere()); }),
              HasSubstr("expected at most the 128 nodes of roce25-4xp100, got 129 nodes"));
  EXPECT_EQ(build(topology_named("roce25-4xp100"), 128, anywhere()).devices(), 512);
}

TEST(Build, RefusesNumbersOfNodesThatMakeNoSense) {
  const auto topology = topology_named("ethernet-25g");
  for (const int nodes : {0, -1}) {
    EXPECT_THAT(message_of([&] { build(topology, nodes, anywhere()); }), HasSubstr("expected at least one node"));
  }
  EXPECT_THAT(message_of([&] { build(topology, 2147483647, anywhere()); }), HasSubstr("expected at most 4194304"));
}

}}  // namespace farandole::build_test
