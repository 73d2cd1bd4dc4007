// A study: all points of a scenario, on all cores, written down as they finish.
//
// Called by `farandole run` and `farandole merge`. Results come in the order of the scenario, byte for byte the same
// whatever the number of processes, interrupted or not, in shards or whole. A point that fails or crashes is a Failure
// with its name; the others still finish. Bad input found while a point runs ends the study (InputError).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "scenario/run.hpp"
#include "study/journal.hpp"
#include "study/team.hpp"

namespace farandole { inline namespace study {

/// A share of a study's points, --shard 2/3. Counting points from one, point p belongs to shard I of N where p and I
/// leave the same rest by N. So 0/N is N/N, and job arrays may count from zero or from one.
struct StudyShard {
  int index = 1;  // from 1 to `of`
  int of = 1;

  /// `point` counts from zero.
  [[nodiscard]] bool has(std::size_t point) const {
    const auto n = static_cast<std::size_t>(of);
    return point % n == static_cast<std::size_t>(index - 1);
  }
  /// How many of so many points it has.
  [[nodiscard]] std::size_t count(std::size_t points) const {
    const auto first = static_cast<std::size_t>(index);
    return points < first ? 0 : (points - first) / static_cast<std::size_t>(of) + 1;
  }
  [[nodiscard]] std::string text() const { return std::to_string(index) + "/" + std::to_string(of); }
  friend bool operator==(const StudyShard&, const StudyShard&) = default;
};

/// What a study is, so that points of different ones are never mixed: the first line of its journals and shards.
struct StudyHeading {
  std::string scenario;
  std::string identity;  // digest of all that the results depend on: version, scenario, options, data files
  std::size_t points = 0;
  bool comparison = false;  // of several fidelities
  StudyShard shard;
  std::string format;
  Settings settings;
  std::optional<Question> question{};
};

Record to_record(const StudyHeading& heading);
/// InputError at `file` where the record is no heading.
StudyHeading study_heading(const Record& record, const std::filesystem::path& file);

/// The digest: the same for the same results.
std::string identity_of(const Document& document, const Catalogue& catalogue, const RunOptions& options);

struct StudyOptions {
  int processes = 1;
  Team* team = nullptr;           // instead of processes of its own; this one is its manager
  std::filesystem::path journal;  // empty: none
  bool resume = false;
  Seconds point_timeout = Seconds::infinity();  // of each; one that takes longer has failed
  bool record_timeline = false;                 // of the last point, which then runs in this process
  std::function<void(int, int)> progress;       // after each point, with (points done, points in all); may be empty
  /// What runs a point: run_point with the catalogue of the plan.
  std::function<TrainingPoint(const RunPlan::Point&, Timeline*)> execute;
};

struct StudyResult {
  using Failure = Heading::Failure;
  std::map<std::size_t, TrainingPoint> points;  // by place in the plan
  std::vector<Failure> failures;                // in the order of the plan
  std::unique_ptr<Timeline> timeline;
  std::size_t resumed = 0;           // points that the journal had
  std::unique_ptr<Journal> journal;  // locked, until the results are safe; null: none
};

/// The points of `heading.shard`. The journal is left for the caller to remove once the results are safe. InputError
/// where another run has the journal, or it holds points and `resume` is off, or is another study's.
StudyResult run_study(const RunPlan& plan, const StudyHeading& heading, const StudyOptions& options);

/// A worker's part of it.
void serve_study(const RunPlan& plan, const StudyHeading& heading, const StudyOptions& options);

// Shards joined into the result of the whole.
//
// Called by `farandole merge`. A shard's file is what `farandole run --shard I/N --output FILE` writes: a heading, then
// the shard's points in order (study/journal.hpp). Shards that are missing, twice, cut short, or another study's are
// refused by name (InputError).

void write_shard(std::ostream& out, const StudyHeading& heading, const StudyResult& result);

struct Merged {
  StudyHeading heading;
  std::vector<TrainingPoint> points;
};

Merged merge_shards(const std::vector<std::filesystem::path>& files);

}}  // namespace farandole::study
