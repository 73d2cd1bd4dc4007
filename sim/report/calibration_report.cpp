#include <ostream>

#include <fmt/format.h>

#include "report/field_record.hpp"
#include "report/heading.hpp"
#include "report/record.hpp"
#include "report/reports.hpp"
#include "report/table.hpp"

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
  document["parameters"] = mapped(lines, calibration_record);
  document["scatter"] = mapped(summary.scatter, scatter_record);
  document["errors"] = errors_of(summary);
  out << json_text(document, 2) << '\n';
}

void write_numbers(std::ostream& out, const InferenceReport& report) {
  Table table({{"number", Align::left},
               {"prior (80 %)", Align::left},
               {"posterior (80 %)", Align::left},
               {"median"},
               {"informed by", Align::left},
               {"identified", Align::left}});
  for (const NumberLine& line : report.numbers) {
    table.row({printable(line.name), printable(line.prior), printable(line.posterior), printable(line.middle),
               printable(line.informed_by), line.identified});
  }
  table.write(out);
}

void write_runs(std::ostream& out, const InferenceReport& report) {
  Table table({{"run", Align::left}, {"step"}, {"error before"}, {"after"}, {"noise"}, {"not fitted to", Align::left}});
  for (const RunLine& run : report.runs) {
    table.row({printable(run.name), fmt::format("{:.4g} s", run.seconds), signed_percent(run.before, 1),
               signed_percent(run.after, 1), percent_with_decimal(run.noise), printable(run.note)});
  }
  table.write(out);
}

void write_inference_remarks(std::ostream& out, const InferenceReport& report) {
  for (const NumberLine& line : report.numbers) {
    if (!line.shape.empty()) out << fmt::format("# {}: {}\n", printable(line.name), line.shape);
  }
  for (const NumberLine& line : report.numbers) {
    if (line.identified == "yes") continue;
    const std::string what = line.identified == "no" ? "not identified, keeps its prior" : "partly identified";
    out << fmt::format("# {}: {}; {}\n", printable(line.name), what,
                       line.proposal.empty() ? "none of the runs that were tried would tell it"
                                             : fmt::format("{} would leave {:.0f} % of its prior's variance",
                                                           printable(line.proposal), 100 * line.left_after));
  }
  if (report.enlarged > 1) {
    out << fmt::format("# runs are missed by more than their noise: it counts {:.2f} times\n", report.enlarged);
  }
}

Record number_record(const NumberLine& line) {
  Record record{{"name", line.name},
                {"pointer", line.pointer},
                {"prior", line.prior},
                {"posterior", line.posterior},
                {"median", line.middle},
                {"informed_by", line.informed_by},
                {"identified", line.identified},
                {"variance_left", finite(line.left, "variance_left")}};
  if (!line.shape.empty()) record["shape"] = line.shape;
  if (!line.proposal.empty()) {
    record["proposal"] = {{"run", line.proposal}, {"variance_left", finite(line.left_after, "variance_left")}};
  }
  return record;
}

Record run_record(const RunLine& run) {
  return {{"family", run.family},
          {"run", run.name},
          {"step_seconds", finite(run.seconds, "step_seconds")},
          {"error_before", finite(run.before, "error_before")},
          {"error_after", finite(run.after, "error_after")},
          {"noise", finite(run.noise, "noise")},
          {"fitted", run.note.empty()},
          {"note", run.note}};
}

void write_inference_json(std::ostream& out, const Heading& heading, const InferenceReport& report) {
  Record document{{"farandole", version()}, {"scenario", heading.scenario}, {"settings", Record(heading.settings)}};
  document["noise_enlarged"] = report.enlarged;
  document["simulations"] = report.simulations;
  document["numbers"] = mapped(report.numbers, number_record);
  document["runs"] = mapped(report.runs, run_record);
  out << json_text(document, 2) << '\n';
}

}  // namespace

void write_calibration(std::ostream& out, Format format, const Heading& heading,
                       const std::vector<CalibrationLine>& lines, const CalibrationSummary& summary) {
  if (format == Format::json) return write_calibration_json(out, heading, lines, summary);
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

void write_inference(std::ostream& out, Format format, const Heading& heading, const InferenceReport& report) {
  if (format == Format::json) return write_inference_json(out, heading, report);
  write_title(out, heading);
  write_numbers(out, report);
  write_inference_remarks(out, report);
  out << '\n';
  write_runs(out, report);
  write_settings(out, heading);
}

}}  // namespace farandole::report
