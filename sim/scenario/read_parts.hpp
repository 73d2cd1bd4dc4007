// Parts of a scenario file, each read by a function of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "learning/learn.hpp"
#include "platform/platform.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace scenario {

/// As read_scenario(where, catalogue). `built` may be null: the platform of a scenario whose "platform" differs from
/// this one's in "ranks" at most; where it has as many nodes it is not built again.
Scenario read_scenario(const Value& where, const Catalogue& catalogue, const Platform* built);

// The "effects" section of a scenario: reads it, and says what it read. An effect more is a member of EffectsSpec, its
// key here and in the schema, and where it acts (scenario/apply_effects.hpp, scenario/train.hpp).
//
// Where it is silent the platform's own spread and jitter hold, collectives take of the device what
// share_of_collectives (read_scenario.cpp) says, and everything else is off. Called by read_scenario.

/// `scenario`: its platform and workload are known. Other devices are found in the catalogue; `compute_share` holds
/// where the section does not say what a collective takes of the device.
EffectsSpec read_effects(const std::optional<Value>& where, const Scenario& scenario, double compute_share,
                         const Catalogue& catalogue);

/// For the settings of a result. Effects that are off are not mentioned, but for those that a platform brings along.
void add_effects(Settings& settings, const EffectsSpec& effects);

/// Those that real hardware cannot be given.
std::vector<std::string> left_out_of_replay(const EffectsSpec& effects);

// "learning": the numeric problem a scenario's ranks train on while they are simulated.
//
// Called by the reader of scenarios once workload, platform and strategy are known: the samples must be enough for one
// update of all ranks, and the strategy one that numeric training can follow.

std::shared_ptr<const LearningSpec> read_learning(const Value& where, const Scenario& scenario);

// Reads what a scenario trains: its "workload".

/// What a host takes to queue a kernel; empty where it waits for each.
std::optional<Seconds> usual_dispatch(const Device& device);

/// Whether the device computes at a known rate in the workload's precision.
bool has_rate(const Device& device, const WorkloadSpec& workload);
/// `device`: of the platform.
WorkloadSpec read_workload(const Value& where, const Catalogue& catalogue, const Device& device);

/// The share by which a sample of a larger batch may seem to take longer.
inline constexpr double device_step_noise = 0.05;

// By which algorithm or library each of a scenario's collectives goes.
//
// Called by the reader of scenarios. What its "collectives" name counts first, then what the strategy's settings ask
// for, then what the machine itself does (scenario/library_choice.hpp: default_collective). Where the topology's
// library is there by default only and cannot be simulated beside something that was asked for, an algorithm takes its
// place and the settings say so; where it was asked for, that is refused.

/// Fills in `collectives`, `libraries` and `plain_by_default`; platform and strategy have been read.
void read_collectives(const std::optional<Value>& where, const Catalogue& catalogue, Scenario& scenario);

/// Algorithms in place of libraries that nobody asked for.
void leave_default_libraries(Scenario& scenario, const std::string& why);

// How many samples a rank has in a pass: its own, or its part of a global batch.
//
// Called by scenario/read_scenario.cpp once ranks, workload and strategy are read. InputError at `workload` where the
// ranks cannot share the batch, or a step has more samples than a rank counts in int and all ranks exactly in double.

void share_batch(Scenario& scenario, const Value& workload);

// Replicas of several ranks: what each of them has of the model, and what is not simulated of them.

/// Layers among the ranks of a tensor group, and of what these have, blocks among the stages of a pipeline.
void split_among_ranks(Scenario& scenario, const Value& strategy, const Value& workload);

void refuse_with_replicas(const Scenario& scenario, const std::optional<Value>& effects, const Value& root);

}}  // namespace farandole::scenario
