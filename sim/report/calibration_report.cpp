#include <ostream>

#include <fmt/format.h>

#include "report/field_record.hpp"
#include "report/reports.hpp"
#include "report/table.hpp"
#include "report/version.hpp"

namespace farandole { inline namespace report {
namespace {

std::string left_of(double share) {
  return share < 0.005 ? "less than 1 %" : fmt::format("{:.0f} %", 100 * share);
}

void write_calibration_remarks(std::ostream& out, const std::vector<CalibrationLine>& lines) {
  for (const CalibrationLine& line : lines) {
    if (!line.unidentified) continue;
    out << fmt::format("# {}: not identified; {}\n", printable(line.name),
                       line.proposal.empty() ? "none of the measurements that were tried would tell it"
                                             : fmt::format("{} would leave {} of its variance",
                                                           printable(line.proposal), left_of(line.left_after)));
  }
}

void write_scatter(std::ostream& out, const std::vector<ScatterLine>& lines) {
  for (const ScatterLine& line : lines) {
    out << fmt::format("# scatter {}, {}: {:.2f} % (standard error {:.2f} %; {} measured again)\n", line.what,
                       line.sizes, 100 * line.deviation, 100 * line.standard_error, line.settings);
  }
}

void write_errors(std::ostream& out, const CalibrationSummary& summary) {
  out << fmt::format(
      "fitted to {} measurements ({} outliers excluded); errors left: median {:.1f} %, 90th percentile "
      "{:.1f} %, worst {:.1f} %\n",
      summary.measurements, summary.doubtful, 100 * summary.median, 100 * summary.p90, 100 * summary.worst);
  if (!summary.held_out) return;
  out << fmt::format(
      "predicted from others alone, with {} held out in turn: median {:.1f} %, 90th percentile {:.1f} %, worst {:.1f} "
      "%\n",
      printable(summary.held_out->what), 100 * summary.held_out->median, 100 * summary.held_out->p90,
      100 * summary.held_out->worst);
}

void write_calibration_table(std::ostream& out, const Heading& heading, const std::vector<CalibrationLine>& lines,
                             const CalibrationSummary& summary) {
  write_title(out, heading);
  Table table({{"parameter", Align::left}, {"before"}, {"fitted"}, {"95 % interval", Align::left}});
  for (const CalibrationLine& line : lines) {
    table.row({printable(line.name), printable(line.before), printable(line.after), printable(line.interval)});
  }
  table.write(out);
  write_calibration_remarks(out, lines);
  write_scatter(out, summary.scatter);
  write_errors(out, summary);
  write_settings(out, heading);
}

Record calibration_record(const CalibrationLine& line) {
  Record record{{"name", line.name}, {"pointer", line.pointer}, {"before", line.before}, {"fitted", line.after}};
  record["identified"] = !line.unidentified;
  if (line.unidentified) {
    record["reason"] = *line.unidentified;
  } else {
    record["interval"] = line.interval;
  }
  if (!line.proposal.empty()) {
    record["proposal"] = {{"measurement", line.proposal}, {"variance_left", finite(line.left_after, "variance_left")}};
  }
  return record;
}

Record scatter_record(const ScatterLine& line) {
  return {{"what", line.what},
          {"sizes", line.sizes},
          {"deviation", finite(line.deviation, "deviation")},
          {"standard_error", finite(line.standard_error, "standard_error")},
          {"settings", line.settings}};
}

Record errors_of(const CalibrationSummary& summary) {
  Record record{{"measurements", summary.measurements},
                {"excluded", summary.doubtful},
                {"median", finite(summary.median, "median")},
                {"p90", finite(summary.p90, "p90")},
                {"worst", finite(summary.worst, "worst")}};
  if (!summary.held_out) return record;
  record["held_out"] = {{"what", summary.held_out->what},
                        {"median", finite(summary.held_out->median, "median")},
                        {"p90", finite(summary.held_out->p90, "p90")},
                        {"worst", finite(summary.held_out->worst, "worst")}};
  return record;
}

void write_calibration_json(std::ostream& out, const Heading& heading, const std::vector<CalibrationLine>& lines,
                            const CalibrationSummary& summary) {
  Record document{{"farandole", version()}, {"scenario", heading.scenario}, {"settings", Record(heading.settings)}};
  document["parameters"] = Record::array();
  for (const CalibrationLine& line : lines) document["parameters"].push_back(calibration_record(line));
  document["scatter"] = Record::array();
  for (const ScatterLine& line : summary.scatter) document["scatter"].push_back(scatter_record(line));
  document["errors"] = errors_of(summary);
  out << json_text(document, 2) << '\n';
}

}  // namespace

void write_calibration(std::ostream& out, Format format, const Heading& heading,
                       const std::vector<CalibrationLine>& lines, const CalibrationSummary& summary) {
  if (format == Format::json) return write_calibration_json(out, heading, lines, summary);
  write_calibration_table(out, heading, lines, summary);
}

}}  // namespace farandole::report
