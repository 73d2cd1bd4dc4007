// Axes of a sweep whose values are objects: columns say what tells them apart, not their JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/facet.hpp"

namespace farandole::swept_objects_test { namespace {

using testing::ElementsAre;

std::vector<std::string> column(const std::string& pointer, const std::vector<std::string>& values,
                                const std::string& name) {
  std::vector<TrainingPoint> points;
  for (const std::string& value : values) points.emplace_back().swept = {{pointer, value}};
  std::vector<std::string> cells;
  for (const auto& facet : split(training_facets(points), std::span<const TrainingPoint>(points)).columns) {
    if (facet.name != name) continue;
    for (const TrainingPoint& point : points) cells.push_back(facet.text(point));
  }
  return cells;
}

TEST(SweptObjects, AreToldByTheKeysThatTellThemApart) {
  EXPECT_THAT(column("/strategy",
                     {R"({"kind":"diloco","worker_ranks":8,"inner_steps":20})",
                      R"({"kind":"diloco","worker_ranks":4,"inner_steps":20,"outer_type":"fp4"})"},
                     "strategy settings"),
              ElementsAre("worker ranks 8", "outer type fp4, worker ranks 4"));
}

TEST(SweptObjects, AreNotToldByWhatAnotherColumnHas) {
  EXPECT_THAT(column("/strategy", {R"({"kind":"ddp"})", R"({"kind":"horovod"})"}, "strategy settings"), ElementsAre());
}

TEST(SweptObjects, OtherValuesStandAsTheyAre) {
  EXPECT_THAT(column("/effects/step_jitter", {"1 %", "2 %"}, "effects step jitter"), ElementsAre("1 %", "2 %"));
}

}}  // namespace farandole::swept_objects_test
