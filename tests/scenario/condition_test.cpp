// What is wrong with a topology's links, as a scenario says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/collective_run.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::condition_test { namespace {

using testing::HasSubstr;

Seconds with(const std::vector<test::Change>& changes) {
  return test::run(changes).points.at(0).iteration;
}

TEST(ConditionOfAScenario, IsThatOfItsTopology) {
  const std::string half = R"({"degraded": {"*": "50 %"}})";
  const Seconds own = with({{"/platform/condition", half}});
  EXPECT_EQ(own, with({{"/platform/override", R"({"/condition": )" + half + "}"}}));
  EXPECT_EQ(own, with({{"/platform/override", R"({"/node/nic/rate": "12.5 Gbit/s"})"}}));
  EXPECT_GT(own, with({}));
}

TEST(ConditionOfAScenario, ComesOnTopOfItsTopologys) {
  const Seconds both = with({{"/platform/override", R"({"/condition": {"degraded": {"*": "50 %"}}})"},
                             {"/platform/condition", R"({"background": {"*": "2.5 Gbit/s"}})"}});
  EXPECT_EQ(both, with({{"/platform/override", R"({"/node/nic/rate": "10 Gbit/s"})"}}));
}

TEST(Handshakes, OfNicsStandAmongTheSettings) {
  const auto said = [](const char* topology) {
    return test::run({{"/platform/topology", topology}, {"/platform/ranks", "8"}}).settings;
  };
  EXPECT_EQ(said(R"("perlmutter")").at("transport.nic_rendezvous"), "7.4 us from 4.098 kB");
  EXPECT_FALSE(said(R"("dgx-a100")").contains("transport.nic_rendezvous"));
}

TEST(ConditionOfAScenario, StandsAmongTheSettings) {
  const RunResult result = test::run({{"/platform/condition", R"({"degraded": {"node3": "50 %"},
    "background": {"node1": "1 Gbit/s"}, "congestion": {"*": [{"flows": 8, "left": "75 %"}]}})"}});
  EXPECT_EQ(result.settings.at("platform.degraded.node3"), "50 %");
  EXPECT_EQ(result.settings.at("platform.background.node1"), "1 Gbit/s");
  EXPECT_EQ(result.settings.at("platform.congestion.*"), "75 % of 8 flows");
}

/// 64 MiB among the eight devices of a DGX A100, as NCCL sends them.
Seconds alltoall_of_nccl(const std::string& condition) {
  const Document here = Document::parse("\"here\"", "here");
  const Catalogue catalogue;
  Topology topology = catalogue.topology("dgx-a100", here.root());
  topology.condition.add(read_condition(Document::parse(condition, "condition").root()));
  CollectiveRequest request;
  request.algorithm = *find_algorithm_or_library(Operation::alltoall, "nccl-2.10");
  request.sizes = {64_MiB};
  request.fidelities = {Fidelity::flow};
  request.ranks = 8;
  request.library =
      use_library(request.algorithm, topology.transport, catalogue.device("a100", here.root()), here.root());
  return run_collective(request, topology, here.root()).front().time;
}

TEST(Condition, OfConvergingFlowsHoldsForALibrarysCollectivesToo) {
  // Seven flows into every device: at a tenth of the links' rate they take most of ten times as long.
  const Seconds free = alltoall_of_nccl("{}");
  EXPECT_GT(alltoall_of_nccl(R"({"congestion": {"*": [{"flows": 7, "left": "10 %"}]}})"), 5 * free);
  EXPECT_EQ(alltoall_of_nccl(R"({"congestion": {"*": [{"flows": 8, "left": "100 %"}]}})"), free);
}

TEST(ConditionOfAScenario, IsRefusedWithItsPlaceWhereItNamesNothing) {
  EXPECT_THAT(test::error_of({{"/platform/condition", R"({"failed": ["leaf0-spine1"]})"}}),
              HasSubstr("/platform: expected a cable between switches that \"leaf0-spine1\""));
  EXPECT_THAT(test::error_of({{"/platform/condition", R"({"failled": []})"}}), HasSubstr("did you mean \"failed\"?"));
}

}}  // namespace farandole::condition_test
