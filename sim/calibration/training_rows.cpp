#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "calibration/posterior.hpp"
#include "calibration/published.hpp"
#include "config/section.hpp"
#include "config/text.hpp"
#include "scenario/anchor.hpp"
#include "scenario/model_error.hpp"
#include "scenario/parts.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/train.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr double least_run_noise = 0.01;  // what runs of the same day differ by
constexpr double otherwise = 0.05;        // where no published runs say what the simulator is wrong by
constexpr const char* for_calibration = "calibration";
constexpr const char* kept_to_compare = "kept to compare with; --all-rows fits to it too";

/// A row of several ranks, before it is run.
struct TrainingCandidate {
  TrainingRow row;
  std::optional<double> samples_per_second{};  // where its step is not known yet; or
  std::optional<double> efficiency{};
};

std::vector<TrainingCandidate> of_published(const std::string& file, const Document& document, const RunSources& how,
                                            const Catalogue& catalogue) {
  const std::string family = std::filesystem::path(file).stem().string();
  std::vector<TrainingCandidate> candidates;
  bool has_some_for_it = false;
  for (PublishedRow& row : read_published(document, family, catalogue)) {
    const bool is_for_it = row.note.starts_with(for_calibration);
    has_some_for_it = has_some_for_it || is_for_it;
    TrainingRow training{family, "", std::move(row.scenario), {file, 1, ""}, {}, 0, is_for_it ? "" : row.note};
    candidates.push_back({std::move(training), row.samples_per_second, row.efficiency});
    if (!is_for_it && row.note.empty()) candidates.back().row.note = kept_to_compare;
  }
  for (TrainingCandidate& candidate : candidates) {
    if ((how.all_rows || !has_some_for_it) && candidate.row.note == kept_to_compare) candidate.row.note.clear();
  }
  return candidates;
}

std::vector<TrainingCandidate> of_own(std::vector<TrainingRow> rows, const RunSources& how) {
  std::vector<TrainingCandidate> candidates;
  for (TrainingRow& row : rows) {
    row.scenario.set("/platform/topology", how.topology);
    candidates.push_back({std::move(row)});
  }
  return candidates;
}

bool is_published(const Document& document) {
  return document.root().is_object() && document.find("/rows") && document.find("/scenario");
}

std::vector<TrainingCandidate> candidates_of_file(const std::string& file, const RunSources& how, int devices_per_node,
                                                  const Catalogue& catalogue) {
  const std::string family = std::filesystem::path(file).stem().string();
  const std::string text = read_text(file);
  if (is_run_table(text)) {
    if (how.scenario.empty())
      throw InputError(
          fmt::format("farandole: --scenario: expected the scenario that the runs of {} are of, got "
                      "nothing",
                      quoted(file)));
    return of_own(table_runs(file, text, Document::read(how.scenario), devices_per_node, family), how);
  }
  const Document document = Document::parse(text, file);
  if (is_published(document)) return of_published(file, document, how, catalogue);
  return of_own(own_runs(document, devices_per_node, family), how);
}

/// The name that a topology has in its file, whatever the scenario calls it by.
std::string platform_of(const Document& scenario, const Catalogue& catalogue) {
  const auto named = scenario.find("/platform/topology");
  if (!named || !named->is_string()) return "";
  return catalogue.topology(read<std::string>(*named), *named).name;
}

double noise_of(const TrainedPoint& point, const Scenario& scenario, const Reach& reach, const std::string& family,
                const Catalogue& catalogue) {
  const auto errors = model_errors(catalogue, error_family(family, reach));
  const TimeBand error = errors
                             ? model_error(*errors, scenario, reach, point.iteration)
                             : TimeBand{std::exp(-otherwise * to_ninth_decile), std::exp(otherwise * to_ninth_decile)};
  const TimeBand band = together(compute_band(point, scenario), error);
  return std::max(least_run_noise, std::log(band.most / band.least) / 2 / to_ninth_decile);
}

/// Name, measured step and noise; nothing of a row that is an input.
std::optional<TrainingRow> finished(TrainingCandidate candidate, const Catalogue& catalogue) {
  TrainingRow row = std::move(candidate.row);
  const Document document = anchored(row.scenario, catalogue);
  const Scenario scenario = read_scenario(document.root(), catalogue);
  if (scenario.platform.ranks == 1 || is_an_anchor(scenario)) return std::nullopt;
  const TrainedPoint point = train(scenario, nullptr);
  const ComputeTimes single = times_of(scenario);
  if (candidate.efficiency) {
    row.step = single.total() * scenario.strategy.accumulation / *candidate.efficiency;
  } else if (candidate.samples_per_second) {
    row.step = Seconds(static_cast<double>(scenario.samples_per_step()) / *candidate.samples_per_second);
  }
  row.name = fmt::format("{} {}, {} ranks, {} each", point.model, point.precision, point.ranks, point.batch_per_rank);
  row.noise = noise_of(point, scenario, reach_of(scenario, document, single), row.family, catalogue);
  return row;
}

}  // namespace

bool holds_training(const std::filesystem::path& file) {
  if (!is_regular_file(file)) return false;  // a pipe can be read once only
  const std::string text = read_text(file);
  if (is_run_table(text)) return true;
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return false;
  try {
    const Document document = Document::parse(text, file.string());
    return is_published(document) || document.find("/workload").has_value();
  } catch (const InputError&) {
    return false;  // a point in every line, or what its reader will refuse
  }
}

std::vector<TrainingRow> read_training(std::span<const std::string> files, const RunSources& how,
                                       const Document& topology, const Catalogue& catalogue) {
  const Topology machine = read_topology(topology.root(), topology.source());
  std::vector<TrainingRow> rows;
  for (const std::string& file : files) {
    for (TrainingCandidate& candidate : candidates_of_file(file, how, machine.devices_per_node, catalogue)) {
      if (platform_of(candidate.row.scenario, catalogue) != machine.name) continue;
      candidate.row.scenario.set("/platform/topology", how.topology);
      if (auto row = finished(std::move(candidate), catalogue)) rows.push_back(std::move(*row));
    }
  }
  if (std::ranges::none_of(rows, [](const TrainingRow& row) { return row.note.empty(); })) {
    throw InputError({files.front(), 1, ""},
                     fmt::format("a run on several ranks of {} to fit to", quoted(machine.name)), "none");
  }
  return rows;
}

}}  // namespace farandole::calibration
