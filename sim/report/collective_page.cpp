#include <algorithm>

#include <fmt/format.h>

#include "report/facet.hpp"
#include "report/page_parts.hpp"
#include "report/pages.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

using CollectivePoints = std::span<const CollectivePoint>;

/// What a library picks by size: said of a point, but not another curve.
bool is_picked(const std::string& facet) {
  return facet == "chosen algorithm" || facet == "protocol" || facet == "channels";
}

/// "ring, Simple, 16": of every point the texts of the facets that tell points apart, of those picked or of the others.
std::vector<std::string> texts_of(CollectivePoints points, bool picked) {
  const Facets<CollectivePoint> facets = split(collective_facets(), points);
  std::vector<std::string> all;
  for (const CollectivePoint& point : points) {
    std::string joined;
    for (const auto& facet : facets.columns) {
      const bool wanted = facet.name != "folded" && is_picked(facet.name) == picked;
      const std::string text = wanted ? facet.text(point) : "";
      if (!text.empty()) joined += (joined.empty() ? "" : ", ") + text;
    }
    all.push_back(joined);
  }
  return all;
}

/// What tells points apart, the size aside; the operation and its algorithm where nothing does.
std::vector<std::string> names_of(CollectivePoints points) {
  std::vector<std::string> names = texts_of(points, false);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) names[i] = points[i].operation + " " + points[i].algorithm;
  }
  return names;
}

std::vector<std::string> collective_answer(const CollectiveStory& story) {
  if (story.points.empty()) return {"No point was run."};
  const auto by_size = [](const CollectivePoint& point) { return point.bytes; };
  const CollectivePoint& largest = *std::ranges::max_element(story.points, {}, by_size);
  const CollectivePoint& smallest = *std::ranges::min_element(story.points, {}, by_size);
  std::string first =
      fmt::format("{} of {} with {} over {} ranks of {} takes {}", largest.operation, decimal(largest.bytes),
                  largest.algorithm, grouped(largest.ranks, 0), story.topology, decimal(largest.time));
  if (largest.bus_bandwidth > BytesPerSecond(0))
    first += fmt::format(": a bus bandwidth of {}", format(largest.bus_bandwidth));
  std::vector<std::string> sentences{first + "."};
  if (largest.band) sentences.push_back("Four measurements in five should take " + band_text(largest) + " us.");
  if (smallest.bytes < largest.bytes) {
    sentences.push_back(fmt::format("The smallest, {}, takes {}.", decimal(smallest.bytes), decimal(smallest.time)));
  }
  return sentences;
}

Record curves(CollectivePoints points, const std::vector<std::string>& names, const char* measure, const char* unit,
              double (*value)(const CollectivePoint&)) {
  Record rows = Record::array();
  const std::vector<std::string> picked = texts_of(points, true);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(points[i].bytes > Bytes(0))) continue;
    rows.push_back({{"series", names[i]}, {"x", points[i].bytes.si()}, {"y", finite(value(points[i]), measure)}});
    if (!picked[i].empty()) rows.back()["picked"] = picked[i];
  }
  const std::string accent = names.empty() ? "" : names.front();
  return {{"axis", "size"}, {"measure", measure}, {"unit", unit}, {"share", false}, {"rows", rows}, {"accent", accent}};
}

void add_curves(const CollectiveStory& story, Page& page) {
  const auto names = names_of(story.points);
  page.data["bandwidth"] = curves(story.points, names, "bus bandwidth", "B/s",
                                  [](const CollectivePoint& p) { return p.bus_bandwidth.si(); });
  page.data["duration"] =
      curves(story.points, names, "time", "s", [](const CollectivePoint& p) { return p.time.si(); });
  if (page.data["bandwidth"]["rows"].empty()) return;
  page.sections.push_back(
      {"sizes",
       "From small to large",
       {},
       {{"curves", "bandwidth", "Bus bandwidth over size"}, {"curves", "duration", "Time over size"}}});
}

Grid collective_grid(CollectivePoints points) {
  const Facets<CollectivePoint> facets = split(collective_facets(), points);
  const std::vector<std::string> figures{"size (B)", "time (us)", "algbw (GB/s)", "busbw (GB/s)"};
  Grid grid{"All points", with_figures(facet_columns(facets), figures), {}};
  const bool has_bands = !points.empty() && points.front().band.has_value();
  if (has_bands) grid.columns.push_back({"80 % interval (us)"});
  for (const CollectivePoint& point : points) {
    std::vector<Cell> row;
    for (const auto& facet : facets.columns) row.emplace_back(facet.text(point));
    row.insert(row.end(), {number_cell(point.bytes.si(), 0), number_cell(1e6 * point.time.si(), 2),
                           number_cell(1e-9 * point.algorithm_bandwidth.si(), 3),
                           number_cell(1e-9 * point.bus_bandwidth.si(), 3)});
    if (has_bands) row.emplace_back(band_text(point));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

}  // namespace

Page collective_page(const CollectiveStory& story) {
  Page page;
  page.kicker = "Farandole · collective on " + story.topology;
  page.answer = collective_answer(story);
  if (story.points.empty()) return page;
  add_curves(story, page);
  if (!story.topology_svg.empty()) {
    page.sections.push_back(network_section(
        story.topology, "Links by the share of the time of the last size for which they are busy, from green to red.",
        story.topology_svg, story.points.back().links));
  }
  const CollectivePoints points = story.points;
  page.sections.push_back({.id = "table",
                           .heading = "The numbers",
                           .text = {"All points: " + shared_text(split(collective_facets(), points), points) + "."},
                           .grids = {collective_grid(points)}});
  if (!story.trust.points.empty()) page.sections.push_back(trust_section(story.trust, page.data));
  page.sections.push_back(inputs_section(story.heading, story.command, ""));
  add_points(to_records(points), page);
  return page;
}

}}  // namespace farandole::report
