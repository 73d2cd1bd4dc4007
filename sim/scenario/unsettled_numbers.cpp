#include "scenario/unsettled_numbers.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "scenario/explain.hpp"
#include "scenario/model_error.hpp"

namespace farandole { inline namespace scenario {
namespace {

using Numbers = std::vector<UnsettledNumber>;
constexpr std::string_view variability = "/variability/";  // of which a scenario's effects may say otherwise

const Document* topology_file(const Document& scenario, const Catalogue& catalogue) {
  const auto named = scenario.find("/platform/topology");
  if (!named || !named->is_string()) return nullptr;
  const auto name = read<std::string>(*named);
  const Document* file = catalogue.find_read(name);
  return file != nullptr ? file : catalogue.find_read(catalogue.root() / "topologies" / (name + ".json"));
}

bool is_of_scenario(const std::string& pointer) {
  return pointer.starts_with("/strategy/") || pointer.starts_with("/effects/");
}

/// "none" is no limit at all, which is not to be typed; of a rate, more than any link has is the same.
std::string typed(const std::string& end) {
  return end == "none" ? "1000 TB/s" : end;
}

void add_number(Numbers& numbers, UnsettledNumber number) {
  if (std::ranges::find(numbers, number.pointer, &UnsettledNumber::pointer) == numbers.end())
    numbers.push_back(std::move(number));
}

/// What calibration has left: "3.14 GB/s .. 26.1 GB/s". Numbers that tables of collectives settle have no ends.
void add_posteriors(Numbers& numbers, const Document& file, const char* list) {
  const auto parameters = file.find(list);
  if (!parameters) return;
  for (const Value& parameter : parameters->elements()) {
    Section section(parameter);
    const auto between = section.maybe("between");
    if (!between) continue;
    const auto text = read<std::string>(*between);
    const std::string_view dots = " .. ";
    const auto at = text.find(dots);
    if (at == std::string::npos) between->fail("two ends, as \"3 GB/s .. 30 GB/s\"");
    add_number(numbers, {section.required<std::string>("pointer"),
                         {typed(text.substr(0, at)), typed(text.substr(at + dots.size()))}});
  }
}

void add_priors(Numbers& numbers, const Document& file) {
  const auto priors = file.find("/priors");
  if (!priors) return;
  for (const auto& [pointer, prior] : priors->members()) {
    if (pointer == "comment") continue;
    const Value between = Section(prior).child("between");
    const auto ends = between.elements();
    if (ends.size() != 2) between.fail("two ends, between which the number lies eight times in ten");
    add_number(numbers, {pointer, {read<std::string>(ends[0]), read<std::string>(ends[1])}});
  }
}

/// Where a scenario would set the number itself.
std::string pointer_of(const UnsettledNumber& number) {
  if (is_of_scenario(number.pointer)) return number.pointer;
  if (number.pointer.starts_with(variability)) return "/effects/" + number.pointer.substr(variability.size());
  return "/platform/override/" + pointer_token(number.pointer);
}

bool is_settled(const UnsettledNumber& number, const Document& scenario) {
  if (scenario.find(pointer_of(number))) return true;
  const auto overrides = scenario.find("/platform/override");
  if (!overrides) return false;
  const auto members = overrides->members();
  return std::ranges::any_of(members, [&](const auto& member) { return is_within(number.pointer, member.first); });
}

/// How many times as long the point's step takes with it; once where the scenario has no place for such a number.
double factor_of(const UnsettledNumber& number, const std::string& end, const ScenarioSource& source,
                 const Scenario& scenario, const TrainedPoint& point, SharedClocks& clocks) {
  auto changed = change(source, scenario, {as_value(number, end)});
  if (!changed) return 1;
  Scenario& there = changed->scenario;
  there.workload = scenario.workload;  // what options and bands have changed since it was read
  there.collectives = scenario.collectives;
  there.libraries = scenario.libraries;
  const bool is_as_connected = number.pointer.starts_with(variability);
  return train_beside(point, there, is_as_connected ? &clocks : nullptr).iteration / point.iteration;
}

}  // namespace

Numbers unsettled_numbers(const Document& document, const Catalogue& catalogue) {
  Numbers numbers;
  const Document* file = topology_file(document, catalogue);
  if (file == nullptr) return numbers;
  add_posteriors(numbers, *file, "/calibration/parameters");
  add_posteriors(numbers, *file, "/calibration/of_scenarios");
  add_priors(numbers, *file);
  std::erase_if(numbers, [&](const UnsettledNumber& number) { return is_settled(number, document); });
  return numbers;
}

SetValue as_value(const UnsettledNumber& number, const std::string& end) {
  return {pointer_of(number), nlohmann::json(end).dump()};
}

std::vector<BandSource> number_sources(const TrainedPoint& point, const Document& document, const Catalogue& catalogue,
                                       const Scenario& scenario, SharedClocks clocks) {
  std::vector<BandSource> sources;
  if (point.ranks == 1) return sources;
  const std::vector<std::string> none;
  const ScenarioSource source{document, none, catalogue};
  const auto factor = [&](const UnsettledNumber& number, const std::string& end) {
    return factor_of(number, end, source, scenario, point, clocks);
  };
  for (const UnsettledNumber& number : unsettled_numbers(document, catalogue)) {
    const auto& [first, second] = number.ends;
    const std::string& whose = scenario.platform.platform.name;
    sources.push_back({number.pointer, whose, {first, second}, {factor(number, first), factor(number, second)}});
  }
  return sources;
}

TimeBand band_of(const std::vector<BandSource>& sources) {
  TimeBand band;
  for (const BandSource& source : sources) {
    const auto& [first, second] = source.iteration;
    band = together(band, {std::min({1.0, first, second}), std::max({1.0, first, second})});
  }
  return band;
}

}}  // namespace farandole::scenario
