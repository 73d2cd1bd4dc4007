// A step lasts as long as its slowest group needs, whichever group that is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/job_clocks.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::group_classes_test { namespace {

Seconds step(const std::string& platform, const std::string& strategy, const std::string& effects = "{}") {
  return test::run(
             {{"/workload", R"({"model": "llama3_8b", "batch_per_rank": 1, "precision": "bf16", "optimizer": "adam",
                                      "recompute": "selective"})"},
              {"/platform", platform},
              {"/strategy", strategy},
              {"/effects", effects},
              {"/measure", R"({"iterations": 2, "warmup": 1, "fidelity": "analytic", "bands": false})"}})
      .points.at(0)
      .iteration;
}

std::string slow(int node) {
  return fmt::format(R"({{"slow_links": {{"nodes": [{}], "rate": "10 %"}}}})", node);
}

/// 64 H100 in groups of two nodes: a node whose NICs have a tenth of their rate is in one of four.
TEST(GroupClasses, ABadNodeSlowsTheStepInWhicheverGroupItIs) {
  const char* machine = R"({"topology": "hgx-h100", "ranks": 64})";
  for (const char* strategy : {R"({"kind": "fsdp"})", R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD"})",
                               R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 16})"}) {
    const Seconds healthy = step(machine, strategy);
    const Seconds first = step(machine, strategy, slow(0));
    EXPECT_GT(first / healthy, 1.2) << strategy;
    for (const int node : {1, 5, 7})
      EXPECT_NEAR(step(machine, strategy, slow(node)) / first, 1, 0.02) << strategy << node;
  }
}

/// Three nodes to a leaf, one narrow cable up: two of six groups of two nodes have a node on each of two leaves,
/// wherever the job begins.
TEST(GroupClasses, WhichGroupIsTheFirstOfAPlacementDoesNotMatter) {
  const auto placed = [](int first_node) {
    const std::string machine = fmt::format(
        R"({{"topology": "hgx-h100", "ranks": 96, "placement": {{"first_node": {}}}, "override": {{
             "/nodes": 18, "/network": {{"levels": [{{"name": "leaf", "down": 3}}, {{"name": "spine", "parents": 1,
             "cables": 1, "link": {{"rate": "200 Gbit/s", "protocol": {{"name": "infiniband"}}}}}}]}}}}}})",
        first_node);
    return step(machine, R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 16})");
  };
  EXPECT_NEAR(placed(0) / placed(2), 1, 0.02);
}

/// The first group is beside the node's one NIC, half of them on the other socket: these wait for what lies between.
TEST(GroupClasses, AGroupFarFromTheOnlyNicSlowsTheStepThoughTheFirstIsBesideIt) {
  const auto between_sockets = [](const char* rate) {
    return step(fmt::format(R"({{"topology": "hgx-h100", "ranks": 64, "override": {{"/node/nics_at": ["switch0"],
                               "/node/fabric/pcie/interconnect/rate": "{}"}}}})",
                            rate),
                R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD"})");
  };
  EXPECT_GT(between_sockets("5 GB/s") / between_sockets("50 GB/s"), 1.5);
}

TEST(GroupClasses, OfAlikeGroupsAreOne) {
  const Scenario scenario = read_scenario(test::changed({{"/platform/ranks", "4"}}).root(), Catalogue());
  std::vector<Placement> groups(3, scenario.platform.placement);
  EXPECT_EQ(classes_of_groups(scenario.platform.platform, groups).size(), 1U);
}

}}  // namespace farandole::group_classes_test
