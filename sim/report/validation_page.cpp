#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "report/page.hpp"
#include "report/page_parts.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"
#include "report/validation_summary.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

using ValidationPoints = std::span<const ValidationPoint>;

/// "allreduce, 16777216 bytes, 8 ranks" with "16.8 MB".
std::string row_of(const ValidationPoint& point) {
  const std::string exact = fmt::format("{:.0f} bytes", point.bytes.si());
  std::string row = point.row;
  if (const auto at = row.find(exact); at != std::string::npos) row.replace(at, exact.size(), decimal(point.bytes));
  return row;
}

/// "Half of 79 training steps are predicted within 2.2 %, nine of ten within 10.2 %."
std::string how_far(ValidationPoints points, const std::string& what) {
  const ErrorSummary all = summarise(points).front();
  if (all.rows == 0) return {};
  if (all.rows == 1) return fmt::format("The one prediction of {} is {:.1f} % off.", what, 100 * all.worst);
  std::string text = fmt::format("Half of {} {} are predicted within {:.1f} %, nine of ten within {:.1f} %", all.rows,
                                 what, 100 * all.median, 100 * all.p90);
  if (all.null_median)
    text += fmt::format("; plain linear scaling misses by {:.1f} % in the median", 100 * *all.null_median);
  return text + ".";
}

/// "Half of 479 ratios of two runs that differ in one thing are predicted within 2.0 %; ..."
std::string how_different(const RatioPairs& ratios) {
  if (ratios.pairs.empty()) return {};
  const RatioSummary all = by_kind(ratios.pairs).front();
  return fmt::format(
      "Half of {} ratios of two published runs that differ in one thing are predicted within {:.1f} %, and {} of {} "
      "changes by more than 5 % with the wrong sign.",
      all.pairs, 100 * all.median, all.wrong_signs, all.changes);
}

std::vector<std::string> validation_answer(const ErrorSummary& all, ValidationPoints points, const RatioPairs& ratios) {
  if (all.rows == 0) return {"No row counts, so nothing is said of the error."};
  std::vector<ValidationPoint> training;
  std::vector<ValidationPoint> collectives;
  for (const ValidationPoint& point : points) (point.operation == "training" ? training : collectives).push_back(point);
  std::vector<std::string> sentences{how_different(ratios), how_far(training, "training steps"),
                                     how_far(collectives, "collectives")};
  std::erase(sentences, "");
  const auto size = [](const ValidationPoint& point) { return point.counted ? std::abs(point.error) : -1; };
  const ValidationPoint& worst = *std::ranges::max_element(points, {}, size);
  sentences.push_back(
      fmt::format("The worst is {} off: {}, {}.", signed_percent(worst.error, 1), worst.family, row_of(worst)));
  if (all.inside_band) {
    sentences.push_back(
        fmt::format("{:.0f} % of the measurements fall into their 80 % interval.", 100 * *all.inside_band));
  }
  return sentences;
}

/// Everything that is in seconds, as nearly all is.
Record scatter(ValidationPoints points) {
  Record rows = Record::array();
  for (const ValidationPoint& point : points) {
    if (!point.counted || point.unit != "s" || !(point.predicted > 0) || !(point.measured > 0)) continue;
    rows.push_back(scatter_row(point, row_of(point)));
  }
  return {{"rows", rows}, {"unit", "s"}};
}

Record errors(ValidationPoints points) {
  Record rows = Record::array();
  for (const ValidationPoint& point : points) {
    if (!point.counted || !(point.bytes > Bytes(0))) continue;
    rows.push_back(
        {{"family", point.family}, {"row", row_of(point)}, {"bytes", point.bytes.si()}, {"error", point.error}});
  }
  return {{"rows", rows}};
}

Grid summary_grid(const std::vector<ErrorSummary>& groups) {
  Grid grid{"Errors by group",
            {{"counted rows", Align::left},
             {"rows"},
             {"median"},
             {"90th percentile"},
             {"worst"},
             {"linear-scaling baseline"}},
            {}};
  for (const ErrorSummary& group : groups) {
    grid.rows.push_back({Cell(group.group), number_cell(group.rows, 0), percent_cell(group.median),
                         percent_cell(group.p90), percent_cell(group.worst),
                         group.null_median ? percent_cell(*group.null_median) : Cell("")});
  }
  return grid;
}

Grid row_grid(ValidationPoints points) {
  Grid grid{"Every row",
            {{"family", Align::left},
             {"row", Align::left},
             {"predicted"},
             {"measured"},
             {"unit", Align::left},
             {"error"},
             {"note", Align::left}},
            {}};
  for (const ValidationPoint& point : points) {
    const bool is_time = point.unit == "s";
    const TimeColumn times =
        is_time ? time_column(std::array{Seconds(point.measured), Seconds(point.predicted)}) : TimeColumn{};
    const auto cell = [&](double value) {
      return is_time ? times.cell(Seconds(value)) : Cell(fmt::format("{:.5g}", value), value);
    };
    grid.rows.push_back({Cell(point.family),
                         Cell(point.row),
                         cell(point.predicted),
                         cell(point.measured),
                         Cell(is_time ? times.unit : point.unit),
                         {signed_percent(point.error, 1), point.error},
                         Cell(point.note)});
  }
  return grid;
}

}  // namespace

Page validation_page(const Heading& heading, const std::string& command, ValidationPoints points,
                     const RatioPairs& ratios) {
  const std::vector<ErrorSummary> groups = summarise(points);
  std::ostringstream csv;
  write_validation(csv, Format::csv, heading, points);  // refuses what is not finite
  Page page;
  page.kicker = "Farandole · predicted beside measured";
  page.answer = validation_answer(groups.front(), points, ratios);
  page.csv = csv.str();
  page.data["scatter"] = scatter(points);
  page.data["errors"] = errors(points);
  PageSection pictures{"errors", "How far off"};
  if (!page.data["scatter"]["rows"].empty()) {
    pictures.charts.push_back(
        {"scatter", "scatter",
         "Predicted against measured time; on the diagonal: exact; coloured: off by more than 10 %"});
  }
  if (!page.data["errors"]["rows"].empty()) {
    pictures.charts.push_back(
        {"errors", "errors", "Error over size: predicted / measured - 1, linear to 10 % and logarithmic beyond"});
  }
  pictures.grids.push_back(summary_grid(groups));
  page.sections.push_back(std::move(pictures));
  page.sections.push_back({.id = "table", .heading = "The numbers", .grids = {row_grid(points)}});
  page.sections.push_back(inputs_section(heading, command, ""));
  return page;
}

}}  // namespace farandole::report
