#include <ostream>

#include <fmt/format.h>

#include "report/reports.hpp"
#include "report/table.hpp"

namespace farandole::inline report {

void write_calibration(std::ostream& out, const Heading& heading, const std::vector<CalibrationLine>& lines,
                       const CalibrationSummary& summary) {
  write_title(out, heading);
  Table table({{"parameter", Align::left}, {"before"}, {"fitted"}, {"95 % interval", Align::left}});
  for (const CalibrationLine& line : lines) {
    table.row({printable(line.name), printable(line.before), printable(line.after), printable(line.interval)});
  }
  table.write(out);
  out << fmt::format(
      "fitted to {} measurements ({} outliers excluded); errors left: median {:.1f} %, 90th percentile "
      "{:.1f} %, worst {:.1f} %\n",
      summary.measurements, summary.doubtful, 100 * summary.median, 100 * summary.p90, 100 * summary.worst);
  if (summary.held_out) {
    out << fmt::format(
        "predicted from others alone, with {} held out in turn: median {:.1f} %, 90th percentile {:.1f} %, worst "
        "{:.1f} "
        "%\n",
        printable(summary.held_out->what), 100 * summary.held_out->median, 100 * summary.held_out->p90,
        100 * summary.held_out->worst);
  }
  write_settings(out, heading);
}

}  // namespace farandole::inline report
