#include <algorithm>

#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "config/pointer.hpp"
#include "scenario/explain.hpp"

namespace farandole { inline namespace scenario {
namespace {

using Json = nlohmann::ordered_json;

/// A value with the objects around it that the document has not yet, so that one `--set` is enough.
SetValue with_parents(const Document& document, const SetValue& value) {
  const std::string parent = value.pointer.substr(0, value.pointer.rfind('/'));
  if (parent.empty() || document.find(parent)) return value;
  Json object = Json::object();
  object[split_pointer(value.pointer)->back()] = Json::parse(value.json);
  return with_parents(document, {parent, object.dump()});
}

/// A sweep of one configuration: values as they are now, without those that a larger one among `changed` brings along.
Json only_configuration(const Json& document, const std::vector<std::string>& swept,
                        const std::vector<std::string>& changed) {
  Json sweep = Json::object();
  for (const std::string& pointer : swept) {
    const auto brings = [&](const std::string& around) { return pointer != around && is_within(pointer, around); };
    if (std::ranges::any_of(changed, brings)) continue;
    sweep[pointer] = Json::array({document.at(Json::json_pointer(pointer))});
  }
  return sweep;
}

/// What the sweep puts there cannot be set: it is set in the sweep.
std::vector<SetValue> options_for(const Document& document, const std::vector<std::string>& changed,
                                  const std::vector<std::string>& swept) {
  const Json json = document.to_ordered_json();
  std::vector<SetValue> set;
  if (!swept.empty()) {
    set.push_back({"/sweep", only_configuration(json, swept, changed).dump()});
    if (json.contains("question")) set.push_back({"/question", "null"});  // asks for values of the whole sweep
  }
  for (const std::string& pointer : changed) {
    const auto holds = [&](const std::string& around) { return is_within(pointer, around); };
    if (std::ranges::none_of(swept, holds)) set.push_back({pointer, json.at(Json::json_pointer(pointer)).dump()});
  }
  return set;
}

}  // namespace

std::optional<ChangedScenario> change(const ScenarioSource& source, const Scenario& scenario,
                                      const std::vector<SetValue>& values) {
  Document document = source.document;
  std::vector<std::string> changed;
  try {
    for (const SetValue& value : values) {
      const auto [pointer, json] = with_parents(document, value);
      document.set(pointer, json);
      const auto holds = [&, &at = pointer](const std::string& around) { return is_within(at, around); };
      if (std::ranges::none_of(changed, holds)) changed.push_back(pointer);
    }
    Scenario read = read_scenario(document.root(), source.catalogue);
    read.fidelity = scenario.fidelity;
    read.folding = scenario.folding;
    read.network = scenario.network;
    std::vector<SetValue> set = options_for(document, changed, source.swept);
    return ChangedScenario{std::move(document), std::move(read), std::move(set)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}}  // namespace farandole::scenario
