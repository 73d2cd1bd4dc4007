#include "timeline/result.hpp"

#include <array>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::result_test { namespace {

TEST(Breakdown, WithoutPartsLastsNoTime) {
  EXPECT_EQ(Breakdown{}.total(), 0_s);
}

// total = sum of the seven parts; whole numbers, so that == holds whatever the order of adding.
RC_GTEST_PROP(Breakdown, LastsAsLongAsItsPartsTogether, ()) {
  const auto parts = *rc::gen::container<std::array<int, 7>>(rc::gen::inRange(0, 1000000));
  const auto part = [&](std::size_t i) { return Seconds(parts[i]); };
  const Breakdown breakdown{part(0), part(1), part(2), part(3), part(4), part(5), part(6)};
  int sum = 0;
  for (const int p : parts) sum += p;
  RC_ASSERT(breakdown.total() == Seconds(sum));
}

}}  // namespace farandole::result_test
