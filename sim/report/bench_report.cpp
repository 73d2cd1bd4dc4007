#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "report/facet.hpp"
#include "report/field_record.hpp"
#include "report/field_table.hpp"
#include "report/page.hpp"
#include "report/reports.hpp"

namespace farandole { inline namespace report {
namespace {

using MeasuredPoints = std::span<const MeasuredPoint>;

Table measured_table(const Facets<MeasuredPoint>& facets, MeasuredPoints points) {
  std::vector<Column> columns = facet_columns(facets);
  columns.insert(columns.begin(), {nccl_heading_units() + "        ", Align::left});
  Table table(std::move(columns));
  for (const MeasuredPoint& point : points) {
    std::vector<std::string> cells = facet_cells(facets, point);
    const std::string wrong = point.collective.operation == "barrier" ? "N/A" : std::to_string(point.wrong);
    cells.insert(cells.begin(), fmt::format("{}  {:>6}", nccl_row(point.collective), wrong));
    table.row(std::move(cells));
  }
  return table;
}

double average_measured_bus_bandwidth(MeasuredPoints points) {
  double sum = 0;
  for (const MeasuredPoint& point : points) sum += point.collective.bus_bandwidth.si();
  return sum / static_cast<double>(points.size()) / 1e9;
}

using ReplayedPoints = std::span<const ReplayedPoint>;

std::vector<std::string> cells(const TimeColumn& times, const ReplayedPoint& point) {
  const TrainingPoint& measured = point.training;
  const double exposed = measured.breakdown.exposed_communication / measured.iteration;
  return {times.text(measured.iteration_p50), times.text(measured.iteration_p95),
          times.text(point.predicted),        signed_percent(point.error(), 1),
          grouped(exposed * 100, 1),          point.processors_busy ? grouped(*point.processors_busy * 100, 0) : "",
          std::to_string(point.wrong)};
}

}  // namespace

void write_bench(std::ostream& out, Format format, const Heading& heading, MeasuredPoints points) {
  const std::vector<Record> records = records_of(points);
  if (format == Format::json) return write_json(out, heading, records);
  if (format == Format::csv) return write_csv(out, record_of(MeasuredPoint{}), records);
  const Facets<MeasuredPoint> facets = split(properties_of<MeasuredPoint>(), points);
  write_title(out, heading);
  out << "# all points: " << shared_text(facets, points) << '\n';
  out << "#\n" << nccl_heading_names() << "  #wrong\n";
  measured_table(facets, points).write(out);
  const auto wrong = std::ranges::count_if(points, [](const MeasuredPoint& point) { return point.wrong > 0; });
  out << fmt::format("# Out of bounds values : {} {}\n", wrong, wrong == 0 ? "OK" : "FAILED");
  if (!points.empty()) out << fmt::format("# Avg bus bandwidth    : {:g}\n", average_measured_bus_bandwidth(points));
  write_settings(out, heading);
}

void write_replay(std::ostream& out, Format format, const Heading& heading, ReplayedPoints points) {
  const std::vector<Record> records = records_of(points);
  if (format == Format::json) return write_json(out, heading, records);
  if (format == Format::csv) return write_csv(out, records.front(), records);
  const std::vector<TrainingPoint> measured = mapped(points, &ReplayedPoint::training);
  const auto facets = split(training_facets(measured), std::span<const TrainingPoint>(measured));
  write_title(out, heading);
  out << "# all points: " << shared_text(facets, std::span<const TrainingPoint>(measured)) << "\n\n";
  std::vector<Column> columns = facet_columns(facets);
  const TimeColumn times = iteration_column(measured.empty() ? Seconds(0) : measured.front().iteration_p50);
  for (const char* name : {"median", "p95", "predicted"}) columns.push_back({fmt::format("{} ({})", name, times.unit)});
  for (const char* name : {"error", "exposed (%)", "cpu (%)", "#wrong"}) columns.push_back({name});
  Table table(std::move(columns));
  for (const ReplayedPoint& point : points) table.row(facet_cells(facets, point.training), cells(times, point));
  table.write(out);
  write_settings(out, heading);
}

}}  // namespace farandole::report
