#include <ostream>

#include <fmt/format.h>

#include "report/record.hpp"
#include "report/reports.hpp"
#include "report/table.hpp"
#include "report/version.hpp"

namespace farandole { inline namespace report {
namespace {

std::string of_percent(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
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
               signed_percent(run.after, 1), of_percent(run.noise), printable(run.note)});
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
  document["numbers"] = Record::array();
  for (const NumberLine& line : report.numbers) document["numbers"].push_back(number_record(line));
  document["runs"] = Record::array();
  for (const RunLine& run : report.runs) document["runs"].push_back(run_record(run));
  out << json_text(document, 2) << '\n';
}

}  // namespace

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
