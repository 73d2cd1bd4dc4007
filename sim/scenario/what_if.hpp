// What would help a point, and by how much: a list of changes, each run on its own.
//
// A change is what `--set` would put into the scenario, so that it can be run by hand and gives the same. Cheapest
// first: a setting costs nothing, an operation (no stragglers, faster input, no checkpoints) costs work, hardware costs
// money; within a kind the largest gain stands first. A gain is counted in points: percent of the ideal throughput of
// the point's own ranks. Last come the numbers that the strategy took over from measurements elsewhere ("uncertain"),
// at the ends of what was measured: what they would take or give. Changes that make no sense for a scenario, that it
// has already, or that it refuses, are left out.
#pragma once

#include <span>

#include "scenario/changed_scenario.hpp"
#include "scenario/scenario.hpp"
#include "timeline/explanation.hpp"
#include "timeline/result.hpp"

namespace farandole {

struct WhatIfBase {
  ScenarioSource source;
  const Scenario& scenario;
  const TrainingPoint& point;
};

std::vector<WhatIf> what_ifs(const WhatIfBase& base);

/// A change that may be offered: what it puts into the scenario's document; nothing where it makes no sense.
struct OfferedChange {
  const char* name;
  const char* kind;
  std::vector<SetValue> (*propose)(const WhatIfBase&);
};
/// Of fsdp and zero (what_if_sharded.cpp).
std::span<const OfferedChange> sharded_changes();

}  // namespace farandole
