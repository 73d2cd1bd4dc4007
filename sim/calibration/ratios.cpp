#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "calibration/published.hpp"
#include "scenario/anchor.hpp"
#include "scenario/compared_settings.hpp"
#include "scenario/train.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

/// Where scenarios say what a run is.
constexpr std::array sections{"workload", "platform", "strategy", "collectives", "effects"};

/// A row that may be one of a pair.
struct PairedRow {
  const PublishedRow* row;
  const ValidationPoint* point;
  std::string source;
  ComparedSettings settings;
  double samples = 0;  // of a device in a step
  std::optional<Document> anchored;
  bool is_paired = false;
  bool has_failed = false;  // in a pair: no time of a device gives what was measured
};

/// "tensorflow/docs" of "tensorflow/docs:site/en/...@62da04c0", "github.com/tensorflow/benchmarks/issues/397".
std::string source_of(const PublishedRow& row) {
  const std::size_t begin = row.source.starts_with("https://") ? 8 : 0;
  const std::string name = row.source.substr(begin, row.source.find_first_of("@: ", begin) - begin);
  return name.find('/') != std::string::npos ? name : row.source.substr(0, row.source.find(','));
}

/// What a note begins with, until its first comma or colon.
std::string reason_of(const std::string& note) {
  return note.starts_with("calibration:") ? "a number is fitted to it" : note.substr(0, note.find_first_of(",:;"));
}

bool is_usable(const PublishedRow& row) {
  return row.note.empty() || row.note.starts_with("no run of one GPU with this software is published;");
}

/// What two rows differ in: one kind, with the batch that comes with it; a device of another generation is one thing,
/// and so is another machine. Empty where it is nothing or more.
std::string kind_between(const PairedRow& from, const PairedRow& to) {
  auto kinds = mapped(changed_between(from.settings, to.settings), &ComparedSetting::of);
  const auto has = [&](const char* kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
  const auto drop = [&](const char* kind) { std::erase(kinds, kind); };
  if (has("device")) drop("network");
  if (has("generation")) drop("device");
  if (has("strategy")) {
    for (const char* with : {"strategy's settings", "algorithm", "servers", "sharding"}) drop(with);
  }
  if (from.row->software != to.row->software && !has("program")) return "";  // which no scenario says
  if (kinds.size() > 1) drop("batch");
  return kinds.size() == 1 ? kinds.front() : "";
}

/// What is measured of the row is all that is known of it.
Document as_measurement(const PairedRow& candidate, const Catalogue& catalogue) {
  Document document = candidate.row->scenario;
  document.set("/workload/measured", fmt::format(R"([{{"ranks": {}, "iteration_seconds": {:.17g}}}])",
                                                 candidate.point->ranks, candidate.point->measured));
  document.remove("/workload/measured_under");
  return anchored(document, catalogue);
}

/// The first scenario with everything that the second one says otherwise.
Document changed_to(const Document& from, const Document& to) {
  Document changed = from;
  for (const std::string section : sections) {
    const std::string at = "/" + section;
    if (!changed.find(at)) changed.set(at, "{}");
    const auto wanted = to.find(at);
    for (const auto& [key, value] : from.find(at) ? from.find(at)->members() : decltype(from.root().members()){}) {
      const bool is_known = key == "device_steps" || key.starts_with("anchored_");
      if (!is_known && !to.find(at + "/" + key)) changed.remove(at + "/" + key);
    }
    if (!wanted) continue;
    for (const auto& [key, value] : wanted->members()) {
      if (key != "measured" && key != "measured_under") changed.set(at + "/" + key, value.node());
    }
  }
  return changed;
}

std::string full_name_of(const PairedRow& candidate) {
  return candidate.row->family + ": " + candidate.point->row;
}

std::vector<PairedRow> candidates_of(const std::vector<PublishedRow>& rows, const std::vector<ValidationPoint>& points,
                                     const Catalogue& catalogue, RatioPairs& ratios) {
  std::vector<PairedRow> candidates;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_usable(rows[i])) {
      ++ratios.left_out[reason_of(rows[i].note)];
      continue;
    }
    Document document = rows[i].scenario;
    for (const char* of_another : {"/workload/measured", "/workload/measured_under"}) document.remove(of_another);
    const Scenario scenario = read_scenario(document.root(), catalogue);
    candidates.push_back({&rows[i],
                          &points[i],
                          source_of(rows[i]),
                          compared_settings(rows[i].scenario, scenario),
                          static_cast<double>(scenario.samples_per_step()) / scenario.platform.ranks,
                          {}});
  }
  // More ranks are predicted from fewer.
  std::ranges::stable_sort(candidates, {}, [](const PairedRow& candidate) { return candidate.point->ranks; });
  return candidates;
}

/// What is said of the ratio by spreads that have seen neither family.
Difference said_of(const PairedRow& from, const PairedRow& to, const TrainingPoint& predicted, double ratio,
                   const Catalogue& catalogue) {
  TrainingPoint one = predicted;
  TrainingPoint other = predicted;
  one.ranks = from.point->ranks;
  one.compared = from.settings;
  other.compared = to.settings;
  other.bands.emplace().probability = 0.8;
  one.samples_per_second = 1;
  other.samples_per_second = ratio;
  put_apart(one.compared, predicted, difference_errors(catalogue, from.row->family));
  put_apart(other.compared, predicted, difference_errors(catalogue, to.row->family));
  return *difference(one, other);
}

RatioPair pair_of(PairedRow& from, const PairedRow& to, const std::string& kind, const Catalogue& catalogue) {
  if (!from.anchored) from.anchored = as_measurement(from, catalogue);
  const Document document = changed_to(*from.anchored, to.row->scenario);
  const TrainingPoint point = train(read_scenario(document.root(), catalogue), nullptr);
  const double known = to.samples / from.samples * from.point->measured;
  RatioPair pair{from.source, kind, point.strategy, full_name_of(from), full_name_of(to)};
  pair.predicted = known / point.iteration.si();
  pair.measured = known / to.point->measured;
  pair.devices = static_cast<double>(to.point->ranks) / from.point->ranks;
  pair.waiting = 1 - point.breakdown.compute / point.breakdown.total();
  pair.ranks = to.point->ranks;
  pair.said = said_of(from, to, point, pair.predicted, catalogue);
  return pair;
}

}  // namespace

RatioPairs ratios_of(const std::vector<PublishedRow>& rows, const std::vector<ValidationPoint>& points,
                     const Catalogue& catalogue) {
  RatioPairs ratios;
  std::vector<PairedRow> candidates = candidates_of(rows, points, catalogue, ratios);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    for (std::size_t j = i + 1; j < candidates.size(); ++j) {
      PairedRow& from = candidates[i];
      PairedRow& to = candidates[j];
      if (from.source != to.source) continue;
      const std::string kind = kind_between(from, to);
      if (kind.empty()) continue;
      try {
        ratios.pairs.push_back(pair_of(from, to, kind, catalogue));
        from.is_paired = to.is_paired = true;
      } catch (const InputError&) {
        from.has_failed = to.has_failed = true;
      }
    }
  }
  for (const PairedRow& candidate : candidates) {
    if (candidate.is_paired) continue;
    ++ratios.left_out[candidate.has_failed ? "no time of a device gives what was measured"
                                           : "no other row of its source differs in one thing alone"];
  }
  return ratios;
}

}}  // namespace farandole::calibration
