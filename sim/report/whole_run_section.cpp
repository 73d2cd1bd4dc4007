
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/page_parts.hpp"
#include "report/table.hpp"

namespace farandole { inline namespace report {
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
