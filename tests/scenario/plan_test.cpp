// What a plan keeps of its points, and that they are read again as they were checked.
#include <cstddef>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "scenario/read_parts.hpp"
#include "scenario/run.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::plan_test { namespace {

RunPlan plan_of(const std::string& sweep, const RunOptions& options = {}) {
  return plan_run(test::changed({{"/sweep", sweep}}), Catalogue(), options);
}

std::string refusal_of(const std::string& sweep) {
  try {
    plan_of(sweep);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// Bytes that the program has in use; 0 where its allocator does not say.
std::size_t in_use() {
#if defined(__GLIBC__)
  return ::mallinfo2().uordblks;
#else
  return 0;
#endif
}

/// That a plan of so many points keeps.
std::size_t kept_by(int points) {
  const std::string sweep =
      R"({"/platform/ranks": [64], "/measure/seed": {"from": 1, "to": )" + std::to_string(points) + R"(, "step": 1}})";
  const std::size_t before = in_use();
  const RunPlan plan = plan_of(sweep);
  EXPECT_EQ(plan.points.size(), static_cast<std::size_t>(points));
  return in_use() - before;
}

TEST(Plan, KeepsAThousandBytesOfAPointAtMostWhateverItsPlatform) {
  kept_by(2);  // files are read, and remembered by nobody
  const std::size_t few = kept_by(50);
  if (few == 0) GTEST_SKIP() << "this allocator does not say what is in use";
  EXPECT_LT(kept_by(450), few + 400 * 1000);
}

TEST(Plan, ReadsAScenarioOntoAMachineThatIsBuiltWhereItHasAsManyNodes) {
  const Catalogue catalogue;
  Platform built = read_scenario(test::changed({}).root(), catalogue).platform.platform;
  const int nodes = built.nodes;
  built.name = "built before";
  const auto platform_with = [&](const std::string& pointer, const std::string& value) {
    return read_scenario(test::changed({{pointer, value}}).root(), catalogue, &built).platform.platform;
  };
  EXPECT_EQ(platform_with("/workload/batch_per_rank", "8").name, "built before");
  const Platform larger = platform_with("/platform/ranks", "64");
  EXPECT_NE(larger.name, "built before");
  EXPECT_GT(larger.nodes, nodes);
}

TEST(Plan, ReadsAPointAgainAsItWasChecked) {
  const RunPlan plan = plan_of(R"({"/platform/ranks": [2, 4], "/measure/seed": [5, 6, 7]})");
  ASSERT_EQ(plan.points.size(), 6U);
  const PlannedPoint point = read_point(plan.points[4], Catalogue());
  EXPECT_EQ(plan.points[4].name, "/platform/ranks 4, /measure/seed 6");
  EXPECT_EQ(plan.points[4].ranks, 4);
  EXPECT_EQ(point.scenario.platform.ranks, 4);
  EXPECT_EQ(point.scenario.seed, 6U);
  EXPECT_THAT(point.pointers, testing::ElementsAre("/platform/ranks", "/measure/seed"));
}

TEST(Plan, ReadsAPointAgainWithWhatOptionsChange) {
  RunOptions options;
  options.fidelities = {Fidelity::analytic, Fidelity::message};
  options.folding = FoldingPolicy::never;
  options.bands = false;
  options.explain = true;
  options.links = 3;
  for (const char* sweep : {R"({"/platform/ranks": [2, 4]})", R"({"/platform/ranks": [2]})"}) {
    const RunPlan plan = plan_of(sweep, options);
    const PlannedPoint point = read_point(plan.points[1], Catalogue());
    EXPECT_EQ(point.scenario.fidelity, Fidelity::message);
    EXPECT_EQ(point.scenario.folding, FoldingPolicy::never);
    EXPECT_FALSE(point.scenario.bands);
    EXPECT_TRUE(point.scenario.explain);
    EXPECT_EQ(point.scenario.busiest_links, 3);
  }
}

TEST(Plan, RefusesWhatIsWrongWithItsLastPoint) {
  EXPECT_THAT(refusal_of(R"({"/platform/ranks": [2, 4, -1]})"), testing::HasSubstr("/platform/ranks"));
  EXPECT_THAT(refusal_of(R"({"/platform/ranks": [2], "/no/such/place": [1, 2]})"),
              testing::HasSubstr("/no: expected a known key"));
}

}}  // namespace farandole::plan_test
