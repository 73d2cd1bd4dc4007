// Columns of times: one unit, in which the smallest can still be read.
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/page.hpp"

namespace farandole::time_column_test { namespace {

TEST(TimeColumn, TakesTheUnitOfTheSmallestForAll) {
  const TimeColumn times = time_column(std::vector{20.31_us, 4.09819_ms});
  EXPECT_EQ(times.unit, "us");
  EXPECT_EQ(times.text(20.31_us), "20.31");
  EXPECT_EQ(times.text(4.09819_ms), "4,098.19");
}

TEST(TimeColumn, OfTrainingStepsIsInSeconds) {
  const TimeColumn times = time_column(std::vector{0.1326_s, 1.5_s});
  EXPECT_EQ(times.unit, "s");
  EXPECT_EQ(times.text(0.1326_s), "0.1326");
}

TEST(TimeColumn, OfNothingIsZeroSeconds) {
  EXPECT_EQ(time_column({}).text(Seconds(0)), "0");
  EXPECT_EQ(time_column(std::vector{Seconds(0)}).unit, "s");
}

TEST(TimeColumn, OfIterationsIsInMillisecondsUnlessTheyAreShort) {
  EXPECT_EQ(iteration_column(124_ms).text(124_ms), "124.000");
  EXPECT_EQ(iteration_column(12.5_us).unit, "us");
  EXPECT_EQ(iteration_column(12.5_us).text(12.5_us), "12.500");
}

// No time that is not zero is printed as zero: |read(text) / per_second - t| <= t / 1000 from a picosecond on.
RC_GTEST_PROP(TimeColumn, KeepsThreeDigitsOfEveryTime, ()) {
  const auto times = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1'000'000'000)));
  std::vector<Seconds> seconds;
  for (const int nanoseconds : times) seconds.push_back(Seconds(1e-9 * nanoseconds));
  const TimeColumn column = time_column(seconds);
  for (const Seconds time : seconds) {
    std::string text = column.text(time);
    std::erase(text, ',');
    RC_ASSERT(std::abs(std::stod(text) / column.per_second / time.si() - 1) <= 1e-3);
  }
}

}}  // namespace farandole::time_column_test
