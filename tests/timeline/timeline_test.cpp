#include "timeline/timeline.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::timeline_test { namespace {

TEST(Timeline, KeepsASpanAsItsStartAndItsDuration) {
  Timeline timeline(10);
  timeline.span("conv1", "QUEUE", 2_ms, 5_ms);
  ASSERT_EQ(timeline.spans().size(), 1U);
  EXPECT_EQ(timeline.spans()[0].lane, "conv1");
  EXPECT_EQ(timeline.spans()[0].activity, "QUEUE");
  EXPECT_EQ(timeline.spans()[0].start, 2_ms);
  EXPECT_EQ(timeline.spans()[0].duration, 5_ms - 2_ms);
}

TEST(Timeline, KeepsAnInstant) {
  Timeline timeline(10);
  timeline.instant("", "CYCLE_START", 5_ms);
  ASSERT_EQ(timeline.instants().size(), 1U);
  EXPECT_EQ(timeline.instants()[0].activity, "CYCLE_START");
  EXPECT_EQ(timeline.instants()[0].at, 5_ms);
}

TEST(Timeline, AcceptsASpanWithoutLength) {
  Timeline timeline(1);
  timeline.span("a", "QUEUE", 1_ms, 1_ms);
  EXPECT_EQ(timeline.spans()[0].duration, 0_s);
}

TEST(Timeline, OfNoCapacityDropsEverything) {
  Timeline timeline(0);
  timeline.span("a", "QUEUE", 0_s, 1_s);
  timeline.instant("a", "0", 0_s);
  EXPECT_TRUE(timeline.spans().empty());
  EXPECT_TRUE(timeline.instants().empty());
  EXPECT_EQ(timeline.dropped(), 2U);
}

TEST(Timeline, RefusesASpanThatEndsBeforeItStarts) {
  Timeline timeline(10);
  EXPECT_THROW(timeline.span("a", "QUEUE", 2_s, 1_s), std::logic_error);
}

TEST(Timeline, RefusesTimesThatAreNegativeOrNotFinite) {
  Timeline timeline(10);
  const Seconds nan(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THROW(timeline.span("a", "QUEUE", Seconds(-1), 1_s), std::logic_error);
  EXPECT_THROW(timeline.span("a", "QUEUE", 0_s, Seconds::infinity()), std::logic_error);
  EXPECT_THROW(timeline.instant("a", "0", nan), std::logic_error);
  EXPECT_EQ(timeline.dropped(), 0U);
}

// kept + dropped = offered, kept <= capacity, and what is kept came first.
RC_GTEST_PROP(Timeline, KeepsTheFirstEventsUpToItsCapacityAndCountsTheOthers, ()) {
  const auto capacity = *rc::gen::inRange<std::size_t>(0, 20);
  const auto is_span = *rc::gen::arbitrary<std::vector<bool>>();
  Timeline timeline(capacity);
  std::size_t offered = 0;
  for (const bool span : is_span) {
    const Seconds at(static_cast<double>(offered++));
    if (span) {
      timeline.span("a", "QUEUE", at, at + 1_s);
    } else {
      timeline.instant("a", "0", at);
    }
  }
  const std::size_t kept = timeline.spans().size() + timeline.instants().size();
  RC_ASSERT(kept + timeline.dropped() == offered);
  RC_ASSERT(kept == std::min(offered, capacity));
  for (const Span& span : timeline.spans()) RC_ASSERT(span.start < Seconds(static_cast<double>(kept)));
}

TEST(Timeline, OfSpansAloneLeavesInstantsNoRoom) {
  Timeline timeline(1, Timeline::Keep::spans);
  timeline.instant("", "CYCLE_START", 0_s);
  timeline.span("a", "QUEUE", 0_s, 1_s);
  EXPECT_EQ(timeline.spans().size(), 1U);
  EXPECT_EQ(timeline.instants().size(), 0U);
  EXPECT_EQ(timeline.dropped(), 0U);
}

}}  // namespace farandole::timeline_test
