#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "report/chrome_trace.hpp"

namespace farandole { inline namespace report {
namespace {

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

}  // namespace

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

std::map<int, std::string> process_names(const std::vector<TraceEvent>& events) {
  std::map<int, std::string> names{{0, ""}};
  for (const TraceEvent& event : events) names.try_emplace(event.process, event.lane);
  return names;
}

}}  // namespace farandole::report
