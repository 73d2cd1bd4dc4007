// What a journal or a shard says of itself in its first line. By itself, so that fuzzing its reader needs no simulator.
#include "report/heading.hpp"

#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "report/field_record.hpp"
#include "study/study.hpp"

namespace farandole { inline namespace study {
namespace {

/// As many configurations as a sweep may have, each at every fidelity.
constexpr std::int64_t most_points = 1'000'000;

std::int64_t whole_number(const Record& record, const char* key, std::int64_t least, std::int64_t most,
                          const Place& place) {
  const Record& value = record.at(key);
  const auto number = value.is_number_integer() ? value.get<std::int64_t>() : least - 1;
  if (number >= least && number <= most) return number;
  throw InputError(place, fmt::format("a heading whose \"{}\" is from {} to {}", key, least, most), json_text(value));
}

StudyShard shard_of(const Record& record, const Place& place) {
  const auto of = whole_number(record, "of", 1, std::numeric_limits<int>::max(), place);
  return {static_cast<int>(whole_number(record, "shard", 1, of, place)), static_cast<int>(of)};
}

}  // namespace

Record to_record(const StudyHeading& heading) {
  Record record{{"farandole", version()},   {"scenario", heading.scenario},     {"identity", heading.identity},
                {"points", heading.points}, {"comparison", heading.comparison}, {"shard", heading.shard.index},
                {"of", heading.shard.of},   {"format", heading.format},         {"settings", Record(heading.settings)}};
  if (heading.question) record["question"] = record_of(*heading.question);
  return record;
}

StudyHeading study_heading(const Record& record, const std::filesystem::path& file) {
  const Place place{file.string(), 1, ""};
  if (!record.is_object() || !record.contains("farandole")) {
    throw InputError(place, "a journal or shard of farandole run", "another file");
  }
  if (record["farandole"] != version()) {
    throw InputError(place, fmt::format("a file of farandole {}", version()), json_text(record["farandole"]));
  }
  try {
    return {record.at("scenario"),
            record.at("identity"),
            static_cast<std::size_t>(whole_number(record, "points", 0, most_points, place)),
            record.at("comparison"),
            shard_of(record, place),
            record.at("format"),
            record.at("settings").get<Settings>(),
            record.contains("question") ? std::optional(question_of(record.at("question"))) : std::nullopt};
  } catch (const Record::exception&) {
    throw InputError(place, "a journal or shard of farandole run", "another file");
  }
}

}}  // namespace farandole::study
