// Payload efficiency from packet sizes: coding * (mtu - headers inside) / (mtu + bytes around).
#include <gmock/gmock.h>

#include "platform/link.hpp"
#include "platform/samples.hpp"

namespace farandole::protocol_test { namespace {

using testing::HasSubstr;

double efficiency(const std::string& text) {
  return read_protocol(sample(text).root()).efficiency();
}

TEST(Protocol, TcpLosesItsHeadersInsideTheMtuAndEthernetsAroundIt) {
  EXPECT_DOUBLE_EQ(efficiency(R"({"name": "tcp"})"), 1448.0 / 1538);
  EXPECT_DOUBLE_EQ(efficiency(R"({"name": "tcp", "mtu": "9000 B"})"), 8948.0 / 9038);
}

TEST(Protocol, ALimiterThatCountsOnlyTheEthernetHeaderLeavesMore) {
  // goodput = rate * (MTU - 52) / (MTU + 14)
  EXPECT_DOUBLE_EQ(efficiency(R"({"name": "tcp", "framing": "14 B"})"), 1448.0 / 1514);
  EXPECT_DOUBLE_EQ(efficiency(R"({"name": "tcp", "mtu": "9000 B", "framing": "14 B"})"), 8948.0 / 9014);
}

TEST(Protocol, RdmaLosesLessOnInfinibandThanOnEthernet) {
  EXPECT_DOUBLE_EQ(efficiency(R"({"name": "infiniband", "mtu": "2048 B"})"), 2048.0 / 2074);
  EXPECT_DOUBLE_EQ(efficiency(R"({"name": "roce_v2", "mtu": "1024 B"})"), 1024.0 / 1106);
  EXPECT_GT(efficiency(R"({"name": "infiniband"})"), efficiency(R"({"name": "roce_v2"})"));
}

TEST(Protocol, AriesHasTheEfficiencyOfItsWhitePaper) {
  EXPECT_DOUBLE_EQ(efficiency(R"({"name": "aries"})"), 0.64);
}

TEST(Protocol, NvlinkLeavesWhatNcclCountsOn) {
  // NCCL v2.10.3, src/graph/topo.h: 18 and 22 GB/s per link of 20 and 25 GB/s
  EXPECT_NEAR(20 * efficiency(R"({"name": "nvlink"})"), 18, 0.25);
  EXPECT_NEAR(25 * efficiency(R"({"name": "nvlink"})"), 22, 0.25);
}

TEST(Protocol, PcieLosesLineCodingToo) {
  EXPECT_DOUBLE_EQ(efficiency(R"({"name": "pcie", "mtu": "128 B"})"), 128.0 / 130 * 128 / 152);
}

TEST(Protocol, GivesALinkItsPayloadRateAndKeepsTheWireForDisplay) {
  const auto platform = platform_of(
      star(R"({"device": "d", "nic": {"rate": "25 Gbit/s", "host_rate": "10 GB/s", "protocol": {"name": "tcp"}}})"), 2);
  const Link& nic = platform.links[0];
  // 1/B = 1/(wire * efficiency) + 1/host_rate
  EXPECT_NEAR(nic.capacity.si(), 1 / (1 / (3.125e9 * 1448 / 1538) + 1 / 10e9), 1);
  EXPECT_EQ(nic.wire, 25_Gbps);
}

TEST(Protocol, RefusesWhatItDoesNotKnowAndPacketsWithoutRoom) {
  EXPECT_THAT(message_of([] { efficiency(R"({"name": "roce_v1"})"); }), HasSubstr("did you mean \"roce_v2\"?"));
  EXPECT_THAT(message_of([] { efficiency(R"({"name": "tcp", "mtu": "52 B"})"); }),
              HasSubstr("/mtu: expected more than the headers inside it, 52 B"));
  EXPECT_THAT(message_of([] { efficiency(R"({"name": "tcp", "mtus": "52 B"})"); }), HasSubstr("did you mean \"mtu\"?"));
}

TEST(Protocol, NoneMakesMoreOfAWireThanItCarries) {
  for (const auto& protocol : protocols()) {
    EXPECT_GT(protocol.builder.efficiency(), 0.5) << protocol.name;
    EXPECT_LT(protocol.builder.efficiency(), 1) << protocol.name;
  }
}

}}  // namespace farandole::protocol_test
