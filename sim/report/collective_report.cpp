#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/facet.hpp"
#include "report/record.hpp"
#include "report/reports.hpp"
#include "report/table.hpp"
#include "units/format.hpp"

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
  const std::vector<Record> rows = to_records(points, RecordForm::row);
  CollectivePoint any;  // for the header of a result without points: one of a simulation
  any.fidelity = "flow";
  write_csv(out, rows.empty() ? to_record(any, RecordForm::row) : rows.front(), rows);
}

namespace {

void write_links(std::ostream& out, const std::vector<LinkUse>& links, const std::string& what) {
  if (links.empty()) return;
  std::size_t width = 0;
  for (const LinkUse& link : links) width = std::max(width, printable(link.name).size());
  out << "#\n# Busiest links " << what << ", capacity, share of it in use\n";
  for (const LinkUse& link : links) {
    out << fmt::format("#   {:<{}} {:>16.0f} {:>14} {:>6.1f} %\n", printable(link.name), width, link.bytes.si(),
                       format(link.capacity), 100 * link.utilisation);
  }
}

}  // namespace

void write_busiest_links(std::ostream& out, std::span<const CollectivePoint> points) {
  for (const CollectivePoint& point : points) {
    write_links(out, point.links, fmt::format("at {:.0f} B ({}): bytes", point.bytes.si(), printable(point.fidelity)));
  }
}

void write_busiest_links(std::ostream& out, std::span<const TrainingPoint> points) {
  for (const TrainingPoint& point : points) {
    write_links(out, point.links,
                fmt::format("of {} on {} ranks ({}): bytes an iteration", printable(point.model), point.ranks,
                            printable(point.fidelity)));
  }
}

void write_neighbours(std::ostream& out, std::span<const TrainingPoint> points) {
  for (const TrainingPoint& point : points) {
    for (const Neighbour& job : point.neighbours) {
      out << fmt::format("#\n# Beside {} on {} ranks ({}): {} on {} ranks, iteration {:.3f} ms, alone {:.3f} ms\n",
                         printable(point.model), point.ranks, printable(point.fidelity), printable(job.model),
                         job.ranks, 1e3 * job.beside.si(), 1e3 * job.alone.si());
    }
  }
}

namespace {

/// How nccl-tests describes an operation: the name of its reduction, whether it has a root, and whether its count is
/// one rank's share of the size.
struct Kind {
  std::string_view operation;
  std::string_view reduction;
  int root;
  bool counts_a_share;
};

constexpr int no_root = -1;
// A row's widths, with "# " in place of the first two columns of the size.
constexpr std::string_view heading_form = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}";

Kind kind_of(std::string_view operation) {
  static constexpr std::array<Kind, 8> kinds{{{"allreduce", "sum", no_root, false},
                                              {"reduce_scatter", "sum", no_root, true},
                                              {"allgather", "none", no_root, true},
                                              {"alltoall", "none", no_root, true},
                                              {"broadcast", "none", 0, false},
                                              {"reduce", "sum", 0, false},
                                              {"gather", "none", 0, true},
                                              {"scatter", "none", 0, true}}};
  for (const Kind& kind : kinds) {
    if (kind.operation == operation) return kind;
  }
  return {operation, operation == "parameter_server" ? "sum" : "none", no_root, false};
}

/// Seven characters, with two, one or no decimals: as many as fit.
std::string fitting_time(double microseconds) {
  const int decimals = microseconds < 9999.995 ? 2 : microseconds < 99999.95 ? 1 : 0;
  return fmt::format("{:>7.{}f}", microseconds, decimals);
}

}  // namespace

std::string nccl_heading_names() {
  return fmt::format(heading_form, "size", "count", "type", "redop", "root", "time", "algbw", "busbw");
}

std::string nccl_heading_units() {
  return fmt::format(heading_form, "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)");
}

std::string nccl_row(const CollectivePoint& point) {
  const Kind kind = kind_of(point.operation);
  const double elements = std::floor(point.bytes.si() / point.type_bytes / (kind.counts_a_share ? point.ranks : 1));
  return fmt::format("{:>12.0f}  {:>12.0f}  {:>8}  {:>6}  {:>6}  {}  {:>6.2f}  {:>6.2f}", point.bytes.si(), elements,
                     point.type, kind.reduction, kind.root == no_root ? no_root : point.root,
                     fitting_time(point.time.si() * 1e6), point.algorithm_bandwidth.si() / 1e9,
                     point.bus_bandwidth.si() / 1e9);
}

}}  // namespace farandole::report
