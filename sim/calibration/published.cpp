#include "calibration/published.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "calibration/predictor.hpp"
#include "calibration/published_bands.hpp"
#include "calibration/read_measurements.hpp"
#include "config/section.hpp"
#include "scenario/anchor.hpp"
#include "scenario/library_choice.hpp"
#include "scenario/model_error.hpp"
#include "scenario/parts.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/train.hpp"
#include "scenario/unsettled_numbers.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

using FilePath = std::filesystem::path;

std::string why_not_counted(const PublishedRow& row, const TrainingPoint& point, const ComputeTimes& single,
                            bool is_anchor) {
  if (point.ranks == 1) return "one device: an input";
  if (is_anchor) return "the run that the row is anchored on: an input";
  if (!row.note.empty()) return row.note;
  return single.measured ? "" : "the rate of one device is estimated";
}

/// The JSON files of a folder in order of name.
std::vector<FilePath> json_files(const FilePath& folder) {
  std::vector<FilePath> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Whether a file says that it holds published runs.
bool holds_runs(const Document& file) {
  const auto schema = file.find("/$schema");
  return schema && schema->is_string() && read<std::string>(*schema).ends_with("/published.schema.json");
}

struct Family {
  std::string name;
  Document file;
};

std::vector<Family> families_of(const Catalogue& catalogue) {
  const FilePath folder = catalogue.root() / "scenarios" / "published";
  std::vector<Family> families;
  for (const FilePath& path : json_files(folder)) {
    Document file = Document::read(path);
    if (holds_runs(file)) families.push_back({path.stem().string(), std::move(file)});
  }
  return families;
}

std::vector<Family> tables_of(const Catalogue& catalogue) {
  return mapped(json_files(catalogue.root() / "scenarios" / "published" / "collectives"), [](const FilePath& path) {
    return Family{"collectives/" + path.stem().string(), Document::read(path)};
  });
}

void refuse_unknown(const std::vector<std::string>& wanted, const std::vector<Family>& families,
                    const std::vector<Family>& tables) {
  auto known = mapped(families, &Family::name);
  for (const Family& table : tables) known.push_back(table.name);
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw InputError("farandole: --only: expected a file of scenarios/published, got " + quoted(name) +
                     suggestion(name, known));
  }
}

std::vector<PublishedRow> rows_of_families(const std::vector<Family>& families, const Catalogue& catalogue) {
  std::vector<PublishedRow> rows;
  for (const Family& family : families)
    std::ranges::move(read_published(family.file, family.name, catalogue), std::back_inserter(rows));
  return rows;
}

JudgedTable judge(const Document& file, const std::string& family, const Catalogue& catalogue, bool cold) {
  Section section(file.root());
  const Value topology_name = section.child("topology");
  const auto other_machine = section.maybe("override");
  Topology topology = catalogue.topology(read<std::string>(topology_name), topology_name, other_machine);
  const auto is_fitted_to_it = [&](const LibraryTimes& times) {
    return cold || other_machine || (!times.table.empty() && family.ends_with("/" + times.table));
  };
  std::erase_if(topology.transport.library_times, is_fitted_to_it);
  const Value library = section.child("library");
  const auto note = section.optional<std::string>("note", "");
  std::vector<MeasuredTime> rows = read_measurements(FilePath(file.source()));
  for (const MeasuredTime& row : rows) {
    const Operation* operation = find_operation(row.operation);
    const std::string by = row.algorithm.empty() ? read<std::string>(library) : row.algorithm;
    if (operation == nullptr || !find_algorithm_or_library(*operation, by))
      throw InputError(row.place, "an operation of " + by, quoted(row.operation));
  }
  const std::vector<Seconds> predicted = predict(topology, rows);
  JudgedTable table;
  if (!rows.empty()) table.measured_besides = is_measured_besides(rows.front(), read<std::string>(library), topology);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ValidationPoint point = validation_point(predicted[i], rows[i].time, rows[i].doubt.value_or(note));
    point.family = family;
    point.row = fmt::format("{}, {:.0f} bytes, {} ranks", rows[i].operation, rows[i].bytes.si(), rows[i].ranks);
    point.operation = rows[i].operation;
    point.ranks = rows[i].ranks;
    point.nodes = rows[i].nodes.value_or(1);
    point.bytes = rows[i].bytes;
    table.points.push_back(std::move(point));
  }
  return table;
}

}  // namespace

