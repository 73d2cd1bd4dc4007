#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "report/series.hpp"

namespace farandole { inline namespace report {
namespace {

using Points = std::span<const TrainingPoint>;

/// From the start of the last iteration but one to that of the last, which the end of the recording may cut short.
std::pair<Seconds, Seconds> last_whole_iteration(const std::vector<Span>& spans) {
  std::vector<Seconds> starts;
  Seconds end;
  for (const Span& span : spans) {
    if (span.activity == "FORWARD_BACKWARD" || span.activity == "ITERATION") starts.push_back(span.start);
    end = std::max(end, span.start + span.duration);
  }
  if (starts.empty()) return {};
  std::ranges::sort(starts);
  return starts.size() == 1 ? std::pair(starts.front(), end) : std::pair(starts[starts.size() - 2], starts.back());
}

constexpr double worth_showing = 0.5;  // percentage points of efficiency; the table has all

}  // namespace

void shade(Record& row, const Interval& band, double per_unit) {
  row["low"] = finite(band.low * per_unit, "low");
  row["high"] = finite(band.high * per_unit, "high");
}

Record curves_data(Points points, const Series& series, const Ordinate& measure, std::span<const PublishedMark> marks,
                   std::size_t accent) {
  Record rows = Record::array();
  for (std::size_t i = 0; i < points.size(); ++i) {
    Record row{{"series", series.name[i]}, {"y", finite(measure.of_point(points[i]), measure.name)}};
    row["x"] = series.axis == "ranks" ? Record(points[i].ranks) : Record(series.along[i]);
    if (points[i].bands) shade(row, (*points[i].bands).*measure.band);
    rows.push_back(std::move(row));
  }
  Record published = Record::array();
  for (const PublishedMark& mark : marks) {
    if (series.axis != "ranks") break;
    published.push_back({{"series", series.name[mark.point]},
                         {"x", mark.ranks},
                         {"y", finite(measure.of_mark(mark), measure.name)},
                         {"source", mark.source}});
  }
  return {{"axis", series.axis},
          {"measure", measure.name},
          {"unit", measure.is_share ? "of linear scaling" : measure.name},
          {"share", measure.is_share},
          {"rows", rows},
          {"marks", published},
          {"accent", series.name[accent]}};
}

Record shares_data(Points points, const Series& series, const std::vector<std::size_t>& shown) {
  Record rows = Record::array();
  for (const std::size_t i : shown) {
    const bool by_ranks = series.axis == "ranks";
    std::string label = series.name[i];
    if (!series.axis.empty())
      label += ", " + series.along[i] + (by_ranks ? (points[i].ranks == 1 ? " rank" : " ranks") : "");
    rows.push_back({{"label", label}, {"seconds", to_record(points[i]).at("breakdown")}});
  }
  return {{"rows", rows}};
}

Record waterfall_data(const TrainingPoint& point) {
  const auto row = [](const WaterfallPart& part) -> Record {
    return {{"name", part.name}, {"seconds", finite(part.time.si(), part.name)}};
  };
  return {{"rows", mapped(point.explanation->waterfall, row)},
          {"total", finite(point.iteration.si(), "iteration_seconds")}};
}

Record what_if_data(const TrainingPoint& point) {
  Record rows = Record::array();
  for (const WhatIf& what_if : point.explanation->what_ifs) {
    if (what_if.kind == "uncertain" || std::abs(what_if.efficiency_points) < worth_showing) continue;
    rows.push_back({{"change", what_if.change},
                    {"kind", what_if.kind},
                    {"points", finite(what_if.efficiency_points, "efficiency_points")},
                    {"samples_per_second", finite(what_if.samples_per_second, "samples_per_second")}});
  }
  return {{"rows", rows}};
}

Record timeline_data(const Timeline& timeline) {
  const auto [from, to] = last_whole_iteration(timeline.spans());
  if (to <= from) return {};
  std::map<std::tuple<Seconds, Seconds, std::string>, std::vector<std::string>> lanes_of;
  for (const Span& span : timeline.spans()) {
    if (span.start < from || span.start >= to) continue;
    lanes_of[{span.start, span.start + span.duration, span.activity}].push_back(span.lane);
  }
  Record rows = Record::array();
  for (const auto& [key, lanes] : lanes_of) {
    const auto& [start, end, activity] = key;
    rows.push_back({{"activity", activity},
                    {"from", finite((start - from).si(), "from")},
                    {"to", finite((end - from).si(), "to")},
                    {"lanes", lanes.size()},
                    {"lane", lanes.front()}});
  }
  return {{"rows", rows}, {"total", finite((to - from).si(), "total")}};
}

}}  // namespace farandole::report
