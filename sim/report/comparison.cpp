#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/facet.hpp"
#include "report/record.hpp"
#include "report/reports.hpp"
#include "simulate/fidelity.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr std::string_view reference = "message";

/// How to compare points of one kind: what makes two of them the same configuration, and which time to print.
template <class Point>
struct Subject {
  std::vector<Facet<Point>> facets;
  Seconds (*time)(const Point&);
  std::string unit;
  double per_second;
};

/// One configuration: its points, one per fidelity.
template <class Point>
using Row = std::vector<const Point*>;

template <class Point>
const Point* at(const Row<Point>& row, std::string_view fidelity) {
  const auto found = std::ranges::find(row, fidelity, &Point::fidelity);
  return found == row.end() ? nullptr : *found;
}

template <class Point>
std::vector<Row<Point>> rows_of(const Subject<Point>& subject, std::span<const Point> points) {
  std::vector<Row<Point>> rows;
  for (const Point& point : points) {
    const auto same = [&](const Row<Point>& row) {
      const auto agree = [&](const auto& facet) { return facet.text(point) == facet.text(*row.front()); };
      return std::ranges::all_of(subject.facets, agree);
    };
    auto row = std::ranges::find_if(rows, same);
    if (row == rows.end()) row = rows.insert(rows.end(), Row<Point>{});
    row->push_back(&point);
  }
  return rows;
}

bool has_difference(std::string_view fidelity, const std::vector<std::string>& all) {
  return fidelity != reference && std::ranges::find(all, reference) != all.end();
}

/// Empty where there is nothing to compare, or nothing to divide by.
template <class Point>
std::string difference(const Subject<Point>& subject, const Point* point, const Point* against) {
  if (point == nullptr || against == nullptr || subject.time(*against) <= Seconds(0)) return "";
  return signed_percent(subject.time(*point) / subject.time(*against) - 1, 2);
}

template <class Point>
std::vector<Column> columns_of(const Facets<Point>& facets, const std::vector<std::string>& fidelities,
                               const std::string& unit) {
  std::vector<Column> columns = facet_columns(facets);
  for (const std::string& fidelity : fidelities) {
    columns.push_back({fmt::format("{} ({})", fidelity, unit)});
    if (has_difference(fidelity, fidelities)) columns.push_back({fmt::format("to {}", reference)});
  }
  return columns;
}

template <class Point>
std::vector<std::string> cells_of(const Subject<Point>& subject, const Facets<Point>& facets,
                                  const std::vector<std::string>& fidelities, const Row<Point>& row) {
  std::vector<std::string> cells = facet_cells(facets, *row.front());
  for (const std::string& fidelity : fidelities) {
    const Point* point = at(row, fidelity);
    cells.push_back(point == nullptr ? "" : grouped(subject.time(*point).si() * subject.per_second, 3));
    if (has_difference(fidelity, fidelities)) cells.push_back(difference(subject, point, at(row, reference)));
  }
  return cells;
}

/// What a row is, in words: "size (B) 1,048,576: ".
template <class Point>
std::string row_name(const Facets<Point>& facets, const Row<Point>& row) {
  const std::vector<Column> columns = facet_columns(facets);
  const std::vector<std::string> cells = facet_cells(facets, *row.front());
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", columns[i].heading, cells[i]);
  }
  return text.empty() ? text : text + ": ";
}

/// A line for every time that is farther from message than algorithms are known to be.
template <class Point>
void write_disagreements(std::ostream& out, const Subject<Point>& subject, const Facets<Point>& facets,
                         const std::vector<Row<Point>>& rows) {
  for (const Row<Point>& row : rows) {
    const Point* message = at(row, reference);
    if (message == nullptr || subject.time(*message) <= Seconds(0)) continue;
    for (const Point* point : row) {
      const LevelBounds bounds = bounds_to_message(point->fidelity);
      const double ratio = subject.time(*point) / subject.time(*message);
      if (point == message || bounds.covers(ratio)) continue;
      out << fmt::format(
          "# {}{} is {} from message, outside the {} to {} of levels that agree (sim/simulate/README.md)\n",
          row_name(facets, row), point->fidelity, signed_percent(ratio - 1, 2), signed_percent(bounds.least - 1, 0),
          signed_percent(bounds.most - 1, 0));
    }
  }
}

template <class Point>
void write_comparison_table(std::ostream& out, const Heading& heading, const Subject<Point>& subject,
                            std::span<const Point> points) {
  to_records(points);  // refuses what is not finite
  const Facets<Point> facets = split(subject.facets, points);
  const std::vector<std::string> fidelities = fidelities_of(points);
  write_title(out, heading);
  if constexpr (std::is_same_v<Point, TrainingPoint>) write_answer(out, heading, points);
  const std::string shared = shared_text(facets, points);
  if (!shared.empty()) out << "# all points: " << shared << '\n';
  out << '\n';
  Table table(columns_of(facets, fidelities, subject.unit));
  const std::vector<Row<Point>> rows = rows_of(subject, points);
  for (const Row<Point>& row : rows) table.row(cells_of(subject, facets, fidelities, row));
  table.write(out);
  write_disagreements(out, subject, facets, rows);
}

template <class Point>
std::vector<Facet<Point>> without(std::vector<Facet<Point>> facets, const std::vector<std::string>& names) {
  std::erase_if(facets, [&](const auto& facet) { return std::ranges::find(names, facet.name) != names.end(); });
  return facets;
}

Subject<TrainingPoint> training_subject(std::span<const TrainingPoint> points) {
  return {without(training_facets(points), {"fidelity"}), [](const TrainingPoint& p) { return p.iteration; }, "ms",
          1e3};
}

Subject<CollectivePoint> collective_subject() {
  using Point = CollectivePoint;
  // Whether a point was folded goes with its fidelity and must not part two fidelities of one configuration.
  auto facets = without(collective_facets(), {"fidelity", "folded"});
  facets.push_back({"size (B)", [](const Point& p) { return grouped(p.bytes.si(), 0); }, Align::right, true});
  return {std::move(facets), [](const Point& p) { return p.time; }, "us", 1e6};
}

}  // namespace

void write_training_comparison(std::ostream& out, Format format, const Heading& heading,
                               std::span<const TrainingPoint> points) {
  if (format != Format::table) return write_training(out, format, heading, points);
  write_mixed_compute(out, points);
  write_comparison_table(out, heading, training_subject(points), points);
  write_neighbours(out, points);
  write_busiest_links(out, points);
  write_settings(out, heading);
}

void write_collective_comparison(std::ostream& out, Format format, const Heading& heading,
                                 std::span<const CollectivePoint> points) {
  if (format != Format::table) return write_collective(out, format, heading, points);
  write_comparison_table(out, heading, collective_subject(), points);
  write_busiest_links(out, points);
  write_settings(out, heading);
}

}}  // namespace farandole::report
