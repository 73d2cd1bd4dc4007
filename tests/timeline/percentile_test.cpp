#include <gtest/gtest.h>

#include "timeline/quantile.hpp"

namespace farandole::percentile_test { namespace {

std::vector<WeightedDuration> seconds_up_to(int count) {
  std::vector<WeightedDuration> durations;
  for (int i = count; i > 0; --i) durations.push_back({Seconds(i), 1});
  return durations;
}

TEST(Percentile, IsTheSmallestDurationThatItsShareDoesNotExceed) {
  // Of 1 to n seconds, equally likely: the ceil(share n)-th.
  EXPECT_EQ(percentile(seconds_up_to(100), 0.95), 95_s);
  EXPECT_EQ(percentile(seconds_up_to(100), 0.5), 50_s);
  EXPECT_EQ(percentile(seconds_up_to(5), 0.5), 3_s);
  EXPECT_EQ(percentile(seconds_up_to(5), 0.95), 5_s);
  EXPECT_EQ(percentile(seconds_up_to(1), 0), 1_s);
}

TEST(Percentile, WeighsDurationsByHowOftenTheyOccur) {
  // Three of a hundred iterations write a checkpoint: invisible at 95 %, not at 98 %.
  const std::vector<WeightedDuration> mixture{{1_s, 97}, {5_s, 3}};
  EXPECT_EQ(percentile(mixture, 0.95), 1_s);
  EXPECT_EQ(percentile(mixture, 0.98), 5_s);
}

}}  // namespace farandole::percentile_test
