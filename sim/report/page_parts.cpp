#include "report/page_parts.hpp"

#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "report/heading.hpp"
#include "report/table.hpp"
#include "report/validation_summary.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

std::string errors_text(const ErrorSummary& all) {
  std::string text = fmt::format(
      "{} published rows count: the median error of the time is {:.1f} %, nine of ten "
      "are below {:.1f} %, the worst is {:.1f} %",
      all.rows, 100 * all.median, 100 * all.p90, 100 * all.worst);
  if (all.null_median)
    text += fmt::format("; plain linear scaling misses by {:.1f} % in the median", 100 * *all.null_median);
  return text + ".";
}

std::string scope_text(const ValidationContext& trust, const ErrorSummary& all) {
  if (trust.of_this_platform && all.rows > 0) return "Published runs on the same platforms, predicted the same way. ";
  if (trust.of_this_platform) {
    return "The published runs on this platform were inputs of its fit or are marked as uncertain: they are no test of "
           "it.";
  }
  return "No published run on this platform is shipped. On all other platforms together: ";
}

TimeColumn times_of_points(std::span<const ValidationPoint> points) {
  std::vector<Seconds> times;
  for (const ValidationPoint& point : points) {
    times.insert(times.end(), {Seconds(point.measured), Seconds(point.predicted)});
  }
  return time_column(times);
}

}  // namespace

Record scatter_row(const ValidationPoint& point, const std::string& name) {
  return {{"family", point.family},
          {"row", name},
          {"predicted", finite(point.predicted, "predicted")},
          {"measured", finite(point.measured, "measured")},
          {"error", finite(point.error, "error")}};
}

Cell percent_cell(double share, int decimals) {
  return {grouped(100 * share, decimals) + " %", share};
}

Cell number_cell(double number, int decimals) {
  return {grouped(number, decimals), number};
}

PageSection network_section(const std::string& platform, const std::string& text, const std::string& svg,
                            const std::vector<LinkUse>& busiest) {
  PageSection section{"network", "Where the bytes go: " + platform, {text}, {}, svg};
  Grid grid{"The busiest links", {{"link", Align::left}, {"bytes"}, {"capacity"}, {"utilisation"}}, {}};
  for (const LinkUse& link : busiest) {
    grid.rows.push_back({Cell(link.name),
                         {decimal(link.bytes), link.bytes.si()},
                         {format(link.capacity), link.capacity.si()},
                         percent_cell(link.utilisation)});
  }
  if (!grid.rows.empty()) section.grids.push_back(std::move(grid));
  return section;
}

void add_points(const std::vector<Record>& points, Page& page) {
  page.data["points"] = points;
  std::ostringstream csv;
  write_csv(csv, points.front(), points);
  page.csv = csv.str();
}

std::string trust_sentence(const ValidationContext& trust) {
  if (trust.points.empty()) return {};
  const ErrorSummary all = summarise(trust.points).front();
  if (all.rows == 0) return {};
  const std::string_view which =
      trust.of_this_platform ? "the same platforms" : "other platforms (none is of this one)";
  if (all.rows == 1)
    return fmt::format("The one published run on {} is predicted within {:.1f} %.", which, 100 * all.worst);
  return fmt::format(
      "{} published runs on {} are predicted within {:.1f} % in the median, nine of ten within {:.1f} %.", all.rows,
      which, 100 * all.median, 100 * all.p90);
}

PageSection trust_section(const ValidationContext& trust, Record& data) {
  const ErrorSummary all = summarise(trust.points).front();
  PageSection section{"trust", "Accuracy on comparable published runs"};
  section.text = {scope_text(trust, all) + (all.rows > 0 ? errors_text(all) : std::string())};
  const TimeColumn times = times_of_points(trust.points);
  Record rows = Record::array();
  Grid grid{"Published and predicted times",
            {{"published run", Align::left},
             {"row", Align::left},
             {"published (" + times.unit + ")"},
             {"predicted (" + times.unit + ")"},
             {"error"},
             {"note", Align::left}},
            {}};
  for (const ValidationPoint& point : trust.points) {
    if (point.counted) {
      rows.push_back(scatter_row(point, point.row));
    }
    grid.rows.push_back({Cell(point.family),
                         Cell(point.row),
                         times.cell(Seconds(point.measured)),
                         times.cell(Seconds(point.predicted)),
                         {signed_percent(point.error, 1), point.error},
                         Cell(point.note)});
  }
  if (!rows.empty()) {
    data["trust"] = {{"rows", rows}, {"unit", "s"}};
    section.charts.push_back(
        {"scatter", "trust",
         "Predicted against published time; on the diagonal: exact; coloured: off by more than 10 %"});
  }
  grid.folded = true;
  section.grids.push_back(std::move(grid));
  return section;
}

PageSection inputs_section(const Heading& heading, const std::string& command, const std::string& scenario) {
  PageSection section{"inputs", "What it depends on"};
  section.text = {fmt::format("Farandole {}. The same input, seed and version give the same numbers.", version())};
  if (!command.empty()) section.text.push_back("Made by: " + command);
  Grid grid{"Settings in force", {{"setting", Align::left}, {"value", Align::left}}, {}};
  for (const auto& [name, value] : heading.settings) grid.rows.push_back({Cell(name), Cell(value)});
  section.grids.push_back(std::move(grid));
  section.verbatim = scenario;
  section.folded = true;
  return section;
}

