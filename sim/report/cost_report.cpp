#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/facet.hpp"
#include "report/page_parts.hpp"
#include "report/reports.hpp"

namespace farandole { inline namespace report {
namespace {

using Points = std::span<const TrainingPoint>;
using Cells = std::vector<std::string>;

constexpr std::size_t most_inputs = 6;  // of a sensitivity; JSON has all

std::string money(Money amount) {
  return grouped(amount.si(), 2);
}

/// Small enough that samples by the million are what people compare.
std::string per_million(Money per_sample) {
  return money(per_sample * 1e6);
}

std::string kwh(Joules energy) {
  return grouped(energy.si() / joules_per_kwh, 1);
}

template <class T>
std::string or_empty(const std::optional<T>& amount, std::string (*text)(T)) {
  return amount ? text(*amount) : "";
}

/// The table of one kind of row for each point that has a cost, behind what tells the points apart.
void write_cost_rows(std::ostream& out, const Facets<TrainingPoint>& facets, Points points, const Cells& headings,
                     Cells (*cells)(const TrainingPoint&)) {
  std::vector<Column> columns{{"offer", Align::left}};
  std::ranges::copy(facet_columns(facets), std::back_inserter(columns));
  Table table(with_figures(std::move(columns), headings));
  for (const TrainingPoint& point : points) {
    if (!point.cost) continue;
    Cells row{point.cost->offer};
    std::ranges::copy(facet_cells(facets, point), std::back_inserter(row));
    table.row(std::move(row), cells(point));
  }
  table.write(out);
}

Cells cost_cells(const TrainingPoint& point) {
  const JobCost& cost = *point.cost;
  return {cost.currency,
          money(cost.node * hour),
          per_million(cost.per_sample),
          or_empty(cost.per_epoch, money),
          or_empty(price_of_time_used(cost), money),
          or_empty(minimum_charge(cost), money),
          cost.node_time ? grouped(*cost.node_time / hour, 1) : "",
          grouped(cost.energy_per_sample.si(), 3),
          or_empty(cost.energy_per_run, kwh),
          cost.stretch > 1 ? signed_percent(cost.stretch - 1, 1) : ""};
}

std::string ends(const std::optional<Interval>& band, double per_unit) {
  return band ? grouped(band->low * per_unit, 2) + " .. " + grouped(band->high * per_unit, 2) : "";
}

Cells cost_band_cells(const TrainingPoint& point) {
  if (!point.bands || !point.bands->cost) return {"", "", "", ""};
  const CostBands& band = *point.bands->cost;
  return {ends(band.per_sample, 1e6), ends(band.per_run, 1), ends(band.per_sample_elsewhere, 1e6),
          break_even_band(band)};
}

void write_bands(std::ostream& out, const Facets<TrainingPoint>& facets, Points points) {
  if (!have_bands(points)) return;
  out << "\n" << band_probability(points) << " interval of costs, from " << what_bands_are_of(points) << "\n";
  write_cost_rows(out, facets, points, {"million samples", "run", "million samples elsewhere", "pays from"},
                  cost_band_cells);
}

void write_break_even(std::ostream& out, Points points) {
  for (const TrainingPoint& point : points) {
    if (!point.cost || !point.cost->comparison) continue;
    const CostComparison& elsewhere = *point.cost->comparison;
    out << fmt::format("{}, {}: against {} on {} ({} {} per million samples), ", point.model, point.cost->offer,
                       elsewhere.offer, elsewhere.platform, per_million(elsewhere.per_sample), point.cost->currency);
    out << "it pays " << when_it_pays(elsewhere) << '\n';
  }
}

void write_totals(std::ostream& out, Points points) {
  std::size_t years = 0;
  for (const TrainingPoint& point : points) years = std::max(years, point.cost ? point.cost->totals.size() : 0);
  std::vector<Column> columns{{"offer", Align::left}, {"nodes"}, {"in use (%)"}};
  for (std::size_t i = 0; i < years; ++i) columns.push_back({fmt::format("year {}", i)});
  Table table(std::move(columns));
  for (const TrainingPoint& point : points) {
    if (!point.cost) continue;
    const double machines = share_of_work(points, point);
    Cells row{point.cost->offer, grouped(point.nodes * machines, 1), grouped(point.cost->utilisation * 100, 0)};
    for (const Money total : point.cost->totals) row.push_back(grouped(total.si() * machines, 0));
    row.resize(years + 3);
    table.row(std::move(row));
  }
  table.write(out);
}

void write_sensitivity(std::ostream& out, const TrainingPoint& point) {
  const JobCost& cost = *point.cost;
  out << fmt::format("\n{}, {}: {} per million samples with one input at the end of its range\n", point.model,
                     cost.offer, cost.currency);
  Table table({{"input", Align::left}, {"low", Align::left}, {"cost"}, {"high", Align::left}, {"cost"}});
  const std::size_t count = std::min(most_inputs, cost.sensitivity.size());
  for (const CostSensitivity& input : std::span(cost.sensitivity).first(count)) {
    table.row({input.input, input.low, per_million(input.at_low), input.high, per_million(input.at_high)});
  }
  table.write(out);
}

/// Points of one offer assume the same.
void write_assumptions(std::ostream& out, Points points) {
  Cells said;
  for (const TrainingPoint& point : points) {
    if (!point.cost || point.cost->assumptions.empty()) continue;
    const std::string line = fmt::format("{} ({}) assumes {}", point.cost->offer, point.cost->date,
                                         fmt::join(point.cost->assumptions, ", "));
    if (std::ranges::find(said, line) != said.end()) continue;
    said.push_back(line);
    out << "# " << printable(line) << '\n';
  }
}

}  // namespace

void write_costs(std::ostream& out, const Facets<TrainingPoint>& facets, Points points) {
  const auto has_cost = [](const TrainingPoint& point) { return point.cost.has_value(); };
  if (std::ranges::none_of(points, has_cost)) return;
  out << "\nCost and energy\n";
  write_cost_rows(out, facets, points,
                  {"currency", "node hour", "million samples", "epoch", "run", "minimum charge", "node hours",
                   "J/sample", "run (kWh)", "interruptions"},
                  cost_cells);
  write_break_even(out, points);
  write_bands(out, facets, points);
  out << "\nCumulative cost of ownership, for as much work as the first does; in the last year what is left is "
         "credited\n";
  write_totals(out, points);
  for (const TrainingPoint& point : points) {
    if (point.cost && !point.cost->sensitivity.empty()) write_sensitivity(out, point);
  }
  out << '\n';
  write_assumptions(out, points);
}

}}  // namespace farandole::report
