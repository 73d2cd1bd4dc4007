// Another protocol between nodes comes with another transport, or is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::protocol_test { namespace {

using testing::HasSubstr;

std::string error_on(const std::string& topology, const std::string& overrides) {
  return test::error_of(
      {{"/platform", R"({"ranks": 16, "topology": ")" + topology + R"(", "override": )" + overrides + "}"}});
}

TEST(Protocol, OfTheNicAloneIsRefusedAsItWouldChangeNextToNothing) {
  for (const char* overrides :
       {R"({"/node/nic/protocol": {"name": "tcp"}})", R"({"/node/nic/protocol/name": "tcp"})",
        R"({"/node/nic": {"rate": "200 Gbit/s", "protocol": {"name": "tcp"}, "source": "assumed"}})"}) {
    EXPECT_THAT(error_on("polaris", overrides),
                HasSubstr(R"(expected "/transport" beside it, whose latencies, costs and measured times are those of )"
                          R"("slingshot", got "tcp" alone)"))
        << overrides;
  }
  EXPECT_THAT(error_on("dgx-a100", R"({"/node/nic/protocol/name": "roce_v2"})"), HasSubstr(R"("infiniband")"));
}

TEST(Protocol, WithItsTransportOrThatOfTheFileIsTaken) {
  EXPECT_EQ(error_on("dgx-a100", R"({"/node/nic/protocol/name": "tcp", "/transport/inter_node_latency": "30 us"})"),
            "no error");
  EXPECT_EQ(error_on("dgx-a100", R"({"/node/nic/protocol/name": "infiniband"})"), "no error");
  EXPECT_EQ(error_on("aws-p4d", R"({"/node/nic/protocol/mtu": "1500 B"})"), "no error");
  EXPECT_EQ(error_on("polaris", R"({"/node/nic/rate": "100 Gbit/s"})"), "no error");
}

/// DGX A100 names a set of the 40 GB device that it has.
TEST(ForeignSet, OfAnotherDeviceIsRefusedWhereTheOverrideStands) {
  EXPECT_THAT(
      error_on("dgx-a100", R"({"/node/device": "a100_80gb"})"),
      HasSubstr(R"(/platform/override: expected a "/node/measurements" of a100_80gb, or "" for its first of the )"
                R"(model, got "nvidia-tensorflow1-dgx-a100")"));
  EXPECT_EQ(error_on("dgx-a100", R"({"/node/device": "a100_80gb", "/node/measurements": ""})"), "no error");
  EXPECT_EQ(error_on("hgx-h100", R"({"/node/device": "h200"})"), "no error");
}

}}  // namespace farandole::protocol_test
