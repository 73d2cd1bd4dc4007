// Golden section on functions whose least place is known.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "study/search.hpp"

namespace farandole::golden_section_test { namespace {

RC_GTEST_PROP(GoldenSection, FindsTheLeastOfAValley, ()) {
  const double bottom = *rc::gen::inRange(0, 1001) / 1000.0;
  const double found = golden_section([&](double x) { return std::abs(x - bottom); }, 0, 1, 0.01);
  RC_ASSERT(std::abs(found - bottom) <= 0.01);
}

TEST(GoldenSection, FindsAnEndExactly) {
  EXPECT_EQ(golden_section([](double x) { return x; }, 2, 3, 0.01), 2);
  EXPECT_EQ(golden_section([](double x) { return -x; }, 2, 3, 0.01), 3);
}

TEST(GoldenSection, AsksForFewPoints) {
  int asked = 0;
  golden_section([&](double x) { return ++asked, x * x; }, -1, 1, 0.02);
  // 2 * 0.618^k < 0.02 from k = 10 on, and four to begin with.
  EXPECT_LE(asked, 4 + 10);
}

}}  // namespace farandole::golden_section_test
