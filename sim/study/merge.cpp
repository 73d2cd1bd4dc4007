#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "study/journal.hpp"
#include "study/study.hpp"

namespace farandole { inline namespace study {
namespace {

namespace fs = std::filesystem;

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
