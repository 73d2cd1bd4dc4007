// Sections of pages: what runs cost, whole trainings, and what every page ends with: how accurate comparable
// predictions were, and what it depends on.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/page.hpp"
#include "report/pages.hpp"
#include "report/series.hpp"
#include "timeline/job_cost.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace report {

/// "Published runs on the same platforms are predicted within 2.2 % in the median, nine of ten within 10.2 %."; empty
/// where none counts.
std::string trust_sentence(const ValidationContext& trust);

/// The rows of published runs with their errors, as a chart and a table. `data` receives what the chart draws.
PageSection trust_section(const ValidationContext& trust, Record& data);

/// A row of what a chart "scatter" draws.
Record scatter_row(const ValidationPoint& point, const std::string& name);

/// Command, version and settings, as they were in force; `scenario` may be empty.
PageSection inputs_section(const Heading& heading, const std::string& command, const std::string& scenario);

/// The picture of the platform, and its busiest links; `text` says what the colours are.
PageSection network_section(const std::string& platform, const std::string& text, const std::string& svg,
                            const std::vector<LinkUse>& busiest);

/// Every key of every point, for the page's scripts and to be downloaded.
void add_points(const std::vector<Record>& points, Page& page);

/// "12.3 %", sorted by the number.
Cell percent_cell(double share, int decimals = 1);

/// "1,234.5", sorted by the number.
Cell number_cell(double number, int decimals = 1);

// What runs cost, for their page: which way is cheapest, over years, and what the cost is sensitive to.
//
// Used by training_page.cpp and answer.cpp. Costs are compared in the currency of the first that has one.

/// "Cheapest is 8 p4d on the spot market, 26 USD a run; most expensive ...", at the price of the time used; then what
/// is charged at least, and where a price breaks even. Empty where nothing costs anything.
std::vector<std::string> cost_sentences(std::span<const TrainingPoint> points, const Series& series);

/// Nothing where no point has a cost. `data` receives what the charts draw.
std::optional<PageSection> cost_section(std::span<const TrainingPoint> points, const Series& series, Record& data);

/// When it pays: "above 31 % utilisation", "up to 67 % utilisation", "at every utilisation", "at no utilisation"; in
/// tables, headlines and texts alike.
std::string when_it_pays(const CostComparison& elsewhere);

/// From which utilisation on it pays: "24 .. 40 %", "24 .. never"; empty where it never pays.
std::string break_even_band(const CostBands& band);

// What a run costs at the price of the time it takes, and whether it is charged more than that.
//
// Used by the writers of this room. An offer may charge a minimum of every run (a capacity block: a day). A run that is
// shorter pays for time that it leaves over, which other jobs may use; so costs are compared at the price of the time
// used, and the minimum stands beside it.

inline constexpr double joules_per_kwh = 3.6e6;

/// Nothing where the scenario has no whole run.
inline std::optional<Money> price_of_time_used(const JobCost& cost) {
  return cost.node_time ? std::optional(cost.node * *cost.node_time) : std::nullopt;
}

/// Curves of ownership compare the same work, that of the first point with a cost at its utilisation: so many times the
/// nodes of `point` do it. Work is runs where all have one, else samples, as in the headline.
inline double share_of_work(std::span<const TrainingPoint> points, const TrainingPoint& point) {
  const bool of_runs = std::ranges::all_of(points, [](const TrainingPoint& p) { return !p.cost || p.run; });
  const auto work = [&](const TrainingPoint& p) {
    return p.cost->utilisation / p.cost->stretch * (of_runs ? 1 / p.run->total.si() : p.samples_per_second);
  };
  for (const TrainingPoint& first : points) {
    if (first.cost) return work(first) / work(point);
  }
  return 1;
}

/// What is charged where a minimum is; nothing where the run takes longer than that.
inline std::optional<Money> minimum_charge(const JobCost& cost) {
  constexpr double rounding = 1e-9;
  const auto used = price_of_time_used(cost);
  return used && cost.per_run && *cost.per_run > *used * (1 + rounding) ? cost.per_run : std::nullopt;
}

// Whole trainings, for their page: how long they take, what failures and checkpoints cost them.
//
// Used by training_page.cpp and answer.cpp.

/// "The whole training takes 68 days at 98 % goodput, with 16.5 failures in the mean." of the points at `headlines`
/// that may fail: the quickest, and the slowest where it takes longer. Empty where nothing fails.
std::string whole_run_sentence(std::span<const TrainingPoint> points, const Series& series,
                               std::span<const std::size_t> headlines);

/// Tables of all runs; nothing where there are none. Folded unless something fails, as then it is what was asked.
std::optional<PageSection> whole_run_section(std::span<const TrainingPoint> points, const Series& series);

}}  // namespace farandole::report
