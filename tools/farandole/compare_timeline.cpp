#include "compare_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include "report/heading.hpp"
#include "report/record.hpp"

namespace farandole {
namespace {

struct DrawnSpan {
  std::string lane;
  std::string name;
  std::string kind;
  std::int64_t begin = 0;  // ns: ends of nested spans still nest after rounding
  std::int64_t end = 0;
};

std::vector<DrawnSpan> drawn_spans(const TimelineSide& side) {
  const double zero = side.windows.front().begin;
  const auto since = [&](double at) { return std::llround((at - zero) * 1e9); };
  std::vector<DrawnSpan> spans;
  for (std::size_t i = 0; i < side.windows.size(); ++i)
    spans.push_back(
        {"steps", "step " + std::to_string(i), "step", since(side.windows[i].begin), since(side.windows[i].end)});
  for (const DeviceWork& work : side.trace.work) {
    const double begin = std::max(work.begin, zero);
    const double end = std::min(work.end, side.windows.back().end);
    if (end <= begin) continue;
    const bool communicates = work.work.kind == KernelClass::communication;
    spans.push_back({work.lane, work.name, communicates ? work.work.collective : std::string(words_of(work.work.kind)),
                     since(begin), since(end)});
  }
  std::ranges::stable_sort(spans, [](const DrawnSpan& a, const DrawnSpan& b) {
    return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
  });
  return spans;
}

/// Rows of a process: several of a lane where its spans overlap without nesting.
class TimelineRows {
 public:
  int row_of(const DrawnSpan& span) {
    std::vector<Row>& rows = lanes_[span.lane];
    for (Row& row : rows) {
      while (!row.open.empty() && row.open.back() <= span.begin) row.open.pop_back();
      if (!row.open.empty() && span.end > row.open.back()) continue;
      row.open.push_back(span.end);
      return row.number;
    }
    rows.push_back({next_, {span.end}});
    return next_++;
  }

  [[nodiscard]] std::map<int, std::string> names() const {
    std::map<int, std::string> names;
    for (const auto& [lane, rows] : lanes_) {
      for (const Row& row : rows) names[row.number] = lane;
    }
    return names;
  }

 private:
  struct Row {
    int number = 0;
    std::vector<std::int64_t> open;  // ends, the innermost last
  };
  std::map<std::string, std::vector<Row>> lanes_;
  int next_ = 1;
};

class TimelineEvents {
 public:
  explicit TimelineEvents(std::ostream& out) : out_(out) {}

  void side(int process, const TimelineSide& side) {
    add({{"name", "process_name"}, {"ph", "M"}, {"pid", process}, {"args", {{"name", side.process}}}});
    add({{"name", "process_sort_index"}, {"ph", "M"}, {"pid", process}, {"args", {{"sort_index", process}}}});
    TimelineRows rows;
    for (const DrawnSpan& span : drawn_spans(side)) {
      add({{"name", span.name},
           {"cat", span.kind},
           {"ph", "X"},
           {"ts", static_cast<double>(span.begin) / 1e3},
           {"dur", static_cast<double>(span.end - span.begin) / 1e3},
           {"pid", process},
           {"tid", rows.row_of(span)},
           {"args", {{"class", span.kind}}}});
    }
    for (const auto& [row, lane] : rows.names())
      add({{"name", "thread_name"}, {"ph", "M"}, {"pid", process}, {"tid", row}, {"args", {{"name", lane}}}});
  }

 private:
  void add(const Record& event) {
    out_ << (first_ ? "\n" : ",\n") << json_text(event);
    first_ = false;
  }

  std::ostream& out_;
  bool first_ = true;
};

}  // namespace

void write_compared_timeline(std::ostream& out, const std::vector<TimelineSide>& sides) {
  out << R"({"displayTimeUnit":"ms","otherData":)" << json_text({{"farandole", version()}}) << R"(,"traceEvents":[)";
  TimelineEvents events(out);
  int process = 0;
  for (const TimelineSide& side : sides) events.side(++process, side);
  out << "\n]}\n";
}

}  // namespace farandole
