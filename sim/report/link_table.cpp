#include "report/link_table.hpp"

#include <algorithm>
#include <ostream>
#include <string>

#include <fmt/format.h>

#include "report/table.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
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

}}  // namespace farandole::report
