
#include <algorithm>

#include <fmt/format.h>

#include "report/facet.hpp"
#include "report/page_parts.hpp"
#include "report/series.hpp"

namespace farandole { inline namespace report {
namespace {

using Points = std::span<const TrainingPoint>;

constexpr double million = 1e6;
constexpr std::size_t widest_tornado = 6;  // of a sensitivity; JSON has all

/// The points whose costs can be compared.
std::vector<std::size_t> comparable(Points points) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].cost) continue;
    if (found.empty() || points[i].cost->currency == points[found.front()].cost->currency) found.push_back(i);
  }
  return found;
}

bool all_have_runs(Points points, const std::vector<std::size_t>& chosen) {
  return std::ranges::all_of(chosen, [&](std::size_t i) { return price_of_time_used(*points[i].cost).has_value(); });
}

/// Of a run where all have one, at the price of the time it takes: what a minimum adds to that buys time which is left
/// over. Else of a million samples.
Money price(const TrainingPoint& point, bool of_run) {
  return of_run ? *price_of_time_used(*point.cost) : point.cost->per_sample * million;
}

/// Of a run that is charged for the time it takes; a minimum makes another sum of it.
std::optional<Interval> price_band(const TrainingPoint& point, bool of_run) {
  if (!point.bands || !point.bands->cost) return std::nullopt;
  const CostBands& cost = *point.bands->cost;
  if (of_run) return minimum_charge(*point.cost) ? std::nullopt : cost.per_run;
  return Interval{cost.per_sample.low * million, cost.per_sample.high * million};
}

Record bars_or_curves(Points points, const Series& series, const std::vector<std::size_t>& chosen) {
  const bool of_run = all_have_runs(points, chosen);
  Record rows = Record::array();
  std::size_t cheapest = chosen.front();
  for (const std::size_t i : chosen) {
    if (price(points[i], of_run) < price(points[cheapest], of_run)) cheapest = i;
    Record row{{"series", series.name[i]}, {"y", finite(price(points[i], of_run).si(), "cost")}};
    row["x"] = series.axis == "ranks" ? Record(points[i].ranks) : Record(series.along[i]);
    if (const auto band = price_band(points[i], of_run)) shade(row, *band);
    rows.push_back(std::move(row));
  }
  return {{"axis", series.axis}, {"measure", "cost"},       {"unit", points[chosen.front()].cost->currency},
          {"share", false},      {"rows", std::move(rows)}, {"accent", series.name[cheapest]}};
}

/// What the nodes cost over years; null where no offer says.
Record totals(Points points, const Series& series, const std::vector<std::size_t>& chosen, const Record& accent) {
  Record rows = Record::array();
  for (const std::size_t i : chosen) {
    const std::vector<Money>& years = points[i].cost->totals;
    const double machines = share_of_work(points, points[i]);
    for (std::size_t year = 0; year < years.size(); ++year) {
      rows.push_back({{"series", series.name[i]},
                      {"x", static_cast<int>(year)},
                      {"y", finite(years[year].si() * machines, "total")}});
    }
  }
  if (rows.empty()) return {};
  return {
      {"axis", "years"}, {"measure", "total cost"}, {"unit", points[chosen.front()].cost->currency}, {"share", false},
      {"rows", rows},    {"accent", accent}};
}

Record tornado(const JobCost& cost) {
  Record rows = Record::array();
  for (const CostSensitivity& input :
       std::span(cost.sensitivity).first(std::min(widest_tornado, cost.sensitivity.size()))) {
    rows.push_back({{"input", input.input},
                    {"low", input.low},
                    {"high", input.high},
                    {"at_low", finite(input.at_low.si() * million, "at_low")},
                    {"at_high", finite(input.at_high.si() * million, "at_high")}});
  }
  return {{"rows", rows}, {"base", finite(cost.per_sample.si() * million, "cost")}, {"unit", cost.currency}};
}

template <class T>
Cell amount_cell(const std::optional<T>& amount, double unit, int decimals) {
  return amount ? number_cell(amount->si() / unit, decimals) : Cell("");
}

/// " (24 .. 40 %)"; the high end is open where it does not always pay.
std::string share_band(const TrainingPoint& point) {
  const std::string ends = point.bands && point.bands->cost ? break_even_band(*point.bands->cost) : "";
  return ends.empty() ? "" : " (" + ends + ")";
}

Cell break_even_cell(const TrainingPoint& point) {
  const JobCost& cost = *point.cost;
  if (!cost.comparison) return Cell("");
  const CostComparison& elsewhere = *cost.comparison;
  const std::string words = when_it_pays(elsewhere) + share_band(point) + ", against " + elsewhere.offer;
  return elsewhere.break_even_utilisation ? Cell(words, *elsewhere.break_even_utilisation) : Cell(words);
}

Grid cost_grid(Points points, const Series& series) {
  Grid grid{"Cost and energy",
            {{"run", Align::left},
             {"offer", Align::left},
             {"currency", Align::left},
             {"node hour"},
             {"million samples"},
             {"epoch"},
             {"run"},
             {"minimum charge"},
             {"run (kWh)"},
             {"pays", Align::left}},
            {}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].cost) continue;
    const JobCost& cost = *points[i].cost;
    grid.rows.push_back({Cell(title(series, i)), Cell(cost.offer + " (" + cost.date + ")"), Cell(cost.currency),
                         number_cell((cost.node * hour).si(), 2), number_cell(cost.per_sample.si() * million, 2),
                         amount_cell(cost.per_epoch, 1, 2), amount_cell(price_of_time_used(cost), 1, 2),
                         amount_cell(minimum_charge(cost), 1, 2), amount_cell(cost.energy_per_run, joules_per_kwh, 1),
                         break_even_cell(points[i])});
  }
  return grid;
}

