// What a page says in its first lines.
#include "report/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/points.hpp"
#include "report/series.hpp"

namespace farandole {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TrainingPoint point(const std::string& model, int ranks, double efficiency) {
  TrainingPoint made = vgg16_on_512_ranks();
  made.model = model;
  made.ranks = ranks;
  made.scaling_efficiency = efficiency;
  return made;
}

constexpr const char* rate_pointer = "/platform/override/~1node~1nic~1rate";

/// A point of a sweep over the network's rate and the algorithm.
TrainingPoint swept(const std::string& rate, const std::string& algorithm, double efficiency) {
  TrainingPoint made = point("vgg16", 128, efficiency);
  made.algorithm = algorithm;
  made.swept = {{rate_pointer, rate}, {"/collectives/allreduce", algorithm}};
  return made;
}

const Question faster{"What would 100 Gbit/s change?", {{rate_pointer, "25 Gbit/s"}}, {{rate_pointer, "100 Gbit/s"}}};

TEST(Answer, SaysHowWellTheLargestRunsScale) {
  const std::vector points{point("resnet50", 4, 0.97), point("resnet50", 512, 0.9), point("vgg16", 4, 0.95),
                           point("vgg16", 512, 0.59)};
  EXPECT_EQ(answer(points, {}).front(),
            "On 512 ranks of roce25-4xp100, resnet50 keeps 90 % and vgg16 59 % of linear scaling.");
}

TEST(Answer, OfOneRunNamesItsThroughput) {
  EXPECT_EQ(answer(std::vector{vgg16_on_512_ranks()}, {}).front(),
            "vgg16 keeps 68 % of linear scaling on 512 ranks of roce25-4xp100: 104,858 samples/s.");
}

TEST(Answer, NamesTheLargestLossFromTheBreakdown) {
  EXPECT_EQ(answer(std::vector{vgg16_on_512_ranks()}, {}).at(1),
            "The largest loss of vgg16 is exposed communication: 32 % of its iteration of 312 ms.");
}

TEST(Answer, NamesTheLargestMechanismAndTheBestChangeOfEachKindWhereTheyAreKnown) {
  TrainingPoint explained = vgg16_on_512_ranks();
  explained.explanation = Explanation{
      {{"device", 0.2_s}, {"exposed_bandwidth", 0.1_s}, {"stragglers", 0.0125_s}},
      {},
      {{"fp16 gradients", "setting", 1, 12.0}, {"batch x2", "setting", 1, 20.0}, {"latency / 2", "hardware", 1, 0.1}}};
  EXPECT_THAT(answer(std::vector{explained}, {}),
              ElementsAre(HasSubstr("keeps 68 %"), HasSubstr("is exposed bandwidth: 32 %"),
                          "Batch x2 (setting) would bring it to 88 % of linear scaling."));
}

TEST(Answer, NamesBestAndWorstOfMany) {
  std::vector<TrainingPoint> points;
  for (const char* model : {"a", "b", "c", "d", "e"})
    points.push_back(point(model, 64, 0.5 + 0.05 * double(points.size())));
  EXPECT_THAT(answer(points, {}).front(), HasSubstr("e keeps most of linear scaling, 70 %, and a least, 50 %"));
  EXPECT_THAT(headline_points(points, {}), ElementsAre(0, 4));
}

TEST(Answer, ToTheStudysQuestionComesFirst) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.5), swept("100 Gbit/s", "ring", 0.8),
                           swept("25 Gbit/s", "double_tree", 0.4), swept("100 Gbit/s", "double_tree", 0.5)};
  const auto said = answer(points, faster);
  EXPECT_EQ(said.at(0),
            "100 Gbit/s instead of 25 Gbit/s would take vgg16 (ring) on 128 ranks from 50 % to 80 % of linear scaling, "
            "104,858 to 104,858 samples/s.");
  EXPECT_EQ(
      said.at(1),
      "It changes most for vgg16 (ring), from 50 % to 80 %, and least for vgg16 (double_tree), from 40 % to 50 %.");
}

TEST(Answer, WithoutAPairSaysNothingOfTheQuestion) {
  EXPECT_THAT(answer(std::vector{swept("25 Gbit/s", "ring", 0.5)}, faster).front(), HasSubstr("keeps 50 %"));
}

TEST(Answer, OfNothingSaysSo) {
  EXPECT_THAT(answer({}, {}), ElementsAre("No point was run."));
}

TEST(Series, RunAlongRanksWhereTheyDiffer) {
  const Series series = series_of(std::vector{point("a", 1, 1), point("a", 4, 1), point("b", 4, 1)});
  EXPECT_EQ(series.axis, "ranks");
  EXPECT_THAT(series.name, ElementsAre("a", "a", "b"));
  EXPECT_THAT(series.along, ElementsAre("1", "4", "4"));
}

TEST(Series, RunAlongTheSweptNumberOtherwise) {
  const Series series = series_of(std::vector{swept("25 Gbit/s", "ring", 1), swept("100 Gbit/s", "ring", 1)});
  EXPECT_EQ(series.axis, "node nic rate");
  EXPECT_EQ(series.subject, "vgg16");
  EXPECT_THAT(series.name, ElementsAre("vgg16", "vgg16"));
}

TEST(Series, AreBarsWhereNothingIsANumber) {
  const Series series = series_of(std::vector{swept("25 Gbit/s", "ring", 1), swept("25 Gbit/s", "double_tree", 1)});
  EXPECT_EQ(series.axis, "");
  EXPECT_THAT(series.name, ElementsAre("ring", "double_tree"));
}

}  // namespace
}  // namespace farandole
