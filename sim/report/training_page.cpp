#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "report/answer.hpp"
#include "report/facet.hpp"
#include "report/page.hpp"
#include "report/page_parts.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"
#include "report/series.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr std::size_t most_bars = 30;

constexpr Ordinate efficiency_ordinate{
    "scaling efficiency", [](const TrainingPoint& p) { return p.scaling_efficiency; },
    [](const PublishedMark& m) { return m.scaling_efficiency; }, true, &Bands::scaling_efficiency};
constexpr Ordinate throughput_ordinate{"samples/s", [](const TrainingPoint& p) { return p.samples_per_second; },
                                       [](const PublishedMark& m) { return m.samples_per_second; }, false,
                                       &Bands::samples_per_second};

class TrainingPage {
 public:
  explicit TrainingPage(const TrainingPageInput& story)
      : story_(story),
        points_(story.points),
        series_(series_of(points_)),
        headlines_(headline_points(points_, story.question)),
        subject_(explained_point(points_, story.question)) {}

  Page make() {
    page_.kicker = "Farandole · " + story_.heading.scenario;
    page_.answer = answer(points_, story_.question);
    if (points_.empty()) return std::move(page_);
    if (std::string text = trust_sentence(story_.trust); !text.empty()) page_.answer.push_back(std::move(text));
    if (!story_.summary.empty()) page_.answer.push_back(story_.summary + ".");
    add_what_was_asked();
    const bool is_of_costs = page_.data.contains("cost");
    const std::size_t scaling = page_.sections.size();
    add_efficiency();
    add_explanation(subject_);
    if (is_of_costs) fold_from(scaling);  // costs have reasons of their own
    if (!story_.trust.points.empty()) page_.sections.push_back(trust_section(story_.trust, page_.data));
    add_details();
    page_.sections.push_back(inputs_section(story_.heading, story_.command, story_.scenario));
    return std::move(page_);
  }

 private:
  /// A loss, a price or the length of a training, where the heading speaks of one.
  void add_what_was_asked() {
    add_learning();
    if (auto costs = cost_section(points_, series_, page_.data)) page_.sections.push_back(std::move(*costs));
    if (auto runs = whole_run_section(points_, series_)) page_.sections.push_back(std::move(*runs));
  }

  /// What the answer can be understood without.
  void add_details() {
    const std::size_t open = page_.sections.size();
    add_throughput();
    add_shares();
    for (const std::size_t point : headlines_) {
      if (point != subject_) add_explanation(point);
    }
    add_timeline();
    add_network();
    add_table();
    fold_from(open);
  }

  void fold_from(std::size_t first) {
    for (PageSection& section : std::span(page_.sections).subspan(first)) section.folded = true;
  }

  void add_efficiency() {
    page_.sections.push_back(
        {"scaling", "How well it scales", {}, {curves_of("efficiency", efficiency_ordinate, "Scaling efficiency")}});
  }

  void add_throughput() {
    PageSection section{"throughput", "Throughput"};
    section.charts.push_back(curves_of("throughput", throughput_ordinate, "Throughput in samples per second"));
    for (const PublishedMark& mark : story_.published) {
      const std::string source = "Published: scenarios/published/" + mark.source + ".json.";
      if (std::ranges::find(section.text, source) == section.text.end()) section.text.push_back(source);
    }
    page_.sections.push_back(std::move(section));
  }

  void add_shares() {
    std::vector<std::size_t> shown(points_.size());
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    if (shown.size() > most_bars) shown = headlines_;
    page_.data["shares"] = shares_data(points_, series_, shown);
    page_.sections.push_back({"time", "Where the time goes", {}, {{"shares", "shares", "Share of each iteration"}}});
  }

  void add_explanation(std::size_t index) {
    const TrainingPoint& point = points_[index];
    if (!point.explanation) return;
    const std::string number = std::to_string(index);
    page_.data["waterfall-" + number] = waterfall_data(point);
    PageSection section{"why-" + number, "Why: " + title_of(index)};
    const TimeColumn times = iteration_column(point.iteration);
    section.charts.push_back(
        {"waterfall", "waterfall-" + number, "What each mechanism adds to the iteration, in " + times.unit});
    Grid grid{"Waterfall of " + title_of(index), {{"mechanism", Align::left}, {times.unit}, {"share"}}, {}};
    for (const auto& [name, time] : point.explanation->waterfall) {
      grid.rows.push_back({Cell(name), times.cell(time), percent_cell(time / point.iteration)});
    }
    section.grids.push_back(std::move(grid));
    if (!point.explanation->what_ifs.empty()) {
      if (Record gains = what_if_data(point); !gains.at("rows").empty()) {
        page_.data["what-if-" + number] = std::move(gains);
        section.charts.push_back({"what_if", "what-if-" + number,
                                  "What one change would gain, in percentage points of scaling efficiency; "
                                  "less than half a point is in the table alone"});
      }
      Grid changes{"What would help " + title_of(index),
                   {{"change", Align::left},
                    {"kind", Align::left},
                    {"percentage points"},
                    {band_probability({&point, 1}) + " interval"},
                    {"P(faster) (%)"},
                    {"samples/s"}},
                   {}};
      for (const WhatIf& what_if : point.explanation->what_ifs) {
        changes.rows.push_back({Cell(what_if.change),
                                Cell(what_if.kind),
                                {fmt::format("{:+.1f}", what_if.efficiency_points), what_if.efficiency_points},
                                Cell(points_band(what_if)),
                                {sure_text(faster(what_if, point)), faster(what_if, point).value_or(0)},
                                number_cell(what_if.samples_per_second, what_if.samples_per_second < 100 ? 1 : 0)});
      }
      section.grids.push_back(std::move(changes));
    }
    section.text = {fmt::format("Memory: {} of {} per device, at least.", decimal(point.memory.total()),
                                decimal(point.memory.device))};
    page_.sections.push_back(std::move(section));
  }

