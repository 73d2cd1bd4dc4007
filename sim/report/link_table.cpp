#include "report/link_table.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "report/table.hpp"
#include "units/format.hpp"

namespace farandole {

void write_busiest_links(std::ostream& out, std::span<const CollectivePoint> points) {
  for (const CollectivePoint& point : points) {
    if (point.links.empty()) continue;
    std::size_t width = 0;
    for (const LinkUse& link : point.links) width = std::max(width, printable(link.name).size());
    out << fmt::format("#\n# Busiest links at {} ({}): bytes, capacity, share of it in use\n", format(point.bytes),
                       printable(point.fidelity));
    for (const LinkUse& link : point.links) {
      out << fmt::format("#   {:<{}} {:>16.0f} {:>14} {:>6.1f} %\n", printable(link.name), width, link.bytes.si(),
                         format(link.capacity), 100 * link.utilisation);
    }
  }
}

}  // namespace farandole
