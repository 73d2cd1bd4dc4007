#include "study/study.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "report/heading.hpp"
#include "report/record.hpp"
#include "study/point_timer.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace study {
namespace {

namespace fs = std::filesystem;

void refuse_other_study(const StudyHeading& found, const StudyHeading& own, const fs::path& file) {
  const Place place{file.string(), 1, ""};
  if (found.identity != own.identity || found.points != own.points) {
    throw InputError(place, fmt::format("the journal of this very run of \"{}\"", own.scenario),
                     fmt::format("one of \"{}\" with other values, options or data files", found.scenario),
                     "; without it the run starts afresh");
  }
  if (found.shard != own.shard) {
    throw InputError(place, fmt::format("the journal of shard {}", own.shard.text()),
                     fmt::format("that of shard {}", found.shard.text()));
  }
}

/// What a worker does with a point: its record, as text.
Work work_of(const RunPlan& plan, const StudyOptions& options) {
  return [&](std::size_t task) {
    const PointTimer timer(options.point_timeout, PointTimer::Where::worker);
    return json_text(to_record(options.execute(plan.points[task], nullptr)));
  };
}

class Study {
 public:
  Study(const RunPlan& plan, const StudyHeading& heading, const StudyOptions& options)
      : plan_(plan), heading_(heading), options_(options) {
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
      if (heading.shard.has(i)) tasks_.push_back(i);
    }
    if (!options.journal.empty()) open_journal(heading);
  }

  StudyResult run() {
    auto open = those_of(tasks_, [&](std::size_t task) { return !result_.points.contains(task); });
    // A timeline is too much to send from one process to another.
    const bool last_here = options_.record_timeline && !tasks_.empty();
    if (last_here) std::erase(open, tasks_.back());
    const Receive receive_outcome = [&](std::size_t task, const Outcome& outcome) { receive(task, outcome); };
    if (options_.team != nullptr) {
      options_.team->manage(heading_.identity, open, receive_outcome);
    } else if (tasks_.size() > 1) {
      run_in_processes(open, options_.processes, work_of(plan_, options_), receive_outcome);
    } else {
      for (const std::size_t task : open) keep(task, to_record(execute(task, nullptr)));
    }
    if (last_here) run_last();
    for (auto& [task, failure] : failures_) result_.failures.push_back(std::move(failure));
    return std::move(result_);
  }

 private:
  void open_journal(const StudyHeading& heading) {
    // Opened before anything is said of what it holds: another run may be writing it at this moment.
    result_.journal = std::make_unique<Journal>(options_.journal);
    const JournalContents& found = result_.journal->found();
    const bool has_points = !found.points.empty();
    if (has_points && !options_.resume) {
      throw InputError(
          fmt::format("{} keeps {} finished points of an interrupted run: --resume goes on from them; remove the file "
                      "to start afresh",
                      options_.journal.string(), found.points.size()));
    }
    if (has_points) refuse_other_study(study_heading(found.heading, options_.journal), heading, options_.journal);
    result_.journal->cut(has_points ? found.whole_bytes : 0);
    if (!has_points) result_.journal->append(to_record(heading));
    for (const auto& [task, record] : found.points) take_over(task, record);
    result_.resumed = found.points.size();
  }

  void take_over(std::size_t task, const Record& record) {
    if (!std::ranges::binary_search(tasks_, task)) {
      throw InputError(Place{options_.journal.string(), 0, ""}, "points of this run", fmt::format("point {}", task));
    }
    result_.points.emplace(task, journal_point(record, task, options_.journal));
  }

  TrainingPoint execute(std::size_t task, Timeline* timeline) const {
    const PointTimer timer(options_.point_timeout, PointTimer::Where::program);
    return options_.execute(plan_.points[task], timeline);
  }

  void receive(std::size_t task, const Outcome& outcome) {
    if (outcome.kind == Outcome::Kind::bad_input) throw InputError(outcome.text);
    if (outcome.kind == Outcome::Kind::done) return keep(task, Record::parse(outcome.text));
    failures_[task] = {plan_.points[task].name, outcome.text};
    report_progress();
  }

  void keep(std::size_t task, const Record& record) {
    const bool is_new = result_.points.emplace(task, training_point(record)).second;
    if (result_.journal && is_new) result_.journal->append(journal_entry(task, record));
    report_progress();
  }

  void run_last() {
    result_.timeline = new_timeline();
    keep(tasks_.back(), to_record(execute(tasks_.back(), result_.timeline.get())));
  }

  void report_progress() const {
    if (!options_.progress) return;
    options_.progress(static_cast<int>(result_.points.size() + failures_.size()), static_cast<int>(tasks_.size()));
  }

