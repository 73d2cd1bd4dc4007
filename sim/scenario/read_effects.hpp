// The "effects" section of a scenario: reads it, and says what it read. An effect more is a member of EffectsSpec, its
// key here and in the schema, and where it acts (scenario/apply_effects.hpp, scenario/stage.hpp).
//
// Where it is silent the platform's own spread and jitter hold, collectives take of the device what
// scenario/collective_kernels.hpp says, and everything else is off. Called by read_scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/platform.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/effects_spec.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// `device` is the platform's; other devices are found in the catalogue. `compute_share` holds where the section does
/// not say what a collective takes of the device.
EffectsSpec read_effects(const std::optional<Value>& where, const Platform& platform, const Device& device,
                         double compute_share, const Catalogue& catalogue);

/// For the settings of a result. Effects that are off are not mentioned, but for those that a platform brings along.
void add_effects(Settings& settings, const EffectsSpec& effects);

/// Those that real hardware cannot be given.
std::vector<std::string> left_out_of_replay(const EffectsSpec& effects);

}  // namespace farandole
