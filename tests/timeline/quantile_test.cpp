#include "timeline/quantile.hpp"

#include <gtest/gtest.h>

namespace farandole::quantile_test { namespace {

TEST(Quantile, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) {
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({3, 1, 2}), 2);
}

TEST(Quantile, LiesBetweenNeighboursInProportion) {
  // Place 0.9 * (5 - 1) = 3.6 of 10, 20, 30, 40, 50.
  EXPECT_DOUBLE_EQ(quantile({50, 40, 30, 20, 10}, 0.9), 46);
}

TEST(Quantile, OfTheWholeIsTheLargestAndOfNothingZero) {
  EXPECT_EQ(quantile({1, 7, 3}, 1), 7);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

}}  // namespace farandole::quantile_test
