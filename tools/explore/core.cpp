#include "core.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "report/record.hpp"
#include "report/series.hpp"
#include "scenario/explain.hpp"
#include "scenario/run.hpp"

namespace farandole {
namespace {

constexpr std::size_t timeline_capacity = 100'000;  // spans, as on the page of a run

bool asks(const Record& question, const char* what) {
  return question.contains("ask") && std::ranges::find(question.at("ask"), what) != question.at("ask").end();
}

PlannedPoint planned(const Document& document, const Catalogue& catalogue) {
  RunOptions options;
  options.bands = false;
  return read_point(plan_run(document, catalogue, options).points.front(), catalogue);
}

void add_point(Record& answer, const Record& question, const Document& document, const Catalogue& catalogue) {
  const PlannedPoint plan = planned(document, catalogue);
  const bool drawn = asks(question, "timeline");
  Timeline timeline(timeline_capacity, Timeline::Keep::spans);
  TrainingPoint point = run_point(plan, catalogue, drawn ? &timeline : nullptr);
  answer["point"] = to_record(point);
  if (drawn) answer["timeline"] = timeline_data(timeline);
  if (asks(question, "waterfall")) {
    point.explanation = Explanation{};
    point.explanation->waterfall = waterfall_of(plan.scenario, point.iteration);
    answer["waterfall"] = waterfall_data(point);
  }
}

/// Numbers of ranks that this scenario refuses are left out.
Record curve(const Record& question, Document document, const Catalogue& catalogue) {
  Record rows = Record::array();
  for (const Record& ranks : question.at("ranks")) {
    try {
      document.set("/platform/ranks", ranks.dump());
      const TrainingPoint point = run_point(planned(document, catalogue), catalogue, nullptr);
      rows.push_back({ranks, finite(point.scaling_efficiency, "scaling_efficiency"),
                      finite(point.samples_per_second, "samples_per_second")});
    } catch (const InputError&) {
      continue;
    }
  }
  return rows;
}

Record answered(const std::string& text, const Catalogue& catalogue) {
  const Record question = Record::parse(text);
  const auto document =
      Document::parse(question.at("scenario").get<std::string>(), question.value("source", "scenario.json"));
  Record answer = Record::object();
  if (asks(question, "point")) add_point(answer, question, document, catalogue);
  if (question.contains("ranks")) answer["curve"] = curve(question, document, catalogue);
  return answer;
}

}  // namespace

std::string answer_question(const std::string& question, const Catalogue& catalogue) {
  try {
    return json_text(answered(question, catalogue));
  } catch (const std::exception& error) {
    return json_text({{"error", error.what()}});
  }
}

}  // namespace farandole