  void add_timeline() {
    if (story_.timeline == nullptr) return;
    Record data = timeline_data(*story_.timeline);
    if (data.is_null()) return;
    const TimeColumn times = iteration_column(Seconds(data.at("total").get<double>()));
    page_.data["timeline"] = std::move(data);
    page_.sections.push_back(
        {"timeline",
         "One iteration of " + title_of(story_.timeline_point),
         {"Seen from rank 0. One bar per fused buffer."},
         {{"timeline", "timeline", "Activities over time, in " + times.unit + "; coloured: communication"}}});
  }

  void add_network() {
    if (story_.topology_svg.empty()) return;
    page_.sections.push_back(network_section(
        points_[story_.timeline_point].platform,
        "Links by the share of the iteration for which they are busy, from green (idle) to red (all of it).",
        story_.topology_svg, story_.busiest_links));
  }

  void add_learning() {
    Record rows = Record::array();
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!points_[i].learning) continue;
      const Learning& learning = *points_[i].learning;
      for (std::size_t epoch = 0; epoch < learning.loss.size(); ++epoch) {
        rows.push_back({{"series", title(series_, i)},
                        {"x", finite(learning.seconds[epoch].si(), "seconds")},
                        {"y", finite(learning.loss[epoch], "loss")}});
      }
    }
    if (rows.empty()) return;
    const Record first = rows.front().at("series");
    page_.data["learning"] = {{"axis", "seconds"}, {"measure", "loss"},        {"unit", ""},     {"share", false},
                              {"rows", rows},      {"marks", Record::array()}, {"accent", first}};
    page_.sections.push_back(
        {"learning", "What it learns", {}, {{"curves", "learning", "Loss over simulated time, in seconds"}}});
  }

  void add_table() {
    const Facets<TrainingPoint> facets = split(training_facets(points_), points_);
    Grid grid{"All points", facet_columns(facets), {}};
    const TimeColumn times =
        iteration_column(std::ranges::min_element(points_, {}, &TrainingPoint::iteration)->iteration);
    for (const char* name : {"iteration", "p95"}) grid.columns.push_back({fmt::format("{} ({})", name, times.unit)});
    for (const char* name : {"samples/s", "efficiency"}) grid.columns.push_back({name});
    grid.columns = with_figures(std::move(grid.columns), breakdown_names());
    const bool banded = have_bands(points_);
    const std::string probability = ", " + band_probability(points_);
    if (banded) {
      for (const char* name : {"samples/s", "efficiency (%)"}) grid.columns.push_back({name + probability});
    }
    for (const TrainingPoint& point : points_) {
      std::vector<Cell> row;
      for (const auto& facet : facets.columns) row.emplace_back(facet.text(point));
      row.insert(row.end(), {times.cell(point.iteration), times.cell(point.iteration_p95),
                             number_cell(point.samples_per_second), percent_cell(point.scaling_efficiency)});
      for (const WaterfallPart& part : point.breakdown.parts())
        row.push_back(percent_cell(part.time / point.iteration));
      if (banded) {
        row.emplace_back(band_text(point, &Bands::samples_per_second, 1, 1));
        row.emplace_back(band_text(point, &Bands::scaling_efficiency, 100, 1));
      }
      grid.rows.push_back(std::move(row));
    }
    page_.sections.push_back({.id = "table",
                              .heading = "The numbers",
                              .text = {"All points: " + shared_text(facets, points_) + "."},
                              .grids = {std::move(grid)}});
    add_points(to_records(points_), page_);
  }

  [[nodiscard]] std::string title_of(std::size_t point) const {
    return title(series_, point) + " on " + ranks_text(points_[point].ranks);
  }

  [[nodiscard]] Chart curves_of(const char* key, const Ordinate& measure, const std::string& what) {
    const bool bars = series_.axis.empty();
    page_.data[key] = curves_data(points_, series_, measure, story_.published, subject_);
    std::string caption = bars ? what : what + " by " + series_.axis;
    if (series_.axis == "ranks") caption += "; dashed, linear scaling";
    if (!story_.published.empty()) caption += "; rings are published results";
    if (have_bands(points_)) {
      caption += "; shaded, the " + band_probability(points_) + " interval, from " + what_bands_are_of(points_);
    }
    return {bars ? "bars" : "curves", key, std::move(caption)};
  }

  const TrainingPageInput& story_;
  std::span<const TrainingPoint> points_;
  Series series_;
  std::vector<std::size_t> headlines_;
  std::size_t subject_;  // which the answer explains
  Page page_;
};

}  // namespace

Page training_page(const TrainingPageInput& story) {
  return TrainingPage(story).make();
}

}}  // namespace farandole::report
