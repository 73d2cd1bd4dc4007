// Counts do not wrap around: what 64 bits do not hold is more than any limit.
#include "units/count.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::count_test { namespace {

__extension__ using Exact = __int128;

Exact held(Exact number) {
  return number > Count::too_many ? Exact(Count::too_many) : number;
}

// The exact product and sum, in 128 bits, cut off at the largest count.
RC_GTEST_PROP(Count, OfAProductOrASumIsExactOrTooMany, ()) {
  const auto large =
      rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 64), rc::gen::arbitrary<std::uint64_t>()),
                   [](const auto& drawn) { return static_cast<std::int64_t>((drawn.second >> 1U) >> drawn.first); });
  const std::int64_t a = *large;
  const std::int64_t b = *large;
  RC_ASSERT(Exact((Count(a) * b).number()) == held(Exact(a) * b));
  RC_ASSERT(Exact((Count(a) + b).number()) == held(Exact(a) + b));
}

RC_GTEST_PROP(Count, AboveALimitStaysAboveItWhateverIsAddedOrMultiplied, ()) {
  const auto factor = rc::gen::inRange(1, std::numeric_limits<int>::max());
  Count count = 1;
  for (int i = 0; i < 5; ++i) count *= *factor;
  const bool was_above = count > Count(1000);
  count *= *factor;
  count += *factor;
  RC_ASSERT(!was_above || count > Count(1000));
}

TEST(Count, TakesWhatIsNegativeForNone) {
  EXPECT_EQ(Count(-5), Count(0));
  EXPECT_EQ(Count(std::uint64_t{1} << 63U), Count(Count::too_many));
}

}}  // namespace farandole::count_test
