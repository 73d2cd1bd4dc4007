// Reads the "effects" section of a scenario.
//
// Where it is silent the platform's own spread, jitter and channels hold and everything else is off. Called by
// read_scenario.
#pragma once

#include <optional>

#include "platform/platform.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/effects_spec.hpp"

namespace farandole {

/// What a running collective takes of a device's compute rate: a multiprocessor for each of the transport's channels.
/// Nothing where either number is not known.
double compute_share_of_channels(const Transport& transport, const Device& device);

/// `device` is the platform's; other devices are found in the catalogue. `compute_share` holds where the section does
/// not say what a collective takes of the device.
EffectsSpec read_effects(const std::optional<Value>& where, const Platform& platform, const Device& device,
                         double compute_share, const Catalogue& catalogue);

}  // namespace farandole
