#include <ostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/band_record.hpp"
#include "report/facet.hpp"
#include "report/record.hpp"
#include "report/reports.hpp"

namespace farandole { inline namespace report {
namespace {

using CollectivePoints = std::span<const CollectivePoint>;

std::string average_simulated_bus_bandwidth(CollectivePoints points, std::string_view fidelity) {
  BytesPerSecond sum;
  int count = 0;
  for (const CollectivePoint& point : points) {
    if (point.fidelity != fidelity) continue;
    sum += point.bus_bandwidth;
    ++count;
  }
  return fmt::format("{:g}", sum.si() / count / 1e9);
}

/// One average per fidelity: an average over several would be the answer to no question.
void write_averages(std::ostream& out, CollectivePoints points) {
  const std::vector<std::string> fidelities = fidelities_of(points);
  for (const std::string& fidelity : fidelities) {
    out << "# Avg bus bandwidth    : " << average_simulated_bus_bandwidth(points, fidelity);
    if (fidelities.size() > 1) out << " (" << printable(fidelity) << ')';
    out << '\n';
  }
}

/// A row of nccl-tests is one cell here, so that what follows it to the right is aligned whatever its length.
Table collective_table(const Facets<CollectivePoint>& facets, CollectivePoints points) {
  std::vector<Column> columns = facet_columns(facets);
  columns.insert(columns.begin(), {nccl_heading_units(), Align::left});
  const bool has_bands = !points.empty() && points.front().band.has_value();
  if (has_bands) columns.push_back({"80 % interval (us)", Align::right});
  Table table(std::move(columns));
  for (const CollectivePoint& point : points) {
    std::vector<std::string> cells = facet_cells(facets, point);
    cells.insert(cells.begin(), nccl_row(point));
    if (has_bands) cells.push_back(band_text(point));
    table.row(std::move(cells));
  }
  return table;
}

void write_collective_table(std::ostream& out, const Heading& heading, CollectivePoints points) {
  const Facets<CollectivePoint> facets = split(collective_facets(), points);
  write_title(out, heading);
  const std::string shared = shared_text(facets, points);
  if (!shared.empty()) out << "# all points: " << shared << '\n';
  out << "#\n" << nccl_heading_names() << '\n';
  collective_table(facets, points).write(out);
  write_averages(out, points);
  write_busiest_links(out, points);
  write_settings(out, heading);
}

}  // namespace

void write_collective(std::ostream& out, Format format, const Heading& heading, CollectivePoints points) {
  const std::vector<Record> records = to_records(points);  // refuses what is not finite, for the table too
  if (format == Format::table) return write_collective_table(out, heading, points);
  if (format == Format::json) return write_json(out, heading, records);
  const std::vector<Record> rows = to_rows(points);
  CollectivePoint any;  // for the header of a result without points: one of a simulation
  any.fidelity = "flow";
  write_csv(out, rows.empty() ? to_row(any) : rows.front(), rows);
}

}}  // namespace farandole::report
