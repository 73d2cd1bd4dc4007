// The answer to a study's question.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/answer.hpp"
#include "report/points.hpp"

namespace farandole::question_answer_test { namespace {

using testing::HasSubstr;

const Question faster{"What would 100 Gbit/s change?", {{rate_pointer, "25 Gbit/s"}}, {{rate_pointer, "100 Gbit/s"}}};

TEST(Answer, ToTheStudysQuestionComesFirst) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.5), swept("100 Gbit/s", "ring", 0.8),
                           swept("25 Gbit/s", "double_tree", 0.4), swept("100 Gbit/s", "double_tree", 0.5)};
  const auto said = answer(points, faster);
  EXPECT_EQ(said.at(0),
            "100 Gbit/s instead of 25 Gbit/s would take vgg16 (ring) on 128 ranks from 50 % to 80 % efficiency, "
            "104,858 to 104,858 samples/s.");
  EXPECT_EQ(
      said.at(1),
      "It changes most for vgg16 (ring), from 50 % to 80 %, and least for vgg16 (double_tree), from 40 % to 50 %.");
}

/// Two networks, whose ratio errs by `apart`.
TrainingPoint banded(TrainingPoint point, double samples_per_second, double apart) {
  point.samples_per_second = samples_per_second;
  point.bands.emplace();
  point.bands->probability = 0.8;
  point.bands->sources = {{of_published_runs, "a job", {}, {0.9, 1.1}}};
  point.compared = {{"network", std::to_string(samples_per_second), apart}};
  return point;
}

TEST(Answer, SaysHowSureTheChangeIsWhereItsPointsHaveBands) {
  const std::vector points{banded(swept("25 Gbit/s", "ring", 0.6), 1000, 0.05),
                           banded(swept("100 Gbit/s", "ring", 0.9), 1500, 0.05)};
  EXPECT_THAT(answer_to(points, faster).front(),
              HasSubstr("1,000 to 1,500 samples/s: +50 % (80 % interval +43 to +58), P(faster) 95 %."));
  const std::vector less{points[0], banded(swept("100 Gbit/s", "ring", 0.58), 970, 0.05)};
  EXPECT_THAT(answer_to(less, faster).front(), HasSubstr(": -3.0 % (80 % interval -7.7 to +2.0), P(slower) 82 %."));
}

TEST(Answer, InJsonHasEveryPairWithItsDifference) {
  EXPECT_TRUE(answered({}, std::vector{vgg16_on_512_ranks()}).is_null());
  const std::vector points{banded(swept("25 Gbit/s", "ring", 0.6), 1000, 0.05), swept("25 Gbit/s", "double_tree", 0.7),
                           banded(swept("100 Gbit/s", "ring", 0.9), 1500, 0.05),
                           swept("100 Gbit/s", "double_tree", 0.8)};
  const Record record = answered(faster, points);
  EXPECT_EQ(record.at("ask"), "What would 100 Gbit/s change?");
  EXPECT_EQ(record.at("to").at(rate_pointer), "100 Gbit/s");
  EXPECT_EQ(record.at("answer"), Record(answer_to(points, faster)));
  ASSERT_EQ(record.at("pairs").size(), 2U);
  EXPECT_EQ(record.at("pairs").at(0).at("from"), 0);
  EXPECT_EQ(record.at("pairs").at(0).at("to"), 2);
  EXPECT_DOUBLE_EQ(record.at("pairs").at(0).at("throughput_ratio"), 1.5);
  EXPECT_EQ(record.at("pairs").at(0).at("sure"), 0.95);
  EXPECT_EQ(record.at("pairs").at(1), (Record{{"from", 1}, {"to", 3}}));
}

TEST(Answer, ComparesNoTwoFidelities) {
  TrainingPoint elsewhere = swept("100 Gbit/s", "ring", 0.9);
  elsewhere.fidelity = "analytic";
  EXPECT_TRUE(compared_pairs(std::vector{swept("25 Gbit/s", "ring", 0.6), elsewhere}, faster).empty());
}