  const RunPlan& plan_;
  const StudyHeading& heading_;
  const StudyOptions& options_;
  std::vector<std::size_t> tasks_;
  std::map<std::size_t, StudyResult::Failure> failures_;
  StudyResult result_;
};

struct ShardFile {
  fs::path file;
  StudyHeading heading;
  std::map<std::size_t, Record> points;
};

ShardFile read_shard(const fs::path& file) {
  JournalContents contents = read_journal(file);
  ShardFile shard{file, study_heading(contents.heading, file), std::move(contents.points)};
  const std::size_t expected = shard.heading.shard.count(shard.heading.points);
  if (contents.torn || shard.points.size() != expected) {
    throw InputError(Place{file.string(), 0, ""},
                     fmt::format("the {} points of shard {}", expected, shard.heading.shard.text()),
                     fmt::format("{}", shard.points.size()), "; the shard is incomplete: run it again");
  }
  for (const auto& [index, record] : shard.points) {
    if (index < shard.heading.points && shard.heading.shard.has(index)) continue;
    throw InputError(Place{file.string(), 0, ""}, fmt::format("points of shard {}", shard.heading.shard.text()),
                     fmt::format("point {}", index));
  }
  return shard;
}

void refuse_foreign(const ShardFile& shard, const ShardFile& first) {
  const StudyHeading& a = first.heading;
  const StudyHeading& b = shard.heading;
  if (a.identity == b.identity && a.points == b.points && a.shard.of == b.shard.of) return;
  throw InputError(
      Place{shard.file.string(), 1, ""},
      fmt::format("a shard of the same run as {} (\"{}\", {} shards)", first.file.string(), a.scenario, a.shard.of),
      fmt::format("one of \"{}\", {} shards, with other values, options or data files", b.scenario, b.shard.of));
}

void refuse_missing(const std::map<int, ShardFile>& shards, int of) {
  constexpr std::size_t most_named = 12;
  std::vector<std::string> missing;
  for (std::int64_t i = 1; i <= of && missing.size() <= most_named; ++i) {  // int would not get past the largest
    const int index = static_cast<int>(i);
    if (!shards.contains(index)) missing.push_back(StudyShard{index, of}.text());
  }
  if (missing.size() > most_named) missing.back() = "and more";
  if (!missing.empty()) throw InputError(fmt::format("farandole: missing shards: {}", fmt::join(missing, ", ")));
}

}  // namespace

StudyResult run_study(const RunPlan& plan, const StudyHeading& heading, const StudyOptions& options) {
  return Study(plan, heading, options).run();
}

void serve_study(const RunPlan& plan, const StudyHeading& heading, const StudyOptions& options) {
  options.team->serve(heading.identity, work_of(plan, options));
}

std::string identity_of(const Document& document, const Catalogue& catalogue, const RunOptions& options) {
  std::string all = fmt::format("{} {} {} {} {} {} ", version(), static_cast<int>(options.folding),
                                static_cast<int>(options.network), options.bands, options.explain, options.links);
  for (const Fidelity fidelity : options.fidelities) all += name(fidelity) + " ";
  all += document.to_ordered_json().dump();
  for (const auto& [file, text] : catalogue.texts()) all += text;
  return checksum(all);
}

void write_shard(std::ostream& out, const StudyHeading& heading, const StudyResult& result) {
  out << journal_line(to_record(heading));
  for (const auto& [index, point] : result.points) out << journal_line(journal_entry(index, to_record(point)));
}

Merged merge_shards(const std::vector<fs::path>& files) {
  std::map<int, ShardFile> shards;
  for (const fs::path& file : files) {
    ShardFile shard = read_shard(file);
    if (!shards.empty()) refuse_foreign(shard, shards.begin()->second);
    const StudyShard which = shard.heading.shard;
    const auto [place, added] = shards.emplace(which.index, std::move(shard));
    if (!added) {
      throw InputError(Place{file.string(), 1, ""}, "each shard once",
                       fmt::format("shard {}, as {}", which.text(), place->second.file.string()));
    }
  }
  const StudyHeading& heading = shards.begin()->second.heading;
  refuse_missing(shards, heading.shard.of);
  std::map<std::size_t, TrainingPoint> points;
  for (const auto& [index, shard] : shards) {
    for (const auto& [point, record] : shard.points) points.emplace(point, journal_point(record, point, shard.file));
  }
  Merged merged{heading, {}};
  for (auto& [index, point] : points) merged.points.push_back(std::move(point));
  return merged;
}

}}  // namespace farandole::study
