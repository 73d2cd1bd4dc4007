// Checkpoints that are written in the background over the network that training uses.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::checkpoint_network_test { namespace {

using test::error_of;
using testing::HasSubstr;

TEST(WholeRun, WritingOverTheNetworkTakesItsRateFromTheNicsOfTheNodesThatWrite) {
  // An iteration T takes T' while a quarter of rank 0's NIC is gone: of the W that writing takes training loses
  // W (1 - T / T'), beside the copy to the host.
  const double bytes = 2 * 11'689'512 * 4;
  const double rate = 25e9 / 8 / 4;
  const auto run = [](const std::string& effects) {
    return test::run({{"/workload/batch_per_rank", "2"}, {"/effects", effects}}).points.at(0);
  };
  const auto checkpoint = [&](const std::string& more) {
    return fmt::format(R"({{"checkpoint": {{"every": "100 s", "rate": "{} B/s", "asynchronous": true,
                                            "snapshot_rate": "10 GB/s"{}}}}})",
                       rate, more);
  };
  const TrainingPoint beside = run(checkpoint(""));
  const TrainingPoint through = run(checkpoint(R"(, "over_network": true)"));
  const TrainingPoint meanwhile = run(R"({"slow_links": [{"nodes": [0], "rate": "75 %"}]})");
  const Seconds bare = beside.iteration - beside.breakdown.checkpoint;
  const double often = bare.si() / 100;
  const double lost = bytes / rate * (1 - bare / meanwhile.iteration);
  ASSERT_GT(lost, 0.01 * bytes / rate);
  EXPECT_NEAR((through.breakdown.checkpoint - beside.breakdown.checkpoint).si() / often, lost, 1e-6);
  EXPECT_THAT(error_of({{"/effects", R"({"checkpoint": {"every": "100 s", "rate": "1 GB/s", "over_network": true}})"}}),
              HasSubstr("/effects/checkpoint/over_network: expected an \"asynchronous\""));
  EXPECT_THAT(error_of({{"/effects", R"({"checkpoint": {"every": "100 s", "rate": "5 GB/s", "asynchronous": true,
                                                        "snapshot_rate": "10 GB/s", "over_network": true}})"}}),
              HasSubstr("leaves training something"));
}

}}  // namespace farandole::checkpoint_network_test
