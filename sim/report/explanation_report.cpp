#include <algorithm>
#include <iterator>
#include <ostream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/facet.hpp"
#include "report/field_table.hpp"
#include "report/reports.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

std::string title(const TrainingPoint& point) {
  return fmt::format("{} on {} ranks", point.model, point.ranks);
}

std::string in_milliseconds(Seconds time) {
  return grouped(time.si() * milliseconds_per_second, 3);
}

void write_parts(std::ostream& out, const char* what, const std::vector<WaterfallPart>& parts, Seconds iteration) {
  Table table({{what, Align::left}, {"ms"}, {"% of the iteration"}});
  for (const auto& [name, time] : parts) {
    table.row({name, in_milliseconds(time), grouped(time / iteration * 100, 1)});
  }
  table.write(out);
}

void write_waterfall(std::ostream& out, const TrainingPoint& point) {
  out << "\nWaterfall of " << title(point) << ": what each mechanism adds to the iteration\n";
  std::vector<WaterfallPart> parts = point.explanation->waterfall;
  parts.push_back({"iteration", point.iteration});
  write_parts(out, "mechanism", parts, point.iteration);
}

void write_exposed(std::ostream& out, const TrainingPoint& point) {
  if (!point.exposed) return;
  out << "\nExposed communication of " << title(point) << ": what the device waits for, by operation\n";
  const ExposedCommunication& exposed = *point.exposed;
  std::vector<WaterfallPart> parts{
      {"allgather", exposed.allgather}, {"reduce_scatter", exposed.reduce_scatter}, {"allreduce", exposed.allreduce}};
  if (exposed.tensor) parts.push_back({"tensor parallelism", *exposed.tensor});
  if (exposed.experts) parts.push_back({"expert parallelism", *exposed.experts});
  if (exposed.pipeline) parts.push_back({"other stages of the pipeline", *exposed.pipeline});
  parts.push_back({"together", point.breakdown.exposed_communication});
  write_parts(out, "operation", parts, point.iteration);
}

void write_path(std::ostream& out, const TrainingPoint& point) {
  out << "\nCritical path of the last iteration of " << title(point) << "\n";
  Table table({{"activity", Align::left}, {"from (ms)"}, {"to (ms)"}});
  for (const auto& [activity, from, to] : point.explanation->critical_path) {
    table.row({activity, in_milliseconds(from), in_milliseconds(to)});
  }
  table.write(out);
}

/// To be typed, but for the cut of the sweep to this point; what is long, or no word for a shell, stands in the JSON
/// only.
std::string options_of(const WhatIf& what_if) {
  std::string options;
  bool is_plain = true;
  for (const auto& [pointer, json] : what_if.set) {
    if (pointer == "/sweep" || pointer == "/question") continue;
    is_plain = is_plain && (pointer + json).find('\'') == std::string::npos;
    options += fmt::format("{}--set '{}={}'", options.empty() ? "" : " ", pointer, json);
  }
  constexpr std::size_t most = 120;
  return is_plain && !options.empty() && options.size() <= most ? printable(options) : "see \"set\" in JSON";
}

bool is_uncertain(const WhatIf& what_if) {
  return what_if.kind == "uncertain";
}

void write_what_ifs(std::ostream& out, const TrainingPoint& point) {
  if (std::ranges::all_of(point.explanation->what_ifs, is_uncertain)) return;
  out << "\nWhat if, for " << title(point) << ": gain in percentage points of present linear scaling, cheapest first\n";
  Table table({{"change", Align::left},
               {"kind", Align::left},
               {"points"},
               {band_probability({&point, 1}) + " interval"},
               {"P(faster) (%)"},
               {"samples/s"},
               {"as an option", Align::left}});
  for (const WhatIf& what_if : point.explanation->what_ifs) {
    if (is_uncertain(what_if)) continue;
    table.row({what_if.change, what_if.kind, fmt::format("{:+.1f}", what_if.efficiency_points), points_band(what_if),
               sure_text(faster(what_if, point)), grouped(what_if.samples_per_second, 1), options_of(what_if)});
  }
  table.write(out);
}