/// What no source backs, by offer.
Grid assumptions(Points points) {
  Grid grid{"Assumptions without a source", {{"offer", Align::left}, {"input", Align::left}}, {}};
  std::vector<std::string> said;
  for (const TrainingPoint& point : points) {
    if (!point.cost || std::ranges::find(said, point.cost->offer) != said.end()) continue;
    said.push_back(point.cost->offer);
    for (const std::string& input : point.cost->assumptions)
      grid.rows.push_back({Cell(point.cost->offer), Cell(input)});
  }
  return grid;
}

/// "8 DGX A100 bought beats aws-p4d-on-demand above 31 % utilisation."; of the first that says.
std::string break_even_sentence(Points points, const Series& series, const std::vector<std::size_t>& chosen) {
  for (const std::size_t i : chosen) {
    const auto& elsewhere = points[i].cost->comparison;
    if (!elsewhere || !(elsewhere->break_even_utilisation || elsewhere->pays_up_to_utilisation)) continue;
    return fmt::format("{} beats {} {}.", title(series, i), elsewhere->offer, when_it_pays(*elsewhere));
  }
  return {};
}

/// "With the minimum that is charged, a single run is 2,832 USD for resnet50 (8 p4d in a capacity block)."; empty
/// where no run is shorter than that.
std::string minimum_sentence(Points points, const Series& series, const std::vector<std::size_t>& chosen) {
  std::string list;
  for (const std::size_t i : chosen) {
    const auto charge = minimum_charge(*points[i].cost);
    if (!charge) continue;
    list += fmt::format("{}{} {} for {}", list.empty() ? "" : ", ", grouped(charge->si(), 0), points[i].cost->currency,
                        title(series, i));
  }
  return list.empty() ? "" : fmt::format("With the minimum that is charged, a single run is {}.", list);
}

}  // namespace

std::string break_even_band(const CostBands& band) {
  if (!band.break_even_low) return "";
  const std::string high = band.break_even_high ? fmt::format("{:.0f} %", *band.break_even_high * 100) : "never";
  return fmt::format("{:.0f} .. {}", *band.break_even_low * 100, high);
}

std::string when_it_pays(const CostComparison& elsewhere) {
  const auto& from = elsewhere.break_even_utilisation;
  if (from) return *from > 0 ? fmt::format("above {:.0f} % utilisation", 100 * *from) : "at every utilisation";
  const auto& up_to = elsewhere.pays_up_to_utilisation;
  return up_to ? fmt::format("up to {:.0f} % utilisation", 100 * *up_to) : "at no utilisation";
}

std::vector<std::string> cost_sentences(Points points, const Series& series) {
  const std::vector<std::size_t> chosen = comparable(points);
  if (chosen.empty()) return {};
  const bool of_run = all_have_runs(points, chosen);
  const auto cost = [&](std::size_t i) { return price(points[i], of_run); };
  const std::size_t cheapest = *std::ranges::min_element(chosen, {}, cost);
  const std::size_t most_expensive = *std::ranges::max_element(chosen, {}, cost);
  const auto amount = [&](std::size_t i) {
    return fmt::format("{} {}", grouped(cost(i).si(), 0), points[i].cost->currency);
  };
  const std::string per = of_run ? "a run" : "per million samples";
  std::string first = cheapest == most_expensive
                          ? fmt::format("{} costs {} {}.", title(series, cheapest), amount(cheapest), per)
                          : fmt::format("Cheapest is {}, {} {}; most expensive {}, {}.", title(series, cheapest),
                                        amount(cheapest), per, title(series, most_expensive), amount(most_expensive));
  return {std::move(first), of_run ? minimum_sentence(points, series, chosen) : "",
          cheapest == most_expensive ? "" : break_even_sentence(points, series, chosen)};
}

std::optional<PageSection> cost_section(Points points, const Series& series, Record& data) {
  const std::vector<std::size_t> chosen = comparable(points);
  if (chosen.empty()) return std::nullopt;
  PageSection section{"cost", "What it costs"};
  data["cost"] = bars_or_curves(points, series, chosen);
  const std::string unit = points[chosen.front()].cost->currency;
  const bool banded = std::ranges::any_of(data["cost"]["rows"], [](const Record& row) { return row.contains("low"); });
  const std::string bands = banded ? "; shaded, the " + band_probability(points) + " interval" : "";
  const std::string what = all_have_runs(points, chosen) ? "Cost of the run at the price of the time it takes, in "
                                                         : "Cost of a million samples, in ";
  section.charts.push_back({series.axis.empty() ? "bars" : "curves", "cost", what + unit + bands});
  // The same series stands out in both charts.
  if (Record years = totals(points, series, chosen, data["cost"]["accent"]); !years.is_null()) {
    data["years"] = std::move(years);
    section.charts.push_back(
        {"curves", "years",
         "Cumulative cost of ownership over years, in " + unit +
             ", for as much work as the first does; in the last year what is left of a machine's value is credited"});
  }
  for (const std::size_t i : chosen) {
    if (points[i].cost->sensitivity.empty()) continue;
    data["tornado"] = tornado(*points[i].cost);
    section.charts.push_back(
        {"tornado", "tornado",
         "What a million samples cost on " + title(series, i) +
             " with one input at the low (grey) or the high (coloured) end of its range; the inputs that matter most"});
    break;
  }
  section.grids.push_back(cost_grid(points, series));
  if (Grid assumed = assumptions(points); !assumed.rows.empty()) section.grids.push_back(std::move(assumed));
  return section;
}

}}  // namespace farandole::report
