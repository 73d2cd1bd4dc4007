#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "report/pages.hpp"
#include "report/points.hpp"

namespace farandole::chrome_trace_test { namespace {

using nlohmann::json;

std::string text(const Timeline& timeline) {
  std::ostringstream out;
  write_chrome_trace(out, timeline, heading());
  return out.str();
}

std::vector<json> events(const Timeline& timeline, const std::string& phase) {
  std::vector<json> result;
  const json document = json::parse(text(timeline));
  for (const json& event : document["traceEvents"]) {
    if (event["ph"] == phase) result.push_back(event);
  }
  return result;
}

TEST(ChromeTrace, LooksAsHorovodsTimelineDoes) {
  Timeline timeline(10);
  timeline.span("conv1", "NCCL_ALLREDUCE", 3_us, 4.5_us);
  timeline.span("conv1", "NEGOTIATE_ALLREDUCE", 0_us, 2_us);
  timeline.instant("conv1", "7", 1_us);
  timeline.instant("", "CYCLE_START", 2_us);
  const std::string version_text(version());
  EXPECT_EQ(text(timeline),
            R"({"displayTimeUnit":"ms","otherData":{"farandole":")" + version_text +
                R"(","scenario":"demo","settings":{"cycle_time":"5 ms","seed":"1"},"dropped_events":0},)"
                R"("traceEvents":[
{"name":"process_name","ph":"M","pid":0,"args":{"name":"farandole"}},
{"name":"process_sort_index","ph":"M","pid":0,"args":{"sort_index":0}},
{"name":"process_name","ph":"M","pid":1,"args":{"name":"conv1"}},
{"name":"process_sort_index","ph":"M","pid":1,"args":{"sort_index":1}},
{"name":"NEGOTIATE_ALLREDUCE","ph":"X","ts":0.0,"pid":1,"tid":0,"dur":2.0},
{"name":"7","ph":"i","ts":1.0,"pid":1,"tid":0,"s":"p","args":{"rank":7}},
{"name":"CYCLE_START","ph":"i","ts":2.0,"pid":0,"tid":0,"s":"g"},
{"name":"NCCL_ALLREDUCE","ph":"X","ts":3.0,"pid":1,"tid":0,"dur":1.5}
]}
)");
}

TEST(ChromeTrace, OfAnEmptyTimelineIsValid) {
  const json document = json::parse(text(Timeline(0)));
  EXPECT_TRUE(document["traceEvents"].is_array());
  EXPECT_EQ(document["otherData"]["dropped_events"], 0);
}

TEST(ChromeTrace, SaysHowManyEventsWereDropped) {
  Timeline timeline(1);
  for (int i = 0; i < 4; ++i) timeline.span("a", "QUEUE", Seconds(i), Seconds(i + 1));
  EXPECT_EQ(json::parse(text(timeline))["otherData"]["dropped_events"], 3);
  EXPECT_EQ(events(timeline, "X").size(), 1U);
}

TEST(ChromeTrace, DrawsNestedSpansOnOneThread) {
  Timeline timeline(10);
  timeline.span("a", "QUEUE", 1_us, 2_us);
  timeline.span("a", "ALLREDUCE", 1_us, 9_us);
  timeline.span("a", "NCCL_ALLREDUCE", 2_us, 9_us);
  for (const json& event : events(timeline, "X")) EXPECT_EQ(event["tid"], 0) << event;
}

TEST(ChromeTrace, MovesASpanThatOverlapsWithoutNestingToAnotherThread) {
  Timeline timeline(10);
  timeline.span("a", "first", 0_us, 5_us);
  timeline.span("a", "second", 3_us, 8_us);
  timeline.span("a", "third", 6_us, 7_us);
  const auto spans = events(timeline, "X");
  EXPECT_EQ(spans[0]["tid"], 0);
  EXPECT_EQ(spans[1]["tid"], 1);
  EXPECT_EQ(spans[2]["tid"], 0);
}

TEST(ChromeTrace, StaysValidForAnyTensorName) {
  Timeline timeline(10);
  timeline.span("a\"b\\\n\xff", "QUEUE", 0_s, 1_s);
  EXPECT_EQ(events(timeline, "X").size(), 1U);
}

Timeline any_timeline() {
  Timeline timeline(*rc::gen::inRange<std::size_t>(0, 40));
  const auto lanes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  for (const int lane : lanes) {
    const Seconds start(*rc::gen::inRange(0, 1000) / 7e6);
    const Seconds length(*rc::gen::inRange(0, 1000) / 3e6);
    const std::string name = lane == 0 ? "" : "tensor" + std::to_string(lane);
    timeline.span(name, "QUEUE", start, start + length);
    timeline.instant(name, std::to_string(lane), start);
  }
  return timeline;
}

RC_GTEST_PROP(ChromeTrace, HasOnlyValidEventsOnNamedProcesses, ()) {
  const Timeline timeline = any_timeline();
  std::set<int> named;
  for (const json& event : events(timeline, "M")) named.insert(event["pid"].get<int>());
  const auto spans = events(timeline, "X");
  const auto instants = events(timeline, "i");
  RC_ASSERT(spans.size() == timeline.spans().size());
  RC_ASSERT(instants.size() == timeline.instants().size());
  for (const json& span : spans) {
    RC_ASSERT(span["ts"].get<double>() >= 0);
    RC_ASSERT(span["dur"].get<double>() >= 0);
    RC_ASSERT(span["name"].is_string());
    RC_ASSERT(named.count(span["pid"].get<int>()) == 1U);
  }
  for (const json& instant : instants) RC_ASSERT(named.count(instant["pid"].get<int>()) == 1U);
}

// Any two spans of one thread are apart, or one lies within the other; in nanoseconds, as the file holds them.
RC_GTEST_PROP(ChromeTrace, HasNoSpansOfOneThreadThatOverlapWithoutNesting, ()) {
  struct Extent {
    long start, end;
  };
  std::map<std::pair<int, int>, std::vector<Extent>> threads;
  for (const json& span : events(any_timeline(), "X")) {
    const long start = std::lround(span["ts"].get<double>() * 1e3);
    const Extent added{start, start + std::lround(span["dur"].get<double>() * 1e3)};
    auto& thread = threads[{span["pid"].get<int>(), span["tid"].get<int>()}];
    for (const Extent& other : thread) RC_ASSERT(added.start >= other.end || added.end <= other.end);
    thread.push_back(added);
  }
}

}}  // namespace farandole::chrome_trace_test
