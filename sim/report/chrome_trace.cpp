#include "report/chrome_trace.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "report/record.hpp"
#include "report/version.hpp"

namespace farandole { inline namespace report {
namespace {

double microseconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

bool is_rank(std::string_view activity) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !activity.empty() && activity.size() < 10 && std::ranges::all_of(activity, is_digit);
}

Record process_name(int process, const std::string& name) {
  return {{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", name}}}};
}

Record process_order(int process) {
  return {{"name", "process_sort_index"}, {"ph", "M"}, {"pid", process}, {"args", {{"sort_index", process}}}};
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

/// Events go out one by one, a line each: a trace is the one result too large to be held as JSON in memory.
class EventList {
 public:
  explicit EventList(std::ostream& out) : out_(&out) {}

  void add(const Record& event) {
    *out_ << (first_ ? "\n" : ",\n") << json_text(event);
    first_ = false;
  }

 private:
  std::ostream* out_;
  bool first_ = true;
};

Record other_data(const Timeline& timeline, const Heading& heading) {
  return {{"farandole", version()},
          {"scenario", heading.scenario},
          {"settings", Record(heading.settings)},
          {"dropped_events", timeline.dropped()}};
}

}  // namespace

void write_chrome_trace(std::ostream& out, const Timeline& timeline, const Heading& heading) {
  const std::vector<TraceEvent> events = trace_events(timeline);
  out << R"({"displayTimeUnit":"ms","otherData":)" << json_text(other_data(timeline, heading)) << R"(,"traceEvents":[)";
  EventList list(out);
  for (const auto& [process, lane] : process_names(events)) {
    list.add(process_name(process, process == 0 ? "farandole" : lane));
    list.add(process_order(process));
  }
  for (const TraceEvent& event : events) list.add(event_record(event));
  out << "\n]}\n";
}

}}  // namespace farandole::report