namespace {

constexpr std::array<std::pair<const char*, double>, 4> time_units{{{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}}};
constexpr double least_second = 0.1;
constexpr double least_millisecond = 0.1;  // of an iteration

}  // namespace

std::string TimeColumn::text(Seconds time) const {
  return grouped(time.si() * per_second, decimals);
}

Cell TimeColumn::cell(Seconds time) const {
  return {text(time), time.si()};
}

TimeColumn time_column(std::span<const Seconds> times) {
  Seconds least = Seconds::infinity();
  for (const Seconds time : times) {
    if (time > Seconds(0) && time < least) least = time;
  }
  if (least == Seconds::infinity()) return {"s", 1, 0};
  for (const auto& [unit, per_second] : time_units) {
    const double number = least.si() * per_second;
    if (number < (per_second == 1 ? least_second : 1) && per_second < 1e9) continue;
    constexpr int digits = 4;
    const int before_the_point = static_cast<int>(std::floor(std::log10(number))) + 1;
    return {unit, per_second, std::clamp(digits - before_the_point, 0, 6)};
  }
  return {"s", 1, 4};
}

TimeColumn iteration_column(Seconds shortest) {
  const bool is_short = shortest > Seconds(0) && shortest.si() * 1e3 < least_millisecond;
  return is_short ? TimeColumn{"us", 1e6, 3} : TimeColumn{"ms", 1e3, 3};
}

namespace {

using Points = std::span<const TrainingPoint>;

bool may_fail(const TrainingPoint& point) {
  return point.run && point.run->mtbf;
}

/// Days from two of them on, else hours, minutes or seconds: at least two digits.
std::string length(Seconds time) {
  for (const auto& [name, seconds] : {std::pair{"days", 86400}, std::pair{"hours", 3600}, std::pair{"minutes", 60}}) {
    const double amount = time.si() / seconds;
    if (amount >= 2) return fmt::format("{} {}", grouped(amount, amount < 10 ? 1 : 0), name);
  }
  return grouped(time.si(), 1) + " seconds";
}

/// "68 days at 98.2 % goodput, with 16.5 failures in the mean".
std::string takes(const WholeRun& run) {
  return fmt::format("{} at {} % goodput, with {} failures in the mean", length(run.total),
                     grouped(100 * run.goodput, 1), grouped(run.failures, 1));
}

Grid lengths(Points points, const Series& series) {
  Grid grid{"Whole runs",
            {{"run", Align::left}, {"ranks"}, {"epoch (s)"}, {"hours"}, {"p95 (hours)"}, {"failures"}, {"goodput"}},
            {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].run) continue;
    const WholeRun& run = *points[i].run;
    grid.rows.push_back({Cell(title(series, i)), number_cell(points[i].ranks, 0), number_cell(run.epoch.si()),
                         number_cell(run.total / 3600_s, 2),
                         run.total_p95 ? number_cell(*run.total_p95 / 3600_s, 2) : std::string("-"),
                         number_cell(run.failures), percent_cell(run.goodput)});
  }
  return grid;
}

Grid shares(Points points, const Series& series) {
  Grid grid{
      "Where the time of whole runs goes",
      with_figures({{"run", Align::left}, {"ranks"}}, {"goodput", "evaluation", "startup", "checkpoints", "lost work",
                                                       "restarts", "standby", "checkpoint every (s)", "best (s)"}),
      {}};
  const auto seconds = [](const std::optional<Seconds>& time) { return time ? number_cell(time->si()) : Cell("-"); };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& run = points[i].run;
    if (!run || !(run->mtbf || run->checkpoint_interval)) continue;
    std::vector<Cell> row{Cell(title(series, i)), number_cell(points[i].ranks, 0)};
    const RunShares& of = run->shares;
    for (const double share :
         {of.training, of.evaluation, of.startup, of.checkpoint, of.lost, of.restart, of.standby}) {
      row.push_back(percent_cell(share));
    }
    row.push_back(seconds(run->checkpoint_interval));
    row.push_back(seconds(run->best_interval));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

}  // namespace

std::string whole_run_sentence(Points points, const Series& series, std::span<const std::size_t> headlines) {
  const auto failing = those_of(headlines, [&](std::size_t i) { return may_fail(points[i]); });
  if (failing.empty()) return {};
  const auto total = [&](std::size_t i) { return points[i].run->total; };
  const std::size_t quickest = *std::ranges::min_element(failing, {}, total);
  const std::size_t slowest = *std::ranges::max_element(failing, {}, total);
  if (length(total(quickest)) == length(total(slowest))) {
    return fmt::format("The whole training of {} takes {}.", title(series, quickest), takes(*points[quickest].run));
  }
  return fmt::format("The whole training is shortest with {}, {}; longest with {}, {}.", title(series, quickest),
                     takes(*points[quickest].run), title(series, slowest), takes(*points[slowest].run));
}

std::optional<PageSection> whole_run_section(Points points, const Series& series) {
  PageSection section{"whole-run", "The whole training"};
  for (Grid grid : {lengths(points, series), shares(points, series)}) {
    if (!grid.rows.empty()) section.grids.push_back(std::move(grid));
  }
  if (section.grids.empty()) return std::nullopt;
  section.folded = std::ranges::none_of(points, may_fail);
  return section;
}

}}  // namespace farandole::report
