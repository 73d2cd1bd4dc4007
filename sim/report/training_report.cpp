#include <algorithm>
#include <functional>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/answer.hpp"
#include "report/facet.hpp"
#include "report/field_table.hpp"
#include "report/page.hpp"
#include "report/reports.hpp"
#include "report/table.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr std::size_t most_weights_shown = 12;

std::vector<std::size_t> epochs_shown(std::size_t epochs) {
  std::vector<std::size_t> shown;
  for (std::size_t power = 1; power <= epochs; power *= 10) {
    for (const std::size_t step : {1, 2, 5}) {
      if (power * step < epochs) shown.push_back(power * step);
    }
  }
  if (epochs > 0) shown.push_back(epochs);
  return shown;
}

void add_rows(Table& table, const std::vector<std::string>& names, const Learning& learning) {
  const auto row = [&](std::size_t epoch, Seconds at, double loss) {
    table.row(names, {std::to_string(epoch), format(at), fmt::format("{:.6g}", loss)});
  };
  row(0, Seconds(0), learning.start_loss);
  for (const std::size_t epoch : epochs_shown(learning.loss.size())) {
    row(epoch, learning.seconds[epoch - 1], learning.loss[epoch - 1]);
  }
}

void write_weights(std::ostream& out, const std::vector<std::string>& names, const Learning& learning) {
  if (learning.weights.size() > most_weights_shown) return;
  out << fmt::format("# weights ({}): {:.9g}\n", fmt::join(names, ", "), fmt::join(learning.weights, ", "));
}

/// A few epochs of each point, in steps of 1, 2, 5, 10, 20, ... and the last one; weights below where they are few.
/// JSON has all of it. Nothing where no point has learned anything.
void write_learning(std::ostream& out, const Facets<TrainingPoint>& facets, std::span<const TrainingPoint> points) {
  if (std::ranges::none_of(points, [](const TrainingPoint& point) { return point.learning.has_value(); })) return;
  out << "\nLoss against simulated time\n";
  Table table(with_figures(facet_columns(facets), {"epoch", "simulated time", "loss"}));
  for (const TrainingPoint& point : points) {
    if (point.learning) add_rows(table, facet_cells(facets, point), *point.learning);
  }
  table.write(out);
  for (const TrainingPoint& point : points) {
    if (point.learning) write_weights(out, facet_cells(facets, point), *point.learning);
  }
}

using Points = std::span<const TrainingPoint>;
using TrainingFacets = Facets<TrainingPoint>;

TimeColumn iterations_of(Points points) {
  const auto shortest = std::ranges::min_element(points, {}, &TrainingPoint::iteration);
  return iteration_column(shortest == points.end() ? Seconds(0) : shortest->iteration);
}

std::vector<std::string> share_cells(const TrainingPoint& point) {
  const Seconds total = point.breakdown.total();
  return mapped(point.breakdown.parts(), [&](const WaterfallPart& part) {
    return total > Seconds(0) ? grouped(part.time / total * 100, 1) : "";
  });
}

using CellsOf = std::function<std::vector<std::string>(const TrainingPoint&)>;

Table training_table(const TrainingFacets& facets, Points points, const std::vector<std::string>& headings,
                     const CellsOf& cells) {
  Table table(with_figures(facet_columns(facets), headings));
  for (const TrainingPoint& point : points) table.row(facet_cells(facets, point), cells(point));
  return table;
}

/// Where the compute times come from is a matter of the model: said once for each.
void write_compute_sources(std::ostream& out, Points points) {
  std::vector<std::string> said;
  if (!points.empty()) out << '\n';
  for (const TrainingPoint& point : points) {
    const std::string line = printable("# compute of " + point.model + ": " + point.compute_source);
    if (std::ranges::find(said, line) != said.end()) continue;
    said.push_back(line);
    out << line << '\n';
  }
}

