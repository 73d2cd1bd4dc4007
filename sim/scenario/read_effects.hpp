// Reads the "effects" section of a scenario.
//
// Where it is silent the platform's own spread and jitter hold, collectives take of the device what
// scenario/collective_kernels.hpp says, and everything else is off. Called by read_scenario.
#pragma once

#include <optional>

#include "platform/platform.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/effects_spec.hpp"

namespace farandole {

/// `device` is the platform's; other devices are found in the catalogue. `compute_share` holds where the section does
/// not say what a collective takes of the device.
EffectsSpec read_effects(const std::optional<Value>& where, const Platform& platform, const Device& device,
                         double compute_share, const Catalogue& catalogue);

}  // namespace farandole
