#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "report/version.hpp"
#include "study/study.hpp"

namespace farandole {

Record to_record(const StudyHeading& heading) {
  return {{"farandole", version()},   {"scenario", heading.scenario},     {"identity", heading.identity},
          {"points", heading.points}, {"comparison", heading.comparison}, {"shard", heading.shard.index},
          {"of", heading.shard.of},   {"format", heading.format},         {"settings", Record(heading.settings)}};
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
            record.at("points"),
            record.at("comparison"),
            {record.at("shard"), record.at("of")},
            record.at("format"),
            record.at("settings").get<Settings>()};
  } catch (const Record::exception&) {
    throw InputError(place, "a journal or shard of farandole run", "another file");
  }
}

std::string identity_of(const Document& document, const Catalogue& catalogue, const RunOptions& options) {
  std::string all =
      fmt::format("{} {} {} {} ", version(), static_cast<int>(options.folding), options.explain, options.links);
  for (const Fidelity fidelity : options.fidelities) all += name(fidelity) + " ";
  all += document.to_ordered_json().dump();
  for (const Document* file : catalogue.documents()) all += file->to_ordered_json().dump();
  for (const std::string& text : catalogue.algorithm_texts()) all += text;
  return checksum(all);
}

}  // namespace farandole