/// Each once, with the points that it is of where it is not of all.
/// What differs in its numbers alone is one line, the first of them.
void write_notes(std::ostream& out, Points points) {
  std::vector<std::pair<std::string, std::vector<std::string>>> alike;
  for (const TrainingPoint& point : points) {
    for (const std::string& note : point.notes) {
      std::string words = note;
      if (points.size() > 1) std::erase_if(words, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
      const auto found = std::ranges::find(alike, words, [](const auto& each) { return each.first; });
      found == alike.end() ? void(alike.push_back({words, {note}})) : found->second.push_back(note);
    }
  }
  for (const auto& [words, notes] : alike) {
    out << "# note: " << printable(notes.front());
    const bool differ = std::ranges::count(notes, notes.front()) < std::ssize(notes);
    if (notes.size() < points.size() || differ)
      out << fmt::format(" ({} of {} points{})", std::min(notes.size(), points.size()), points.size(),
                         differ ? "; numbers of the first" : "");
    out << '\n';
  }
}

void write_measured(std::ostream& out, const TrainingFacets& facets, Points points) {
  const TimeColumn times = iterations_of(points);
  training_table(facets, points, column_headings<TrainingPoint>(times), [&](const TrainingPoint& point) {
    return column_cells(point, times);
  }).write(out);
  if (!have_bands(points)) return;
  out << "\n" << band_probability(points) << " interval, from " << what_bands_are_of(points) << "\n";
  const std::vector<std::string> headings = column_headings<Bands>(times);
  training_table(facets, points, headings, [&](const TrainingPoint& point) {
    return point.bands ? column_cells(*point.bands, times) : std::vector<std::string>(headings.size());
  }).write(out);
}

/// Of language models, where it decides what can be trained: the parts that any point has.
void write_memory_table(std::ostream& out, const TrainingFacets& facets, Points points) {
  static const std::vector<std::pair<std::string, Bytes MemoryUse::*>> parts{
      {"parameters", &MemoryUse::parameters},     {"gradients", &MemoryUse::gradients},
      {"optimizer", &MemoryUse::optimizer_state}, {"activations", &MemoryUse::activations},
      {"gathered", &MemoryUse::gathered},         {"buffers", &MemoryUse::fusion_buffers}};
  std::vector<std::string> headings;
  std::vector<Bytes MemoryUse::*> shown;
  for (const auto& [heading, part] : parts) {
    const bool is_there =
        std::ranges::any_of(points, [&](const TrainingPoint& p) { return p.memory.*part > Bytes(0); });
    if (!is_there) continue;
    headings.push_back(heading);
    shown.push_back(part);
  }
  headings.insert(headings.end(), {"sum", "device"});
  out << "\nMemory of a device, of the fullest rank\n";
  training_table(facets, points, headings, [&](const TrainingPoint& point) {
    auto cells = mapped(shown, [&](Bytes MemoryUse::*part) { return decimal(point.memory.*part); });
    cells.insert(cells.end(), {decimal(point.memory.total()), decimal(point.memory.device)});
    return cells;
  }).write(out);
}

void write_training_table(std::ostream& out, const Heading& heading, Points points) {
  const TrainingFacets facets = split(training_facets(points), points);
  write_mixed_compute(out, points);
  write_title(out, heading);
  write_answer(out, heading, points);
  const std::string shared = shared_text(facets, points);
  if (!shared.empty()) out << "# all points: " << shared << '\n';
  write_notes(out, points);
  out << '\n';
  write_measured(out, facets, points);
  out << '\n' << styled(out, Style::bold, "Share of the iteration (%)") << '\n';
  training_table(facets, points, breakdown_names(), share_cells).write(out);
  const auto has_sequences = [](const TrainingPoint& point) { return point.utilisation.sequence_length > 0; };
  if (std::ranges::any_of(points, has_sequences)) {
    out << "\nTokens, and what the model's operations are of a device's peak\n";
    training_table(facets, points, column_headings<Utilisation>(), [](const TrainingPoint& point) {
      return column_cells(point.utilisation);
    }).write(out);
    write_memory_table(out, facets, points);
  }
  write_compute_sources(out, points);
  write_tuning(out, points);
  write_whole_runs(out, points);
  write_costs(out, facets, points);
  write_explanations(out, points);
  write_learning(out, facets, points);
  write_neighbours(out, points);
  write_busiest_links(out, points);
  write_settings(out, heading);
}

}  // namespace

std::vector<std::string> breakdown_names() {
  auto names = mapped(Breakdown{}.parts(), &WaterfallPart::name);
  for (std::string& name : names) std::ranges::replace(name, '_', ' ');
  return names;
}

void write_answer(std::ostream& out, const Heading& heading, Points points) {
  if (!heading.question) return;
  for (const std::string& sentence : answer_to(points, *heading.question)) {
    out << styled(out, Style::bold, "# " + printable(sentence)) << '\n';
  }
}

void write_mixed_compute(std::ostream& out, Points points) {
  if (const std::string mixed = mixed_compute_sentence(points); !mixed.empty()) out << "# " << printable(mixed) << '\n';
}

void write_training(std::ostream& out, Format format, const Heading& heading, Points points) {
  const std::vector<Record> records = to_records(points);  // refuses what is not finite, for the table too
  if (format == Format::table) return write_training_table(out, heading, points);
  if (format == Format::json) return write_json(out, heading, records, answered(heading.question, points));
  std::vector<Record> rows = to_records(points, RecordForm::row);
  for (const auto& [point, reason] : heading.failed) rows.push_back({{"failed", point + ": " + reason}});
  write_csv(out, points.empty() ? to_record(TrainingPoint{}, RecordForm::row) : rows.front(), rows);
}

namespace {

std::string switches_of(const TuningSample& sample) {
  std::vector<std::string> on;
  if (sample.hierarchical_allreduce) on.emplace_back("hierarchical allreduce");
  if (sample.hierarchical_allgather) on.emplace_back("hierarchical allgather");
  if (sample.cache_enabled) on.emplace_back("cache");
  return fmt::format("{}", fmt::join(on, ", "));
}

}  // namespace

void write_tuning(std::ostream& out, std::span<const TrainingPoint> points) {
  if (std::ranges::none_of(points, [](const TrainingPoint& point) { return point.tuning.has_value(); })) return;
  out << "\nAutotuned\n";
  Table table({{"model", Align::left},
               {"ranks"},
               {"fusion threshold"},
               {"cycle (ms)"},
               {"switched on", Align::left},
               {"bytes/us"},
               {"tried"},
               {"steps"},
               {"seconds"}});
  for (const TrainingPoint& point : points) {
    if (!point.tuning) continue;
    const Tuning& tuning = *point.tuning;
    table.row({point.model, std::to_string(point.ranks), format(tuning.best.fusion_threshold),
               grouped(tuning.best.cycle_time.si() * milliseconds_per_second, 2), switches_of(tuning.best),
               grouped(tuning.best.score, 1), std::to_string(tuning.samples.size()), std::to_string(tuning.steps),
               grouped(tuning.seconds.si(), 1)});
  }
  table.write(out);
}

}}  // namespace farandole::report
