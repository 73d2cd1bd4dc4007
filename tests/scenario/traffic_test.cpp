// Who else is on the network, as a scenario says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/record.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::traffic_test { namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// Four ranks on two nodes whose NICs are slow, on two devices of each.
std::vector<test::Change> on_two_nodes(const std::string& traffic) {
  return {{"/workload", R"({"model": "vgg16", "batch_per_rank": 16})"},
          {"/platform", R"({"topology": "roce25-4xp100", "ranks": 4,
                            "placement": {"devices": [0, 1], "ranks_per_node": 2}, "traffic": )" +
                            traffic + "}"}};
}

/// The same job on the other two devices.
const char* const twin = R"([{"kind": "job", "workload": {"model": "vgg16", "batch_per_rank": 16}, "ranks": 4,
    "strategy": {"kind": "horovod", "version": "0.19.0"}, "placement": {"devices": [2, 3], "ranks_per_node": 2}}])";

TrainingPoint with(const std::string& traffic, const std::string& fidelity = "analytic") {
  auto changes = on_two_nodes(traffic);
  changes.push_back({"/measure/fidelity", fidelity});
  return test::run(changes).points.at(0);
}

TEST(TrafficOfAScenario, OfAnEqualJobSlowsBothAlike) {
  const TrainingPoint alone = with("[]");
  for (const std::string fidelity : {"analytic", "flow"}) {
    const TrainingPoint both = with(twin, fidelity);
    // Two rings over each NIC at once, whenever both send: no job waits longer than for all that the other sends,
    // 2 (n - 1) / n M / B with 1 / B = 1 / 3.125 + 1 / 14.24 s/GB, and latencies.
    const double ring = 2.0 * 3 / 4 * alone.gradient_bytes.si() * (1 / 3.125e9 + 1 / 14.24e9);
    const Seconds more = both.breakdown.exposed_communication - alone.breakdown.exposed_communication;
    EXPECT_GT(more.si(), 0.3 * ring);
    EXPECT_LT(more.si(), 1.01 * ring);
    ASSERT_THAT(both.neighbours, SizeIs(1));
    const Neighbour& other = both.neighbours[0];
    EXPECT_EQ(other.model, "vgg16");
    EXPECT_EQ(other.ranks, 4);
    EXPECT_GT(other.beside, 1.2 * other.alone);
    EXPECT_NEAR(other.beside / both.iteration, 1, 0.1);
    EXPECT_EQ(training_point(to_record(both)).neighbours.size(), 1U);
  }
}

TEST(TrafficOfAScenario, OfAJobElsewhereCostsNothing) {
  std::string elsewhere = twin;
  elsewhere.replace(elsewhere.find(R"({"devices")"), std::string::npos, R"({"first_node": 4, "ranks_per_node": 2}}])");
  const TrainingPoint alone = with("[]");
  const TrainingPoint both = with(elsewhere);
  EXPECT_NEAR(both.iteration / alone.iteration, 1, 1e-9);
  EXPECT_NEAR(both.neighbours.at(0).beside / both.neighbours.at(0).alone, 1, 1e-9);
}

TEST(TrafficOfAScenario, ThatIsConstantIsThatOfACondition) {
  auto condition = on_two_nodes("[]");
  condition.push_back({"/platform/condition", R"({"background": {"*/nic0": "5 Gbit/s"}})"});
  EXPECT_EQ(with(R"([{"kind": "constant", "links": "*/nic0", "rate": "5 Gbit/s"}])").iteration,
            test::run(condition).points.at(0).iteration);
}

TEST(TrafficOfAScenario, OnAndOffCostsLessThanAlwaysAndFollowsFromTheSeed) {
  const std::string rate = R"("links": "*/nic0", "rate": "10 Gbit/s")";
  const std::string on_off =
      R"([{"kind": "on_off", )" + rate +
      R"(, "on": {"distribution": "exponential", "mean": "5 ms", "deviation": "5 ms"}, "off": "5 ms"}])";
  const Seconds always = with(R"([{"kind": "constant", )" + rate + "}]").iteration;
  const Seconds never = with("[]").iteration;
  const Seconds some = with(on_off).iteration;
  EXPECT_LT(never, some);
  EXPECT_LT(some, always);
  EXPECT_EQ(some, with(on_off).iteration);
  auto other_seed = on_two_nodes(on_off);
  other_seed.push_back({"/measure/seed", "2"});
  EXPECT_NE(some, test::run(other_seed).points.at(0).iteration);
}

TEST(TrafficOfAScenario, IsRefusedWithItsPlaceWhereItCannotBe) {
  const auto refusal = [](const std::string& traffic) { return test::error_of(on_two_nodes(traffic)); };
  EXPECT_THAT(refusal(R"([{"kind": "onoff"}])"), HasSubstr("/platform/traffic/0/kind: expected a kind of traffic"));
  EXPECT_THAT(refusal(R"([{"kind": "on_off", "links": "*/nic7", "rate": "1 Gbit/s", "on": "1 ms", "off": "1 ms"}])"),
              HasSubstr("/platform/traffic/0/links: expected a link's name"));
  EXPECT_THAT(refusal(R"([{"kind": "on_off", "links": "*/nic0", "rate": "1 Tbit/s", "on": "1 ms", "off": "1 ms"}])"),
              HasSubstr("/platform/traffic: expected sources that leave something"));
  EXPECT_THAT(
      refusal(R"([{"kind": "job", "workload": {"model": "vgg16"}, "strategy": {"kind": "horovod"}, "ranks": 4}])"),
      HasSubstr("/platform/traffic/0: expected devices that no other job has"));
  EXPECT_THAT(refusal(R"([{"kind": "job", "workload": {"model": "vgg61"}, "ranks": 4}])"),
              HasSubstr("/platform/traffic/0/workload/model: expected a model"));
  EXPECT_THAT(refusal(R"([{"kind": "job", "rank": 4}])"), HasSubstr("did you mean \"ranks\"?"));
}

}}  // namespace farandole::traffic_test
