#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "report/pages.hpp"
#include "report/record.hpp"

namespace farandole { inline namespace report {
namespace {

/// Whole nanoseconds: the ends of nested spans still nest after rounding, which differences of doubles would break.
struct TraceEvent {
  std::string lane;
  std::string activity;
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> duration_ns;  // none: an instant
  int process = 0;
  int thread = 0;
};

std::int64_t nanoseconds(Seconds time) {
  return std::llround(time.si() * 1e9);
}

std::int64_t end_of(const TraceEvent& event) {
  return event.start_ns + event.duration_ns.value_or(0);
}

bool before(const TraceEvent& a, const TraceEvent& b) {
  return std::tuple(a.start_ns, -a.duration_ns.value_or(0)) < std::tuple(b.start_ns, -b.duration_ns.value_or(0));
}

void number_processes(std::vector<TraceEvent>& events) {
  std::unordered_map<std::string, int> numbers{{"", 0}};
  for (TraceEvent& event : events) {
    event.process = numbers.try_emplace(event.lane, static_cast<int>(numbers.size())).first->second;
  }
}

/// The ends of the spans still open on one thread, innermost last.
using OpenSpans = std::vector<std::int64_t>;

/// True where a span that starts now may be drawn on this thread: free, or inside the innermost open span.
bool fits(OpenSpans& open, const TraceEvent& event) {
  while (!open.empty() && open.back() <= event.start_ns) open.pop_back();
  return open.empty() || end_of(event) <= open.back();
}

void number_threads(std::vector<TraceEvent>& events) {
  std::unordered_map<int, std::vector<OpenSpans>> threads_of_process;
  for (TraceEvent& event : events) {
    if (!event.duration_ns) continue;
    std::vector<OpenSpans>& threads = threads_of_process[event.process];
    auto thread = std::ranges::find_if(threads, [&](OpenSpans& open) { return fits(open, event); });
    if (thread == threads.end()) thread = threads.insert(threads.end(), OpenSpans{});
    thread->push_back(end_of(event));
    event.thread = static_cast<int>(thread - threads.begin());
  }
}

/// All events by start time, longer ones first, with process and thread set. Equal ones keep the order of recording.
std::vector<TraceEvent> trace_events(const Timeline& timeline) {
  std::vector<TraceEvent> events;
  events.reserve(timeline.spans().size() + timeline.instants().size());
  for (const Span& span : timeline.spans()) {
    const std::int64_t start = nanoseconds(span.start);
    events.push_back({span.lane, span.activity, start, nanoseconds(span.start + span.duration) - start});
  }
  for (const Instant& instant : timeline.instants()) {
    events.push_back({instant.lane, instant.activity, nanoseconds(instant.at), std::nullopt});
  }
  std::ranges::stable_sort(events, before);
  number_processes(events);
  number_threads(events);
  return events;
}

double microseconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

bool is_rank(std::string_view activity) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !activity.empty() && activity.size() < 10 && std::ranges::all_of(activity, is_digit);
}

Record event_record(const TraceEvent& event) {
  const bool is_span = event.duration_ns.has_value();
  Record record{{"name", event.activity},
                {"ph", is_span ? "X" : "i"},
                {"ts", microseconds(event.start_ns)},
                {"pid", event.process},
                {"tid", event.thread}};
  if (is_span) {
    record["dur"] = microseconds(*event.duration_ns);
  } else {
    record["s"] = event.process == 0 ? "g" : "p";
    if (is_rank(event.activity)) record["args"] = {{"rank", std::stoi(event.activity)}};
  }
  return record;
}

}  // namespace

void write_chrome_trace(std::ostream& out, const Timeline& timeline, const Heading& heading) {
  const std::vector<TraceEvent> events = trace_events(timeline);
  const Record other{{"farandole", version()},
                     {"scenario", heading.scenario},
                     {"settings", Record(heading.settings)},
                     {"dropped_events", timeline.dropped()}};
  out << R"({"displayTimeUnit":"ms","otherData":)" << json_text(other) << R"(,"traceEvents":[)";
  // Events go out one by one, a line each: a trace is the one result too large to be held as JSON in memory.
  auto add = [&, before = "\n"](const Record& event) mutable {
    out << std::exchange(before, ",\n") << json_text(event);
  };
  std::map<int, std::string> names{{0, "farandole"}};  // the whole process is there whether or not it has events
  for (const TraceEvent& event : events) names.try_emplace(event.process, event.lane);
  for (const auto& [process, name] : names) {
    add({{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", name}}}});
    add({{"name", "process_sort_index"}, {"ph", "M"}, {"pid", process}, {"args", {{"sort_index", process}}}});
  }
  for (const TraceEvent& event : events) add(event_record(event));
  out << "\n]}\n";
}

}}  // namespace farandole::report
