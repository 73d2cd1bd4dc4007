// Reads the "effects" section of a scenario.
//
// Where it is silent the platform's own spread and jitter hold and everything else is off. Called by read_scenario.
#pragma once

#include <optional>

#include "platform/platform.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/effects_spec.hpp"

namespace farandole {

/// `device` is the platform's; other devices are found in the catalogue.
EffectsSpec read_effects(const std::optional<Value>& where, const Platform& platform, const Device& device,
                         const Catalogue& catalogue);

}  // namespace farandole
