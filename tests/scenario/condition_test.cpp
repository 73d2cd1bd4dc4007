// What is wrong with a topology's links, as a scenario says it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole {
namespace {

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

TEST(ConditionOfAScenario, IsRefusedWithItsPlaceWhereItNamesNothing) {
  EXPECT_THAT(test::error_of({{"/platform/condition", R"({"failed": ["leaf0-spine1"]})"}}),
              HasSubstr("/platform: expected a cable between switches that \"leaf0-spine1\""));
  EXPECT_THAT(test::error_of({{"/platform/condition", R"({"failled": []})"}}), HasSubstr("did you mean \"failed\"?"));
}

}  // namespace
}  // namespace farandole