// The change is that of the efficiency; most and least go by its size, whichever way it goes.
// In tables, pages and JSON alike.
TEST(Answer, IsOfTheMostExactFidelity) {
  std::vector points{swept("25 Gbit/s", "ring", 0.6), swept("100 Gbit/s", "ring", 0.9)};
  const auto alone = answer_to(points, faster);
  for (TrainingPoint& point : points) point.fidelity = "message";
  const std::vector rough{swept("25 Gbit/s", "ring", 0.7), swept("100 Gbit/s", "ring", 0.95)};
  points.insert(points.begin(), rough.begin(), rough.end());
  EXPECT_EQ(answer_to(points, faster), alone);
  EXPECT_EQ(answered(faster, points).at("answer"), Record(alone));
}

TEST(Answer, OrdersChangesByTheirSizeAndCallsALossALoss) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.960), swept("100 Gbit/s", "ring", 0.9604),
                           swept("25 Gbit/s", "double_tree", 0.93), swept("100 Gbit/s", "double_tree", 0.91)};
  const auto said = answer(points, faster);
  EXPECT_EQ(said.at(0),
            "100 Gbit/s instead of 25 Gbit/s changes nothing for vgg16 (ring) on 128 ranks: 96 % efficiency, "
            "104,858 samples/s.");
  EXPECT_EQ(said.at(1),
            "It changes most for vgg16 (double_tree), a loss from 93 % to 91 %, and least for vgg16 (ring), where "
            "nothing changes (96 %).");
}

TEST(Answer, SaysThatADowngradeLowers) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.93), swept("100 Gbit/s", "ring", 0.91)};
  EXPECT_EQ(answer(points, faster).front(),
            "100 Gbit/s instead of 25 Gbit/s would lower vgg16 on 128 ranks from 93 % to 91 % efficiency, "
            "104,858 to 104,858 samples/s.");
}

TEST(Answer, NamesTheThroughputThatChangesWhereTheEfficiencyDoesNot) {
  std::vector points{swept("25 Gbit/s", "ring", 0.93), swept("100 Gbit/s", "ring", 0.93)};
  points.back().samples_per_second *= 2;
  EXPECT_EQ(answer(points, faster).front(),
            "100 Gbit/s instead of 25 Gbit/s leaves vgg16 on 128 ranks at 93 % efficiency, 104,858 to 209,715 "
            "samples/s.");
}

TEST(Answer, SaysThatNothingChangesWhereNoPairChangesByHalfAPoint) {
  const std::vector points{swept("25 Gbit/s", "ring", 0.96), swept("100 Gbit/s", "ring", 0.963),
                           swept("25 Gbit/s", "double_tree", 0.93), swept("100 Gbit/s", "double_tree", 0.926)};
  EXPECT_EQ(answer(points, faster).at(1),
            "Nothing changes for any of the 2 compared: less than half a percentage point each.");
}

// A change that is worth saying is told by two different numbers.
RC_GTEST_PROP(Answer, NeverNamesAChangeFromANumberToTheSameNumber, ()) {
  const double before = *rc::gen::inRange(100, 1000) / 1000.0;
  const double after = *rc::gen::inRange(100, 1000) / 1000.0;
  const std::string said =
      answer(std::vector{swept("25 Gbit/s", "ring", before), swept("100 Gbit/s", "ring", after)}, faster).front();
  const auto from = said.find("from ");
  RC_ASSERT((from != std::string::npos) == (std::abs(after - before) >= 0.005));
  if (from == std::string::npos) return;
  const auto to = said.find(" to ", from);
  const auto of = said.find(" of linear", to);
  RC_ASSERT(said.substr(from + 5, to - from - 5) != said.substr(to + 4, of - to - 4));
  RC_ASSERT((said.find("lower") != std::string::npos) == (after < before));
}

TEST(Answer, WithoutAPairSaysNothingOfTheQuestion) {
  EXPECT_THAT(answer(std::vector{swept("25 Gbit/s", "ring", 0.5)}, faster).front(), HasSubstr("scales at 50 %"));
}

}}  // namespace farandole::question_answer_test
