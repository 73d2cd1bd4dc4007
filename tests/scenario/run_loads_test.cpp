// What links carry in an iteration, against what must be sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/record.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::run_loads_test { namespace {

using testing::Each;
using testing::SizeIs;

TrainingPoint with_links(int links, const std::vector<test::Change>& changes) {
  RunOptions options;
  options.links = links;
  return test::run(changes, options).points.at(0);
}

TEST(LinksOfARun, CarryTwiceTheGradientsButForOneShareInARing) {
  // Every rank of 4 sends 2 (n-1) / n of what is averaged, over links used both ways alike.
  const TrainingPoint point = with_links(100, {});
  ASSERT_THAT(point.links, SizeIs(8));
  for (const LinkUse& link : point.links) {
    EXPECT_NEAR(link.bytes / point.gradient_bytes, 1.5, 1e-6);
    EXPECT_NEAR(link.utilisation, link.bytes / (link.capacity * point.iteration), 1e-12);
  }
}

TEST(LinksOfARun, AreTheBusiestOnesAndOnlyWhereTheyWereAskedFor) {
  const test::Change slow{"/platform/condition", R"({"degraded": {"node2": "50 %"}})"};
  const TrainingPoint point = with_links(1, {slow});
  ASSERT_THAT(point.links, SizeIs(1));
  EXPECT_THAT(point.links[0].name, testing::StartsWith("node2/nic0/"));
  EXPECT_THAT(with_links(0, {slow}).links, SizeIs(0));
}

TEST(LinksOfARun, OfAHotServerCarryWhatAllWorkersPushAndPull) {
  const TrainingPoint point = with_links(2, {{"/strategy", R"({"kind": "parameter_server", "servers": 1})"}});
  // 4 workers pull all variables from one server, and push all gradients to it.
  ASSERT_THAT(point.links, SizeIs(2));
  for (const LinkUse& link : point.links) {
    EXPECT_THAT(link.name, testing::StartsWith("node4/nic0/"));
    EXPECT_NEAR(link.bytes / point.gradient_bytes, 4, 0.01);
  }
}

TEST(LinksOfARun, AreThoseOfWhatALibraryPicksToo) {
  const std::vector<test::Change> nccl{{"/platform/topology", "dgx1-v100"}, {"/platform/ranks", "8"}};
  std::vector<test::Change> picked = nccl;
  picked.push_back({"/collectives", R"({"allreduce": "nccl-2.7"})"});
  EXPECT_GT(with_links(4, picked).links.at(0).bytes, Bytes(0));
}

TEST(LinksOfARun, SurviveARecord) {
  const TrainingPoint point = with_links(3, {});
  EXPECT_THAT(training_point(to_record(point)).links, SizeIs(3));
}

}}  // namespace farandole::run_loads_test
