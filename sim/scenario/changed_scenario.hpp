// A scenario with some values of its document replaced, and the `--set` options that make the same of its file.
//
// Called by what_if.hpp. A configuration of a sweep is one of many: then the sweep is among the values, cut down to
// that configuration, so that the command gives this point and no other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/catalogue.hpp"
#include "scenario/scenario.hpp"
#include "timeline/explanation.hpp"

namespace farandole {

/// What a scenario was read from.
struct ScenarioSource {
  const Document& document;               // without "sweep"
  const std::vector<std::string>& swept;  // pointers at which a sweep has put values; empty: there is none
  const Catalogue& catalogue;
};

struct ChangedScenario {
  Scenario scenario;
  std::vector<SetValue> set;
};

/// With these values, at the fidelity and with the folding of `scenario`; nothing where the values are refused.
std::optional<ChangedScenario> change(const ScenarioSource& source, const Scenario& scenario,
                                      const std::vector<SetValue>& values);

}  // namespace farandole
