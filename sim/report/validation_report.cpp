#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "report/field_record.hpp"
#include "report/heading.hpp"
#include "report/page.hpp"
#include "report/reports.hpp"
#include "report/table.hpp"
#include "report/validation_summary.hpp"

namespace farandole { inline namespace report {
namespace {

using ValidationPoints = std::span<const ValidationPoint>;

/// Rows of training that are not counted and missed by a tenth or more, the worst first.
std::vector<ValidationPoint> uncounted_misses(ValidationPoints points) {
  auto misses = those_of(points, [](const ValidationPoint& point) {
    return !point.counted && point.operation == "training" && std::abs(point.error) >= 0.1;
  });
  std::ranges::stable_sort(misses, {}, [](const ValidationPoint& row) { return -std::abs(row.error); });
  return misses;
}

Record miss_record(const ValidationPoint& row) {
  return {{"family", row.family}, {"row", row.row}, {"error", row.error}, {"note", row.note}};
}

Record ratios_record(const RatioPairs& ratios) {
  return {{"kinds", records_of(by_kind(ratios.pairs))},
          {"strategies", records_of(by_strategy(ratios.pairs))},
          {"sureness", records_of(by_sureness(ratios.pairs))},
          {"rows_left_out", ratios.left_out},
          {"pairs", records_of(ratios.pairs)}};
}

TimeColumn times_of_point(const ValidationPoint& point) {
  return time_column(std::array{Seconds(point.measured), Seconds(point.predicted)});
}

/// Predicted and measured, in one unit.
std::pair<std::string, std::string> figures(const ValidationPoint& point) {
  if (point.unit != "s") {
    return {fmt::format("{:.5g} {}", point.predicted, point.unit),
            fmt::format("{:.5g} {}", point.measured, point.unit)};
  }
  const TimeColumn times = times_of_point(point);
  const auto text = [&](double seconds) { return times.text(Seconds(seconds)) + " " + times.unit; };
  return {text(point.predicted), text(point.measured)};
}

std::string share(const std::optional<double>& fraction) {
  return fraction ? percent_with_decimal(*fraction) : std::string();
}

std::string band(const ValidationPoint& point) {
  if (!point.band) return {};
  const std::string out = inside_band(point) ? "" : " (out)";
  if (point.unit != "s") return fmt::format("{:.4g} .. {:.4g}{}", point.band->low, point.band->high, out);
  const TimeColumn times = times_of_point(point);
  return times.text(Seconds(point.band->low)) + " .. " + times.text(Seconds(point.band->high)) + " " + times.unit + out;
}

void write_validation_rows(std::ostream& out, ValidationPoints points) {
  const bool banded = std::ranges::any_of(points, [](const ValidationPoint& p) { return p.band.has_value(); });
  const bool compared = std::ranges::any_of(points, [](const ValidationPoint& p) { return p.null_model.has_value(); });
  std::vector<Column> columns{{"family", Align::left}, {"row", Align::left}, {"predicted"}, {"measured"}, {"error"}};
  if (compared) columns.push_back({"baseline"});
  if (banded) columns.push_back({"80 % interval", Align::left});
  columns.push_back({"note", Align::left});
  Table table(std::move(columns));
  for (const ValidationPoint& point : points) {
    const auto [predicted, measured] = figures(point);
    std::vector<std::string> cells{printable(point.family), printable(point.row), predicted, measured,
                                   signed_percent(point.error, 1)};
    if (compared) cells.push_back(point.null_model ? signed_percent(*point.null_model, 1) : std::string());
    if (banded) cells.push_back(band(point));
    cells.push_back(point.counted ? std::string() : "not counted: " + printable(point.note));
    table.row(std::move(cells));
  }
  table.write(out);
}

void write_ratio_summaries(std::ostream& out, const char* heading, const std::vector<RatioSummary>& summaries) {
  Table table({{heading, Align::left},
               {"pairs"},
               {"files"},
               {"median error"},
               {"no change"},
               {"linear scaling"},
               {"wrong sign", Align::right},
               {"inside the 80 % interval"}});
  for (const RatioSummary& line : summaries) {
    table.row({line.group, std::to_string(line.pairs), std::to_string(line.files), percent_with_decimal(line.median),
               percent_with_decimal(line.no_change), share(line.linear),
               fmt::format("{} of {}", line.wrong_signs, line.changes), percent_with_decimal(line.inside_band)});
  }
  table.write(out);
  out << '\n';
}

/// What to read first: differences, which is what decisions rest on.
void write_ratios(std::ostream& out, const RatioPairs& ratios) {
  if (ratios.pairs.empty()) return;
  write_ratio_summaries(out, "two published runs that differ in", by_kind(ratios.pairs));
  write_ratio_summaries(out, "the same by strategy", by_strategy(ratios.pairs));
  Table sureness({{"P(faster) or P(slower)"}, {"pairs"}, {"came out"}});
  for (const SurenessClass& one : by_sureness(ratios.pairs)) {
    const std::string came_out = one.pairs > 0 ? percent_with_decimal(double(one.right) / one.pairs) : "";
    sureness.row({fmt::format("{:.0f} to {:.0f} %", 100 * one.least, 100 * std::min(one.most, 0.95)),
                  std::to_string(one.pairs), came_out});
  }
  sureness.write(out);
  out << '\n';
  Table left_out({{"rows in no pair", Align::left}, {"rows"}});
  for (const auto& [reason, rows] : ratios.left_out) left_out.row({printable(reason), std::to_string(rows)});
  left_out.write(out);
  out << '\n';
}

/// What the summary leaves out.
void write_misses(std::ostream& out, ValidationPoints points) {
  const auto misses = uncounted_misses(points);
  if (misses.empty()) return;
  Table table({{"not counted, and missed by 10 % or more", Align::left},
               {"row", Align::left},
               {"error"},
               {"why", Align::left}});
  for (const ValidationPoint& row : misses) {
    table.row({printable(row.family), printable(row.row), signed_percent(row.error, 1), printable(row.note)});
  }
  table.write(out);
  out << '\n';
}

void write_summary(std::ostream& out, ValidationPoints points) {
  const auto summaries = summarise(points);
  const bool banded = summaries.front().inside_band.has_value();
  const bool compared = summaries.front().null_median.has_value();
  std::vector<Column> columns{{"counted rows", Align::left}, {"rows"},  {"median"},
                              {"90th percentile"},           {"worst"}, {"bias"}};
  if (compared) columns.push_back({"linear-scaling baseline"});
  if (banded) columns.push_back({"inside the 80 % interval"});
  Table table(std::move(columns));
  for (const ErrorSummary& summary : summaries) {
    std::vector<std::string> cells{
        printable(summary.group),          std::to_string(summary.rows),        percent_with_decimal(summary.median),
        percent_with_decimal(summary.p90), percent_with_decimal(summary.worst), signed_percent(summary.bias, 1)};
    if (compared) cells.push_back(share(summary.null_median));
    if (banded) cells.push_back(share(summary.inside_band));
    table.row(std::move(cells));
  }
  table.write(out);
}

void write_validation_json(std::ostream& out, const Heading& heading, ValidationPoints points,
                           const RatioPairs& ratios) {
  Record document{{"farandole", version()}, {"scenario", heading.scenario}, {"settings", Record(heading.settings)}};
  if (!ratios.pairs.empty()) document["uncounted_misses"] = mapped(uncounted_misses(points), miss_record);
  document["summary"] = records_of(summarise(points));
  if (!ratios.pairs.empty()) document["ratios"] = ratios_record(ratios);
  document["points"] = records_of(points);
  out << json_text(document, 2) << '\n';
}

}  // namespace

void write_validation(std::ostream& out, Format format, const Heading& heading, ValidationPoints points,
                      const RatioPairs& ratios) {
  if (format == Format::json) return write_validation_json(out, heading, points, ratios);
  if (format == Format::csv) return write_csv(out, record_of(ValidationPoint{}), records_of(points));
  write_title(out, heading);
  write_ratios(out, ratios);
  write_misses(out, points);
  write_validation_rows(out, points);
  out << '\n';
  write_summary(out, points);
  write_settings(out, heading);
}

double worst_error(ValidationPoints points) {
  double worst = 0;
  for (const ValidationPoint& point : points) {
    if (point.counted) worst = std::max(worst, std::abs(point.error));
  }
  return worst;
}

}}  // namespace farandole::report
