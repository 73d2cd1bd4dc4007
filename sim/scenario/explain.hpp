// Why a point is what it is, found by running it again with mechanisms switched off, one after another and each on top
// of the ones before:
//
//   checkpoint           no checkpoints
//   stragglers           all ranks alike: no spread, jitter, noise, stragglers, other devices or shared boards
//   collective_kernels   collectives take no compute from the device
//   contention           every transfer has its way for itself
//   exposed_bandwidth    links, connections, servers and adding up of any rate, and a library's own rates
//   exposed_latency      links, transport, launches and a library's own latencies at none
//   fusion_copies        copies into and out of buffers, encoding and decoding at any rate
//   server_update        servers add up and update at any rate
//   negotiation          nothing but compute and input: one rank by itself
//   input                nothing but compute
//   device               what is left: the iteration of one median device, with servers the passes of a worker
//
// A library keeps to what it decided while what that costs is switched off. A strategy has only the parts that it can
// have: negotiation where ranks negotiate, neither kernels nor contention with servers. Where nothing is left to switch
// off but compute, compute alone must remain; what else does is named "other", and is nothing where the mechanisms are
// complete. What one mechanism hides of another is found in the one switched off last; a part below zero means that the
// mechanism hid more than it cost. Called by run_point where an explanation is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/catalogue.hpp"
#include "scenario/scenario.hpp"
#include "timeline/difference.hpp"
#include "timeline/explanation.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace scenario {

// A scenario with some values of its document replaced, and the `--set` options that make the same of its file.
//
// What-ifs are made of it. A configuration of a sweep is one of many: then the sweep is among the values, cut down to
// that configuration, so that the command gives this point and no other.

/// What a scenario was read from.
struct ScenarioSource {
  const Document& document;               // without "sweep"
  const std::vector<std::string>& swept;  // pointers at which a sweep has put values; empty: there is none
  const Catalogue& catalogue;
};

struct ChangedScenario {
  Document document;
  Scenario scenario;
  std::vector<SetValue> set;
};

/// With these values, at the fidelity and with the folding of `scenario`; nothing where the values are refused.
std::optional<ChangedScenario> change(const ScenarioSource& source, const Scenario& scenario,
                                      const std::vector<SetValue>& values);

// What would help a point, and by how much: a list of changes, each run on its own.
//
// A change is what `--set` would put into the scenario, so that it can be run by hand and gives the same. Cheapest
// first: a setting costs nothing, an operation (no stragglers, faster input, no checkpoints) costs work, hardware costs
// money; within a kind the largest gain stands first. A gain is counted in points: percent of the ideal throughput of
// the point's own ranks. Last come the numbers that the strategy took over from measurements elsewhere ("uncertain"),
// at the ends of what was measured: what they would take or give. Changes that make no sense for a scenario, that it
// has already, or that it refuses, are left out.

struct WhatIfBase {
  ScenarioSource source;
  const Scenario& scenario;
  const TrainingPoint& point;
};

std::vector<WhatIf> what_ifs(const WhatIfBase& base);

/// A change that is offered: what it puts into the scenario's document.
struct OfferedChange {
  const char* name;
  const char* kind;
  std::vector<SetValue> set;
};
/// Those that make sense, in order of cost (what_if_rows.cpp).
std::vector<OfferedChange> offered_changes(const WhatIfBase& base);

/// `base.point` is the scenario's own, with its efficiency. The critical path stays empty; it comes from the run
/// itself.
Explanation explain(const WhatIfBase& base);

/// Its waterfall alone: what each mechanism adds to `actual`, the iteration of `scenario`, from the device on.
std::vector<WaterfallPart> waterfall_of(const Scenario& scenario, Seconds actual);

// Why a point scales by more than its ranks: what a rank of the job does in less time than one rank by itself.
//
// Called by run.cpp for every point. Decided from two simulated iterations, the point's and that of one rank by itself.

/// A note that begins with `beyond_linear` (report/answer.hpp) and names as many reasons, the largest first, as account
/// for the excess. Empty where a table would show at most 100.0 %.
std::optional<std::string> beyond_linear_note(const Scenario& scenario, const TrainingPoint& point);

}}  // namespace farandole::scenario