void write_uncertain(std::ostream& out, const TrainingPoint& point) {
  if (std::ranges::none_of(point.explanation->what_ifs, is_uncertain)) return;
  out << "\nSensitivity of " << title(point) << ": what was measured elsewhere, at the ends of its width\n";
  Table table({{"if it is", Align::left}, {"points"}, {"efficiency (%)"}, {"as an option", Align::left}});
  for (const WhatIf& what_if : point.explanation->what_ifs) {
    if (!is_uncertain(what_if)) continue;
    table.row({what_if.change, fmt::format("{:+.1f}", what_if.efficiency_points),
               grouped(what_if.scaling_efficiency * 100, 1), options_of(what_if)});
  }
  table.write(out);
}

void write_memory_of(std::ostream& out, const TrainingPoint& point) {
  const MemoryUse& memory = point.memory;
  out << "\nMemory of " << title(point) << ": " << decimal(memory.total()) << " of " << decimal(memory.device)
      << " per device (activations " << decimal(memory.activations) << ")";
  if (memory.outside > Bytes(0)) out << ", and " << decimal(memory.outside) << " outside the framework's allocator";
  out << "\n";
}

/// Where anything but training takes a share of the time.
void write_run_shares(std::ostream& out, std::span<const TrainingPoint> points) {
  const auto loses = [](const TrainingPoint& p) { return p.run && (p.run->mtbf || p.run->checkpoint_interval); };
  if (std::ranges::none_of(points, loses)) return;
  out << "\nShare of the whole run (%), and intervals between checkpoints (s)\n";
  const auto columns = with_figures({{"model", Align::left}, {"ranks"}}, column_headings<RunShares>());
  Table table(with_figures(columns, {"MTBF (h)", "checkpoint every", "best", "goodput then"}));
  for (const TrainingPoint& point : points) {
    if (!loses(point)) continue;
    const WholeRun& run = *point.run;
    const auto seconds = [](const std::optional<Seconds>& time) { return time ? grouped(time->si(), 1) : "-"; };
    std::vector<std::string> row{point.model, std::to_string(point.ranks)};
    std::ranges::copy(column_cells(run.shares), std::back_inserter(row));
    table.row(std::move(row),
              {run.mtbf ? grouped(*run.mtbf / 3600_s, 2) : "-", seconds(run.checkpoint_interval),
               seconds(run.best_interval), run.best_goodput ? grouped(100 * *run.best_goodput, 1) : "-"});
  }
  table.write(out);
}

}  // namespace

void write_whole_runs(std::ostream& out, std::span<const TrainingPoint> points) {
  if (std::ranges::none_of(points, [](const TrainingPoint& p) { return p.run.has_value(); })) return;
  out << "\nWhole run\n";
  Table table(with_figures({{"model", Align::left}, {"ranks"}}, column_headings<WholeRun>()));
  std::vector<std::string> notes;
  for (const TrainingPoint& point : points) {
    if (!point.run) continue;
    table.row({point.model, std::to_string(point.ranks)}, column_cells(*point.run));
    for (const std::string& caveat : point.run->caveats) notes.push_back(title(point) + ": " + caveat);
  }
  table.write(out);
  for (const std::string& note : notes) out << "# " << note << '\n';
  write_run_shares(out, points);
}

void write_explanations(std::ostream& out, std::span<const TrainingPoint> points) {
  for (const TrainingPoint& point : points) {
    if (!point.explanation) continue;
    write_waterfall(out, point);
    write_exposed(out, point);
    write_path(out, point);
    write_what_ifs(out, point);
    write_uncertain(out, point);
    write_memory_of(out, point);
  }
}

}}  // namespace farandole::report