bool is_an_anchor(const Scenario& scenario) {
  return std::ranges::any_of(scenario.workload.anchors, [&](const AnchorRun& run) {
    return run.ranks == scenario.platform.ranks && run.batch == scenario.workload.batch_per_rank &&
           run.accumulation == scenario.strategy.accumulation;
  });
}

std::vector<PublishedRow> published_rows(const Catalogue& catalogue) {
  return rows_of_families(families_of(catalogue), catalogue);
}

ValidationPoint validate(const PublishedRow& row, const Catalogue& catalogue) {
  const Document document = anchored(row.scenario, catalogue);
  const Scenario scenario = read_scenario(document.root(), catalogue);
  const TrainedPoint run = train(scenario, nullptr);
  const ComputeTimes single = times_of(scenario);
  const int passes = scenario.strategy.accumulation;
  const Seconds alone = single.total() * passes;
  const auto samples = static_cast<double>(scenario.samples_per_step());
  const Seconds measured = row.efficiency ? alone / *row.efficiency : Seconds(samples / *row.samples_per_second);
  ValidationPoint point =
      validation_point(run.iteration, measured, why_not_counted(row, run, single, is_an_anchor(scenario)));
  point.family = row.family;
  point.row = fmt::format("{} {}, {} ranks, {} each", run.model, run.precision, run.ranks, run.batch_per_rank);
  point.operation = "training";
  point.ranks = run.ranks;
  point.nodes = run.nodes;
  point.reach = reach_of(scenario, document, single);
  if (run.ranks > 1 && single.measured) point.null_model = point.reach->known / measured - 1;
  if (run.ranks > 1 && point.counted) {
    const TimeBand own =
        together(compute_band(run, scenario), band_of(number_sources(run, document, catalogue, scenario)));
    point.reach->compute = {own.least, own.most};
    const auto errors = model_errors(catalogue, error_family(row.family, *point.reach));
    const TimeBand error = errors ? model_error(*errors, scenario, *point.reach, run.iteration) : TimeBand{};
    const TimeBand band = together(own, error);
    if (band.is_open()) point.band = Band{point.predicted * band.least, point.predicted * band.most};
  }
  return point;
}

std::vector<ValidationPoint> validate_published_collectives(const Document& file, const std::string& family,
                                                            const Catalogue& catalogue) {
  return judge(file, family, catalogue, false).points;
}

std::vector<ValidationPoint> validate_published_collectives_on(const std::string& topology,
                                                               const Catalogue& catalogue) {
  std::vector<ValidationPoint> points;
  for (const Family& table : tables_of(catalogue)) {
    const auto measured_on = table.file.find("/topology");
    if (!measured_on || read<std::string>(*measured_on) != topology || table.file.find("/override")) continue;
    std::ranges::move(validate_published_collectives(table.file, table.name, catalogue), std::back_inserter(points));
  }
  return points;
}

std::vector<ValidationPoint> validate_published(const Catalogue& catalogue, const PublishedRequest& request) {
  auto families = families_of(catalogue);
  auto tables = tables_of(catalogue);
  refuse_unknown(request.families, families, tables);
  const auto is_unwanted = [&wanted = request.families](const Family& family) {
    return !wanted.empty() && std::ranges::find(wanted, family.name) == wanted.end();
  };
  std::erase_if(families, is_unwanted);
  std::erase_if(tables, is_unwanted);
  std::vector<PublishedRow> rows = rows_of_families(families, catalogue);
  std::vector<ValidationPoint> points;
  for (PublishedRow& row : rows) {
    if (request.progress) request.progress(static_cast<int>(points.size()), static_cast<int>(rows.size()));
    if (request.adapt) request.adapt(row.scenario);
    points.push_back(validate(row, catalogue));
  }
  if (request.ratios != nullptr) *request.ratios = ratios_of(rows, points, catalogue);
  auto judged =
      mapped(tables, [&](const Family& table) { return judge(table.file, table.name, catalogue, request.cold); });
  add_bands(judged);
  for (JudgedTable& table : judged) std::ranges::move(table.points, std::back_inserter(points));
  return points;
}

}}  // namespace farandole::calibration
