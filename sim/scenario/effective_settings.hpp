// The settings a result depends on, printed with it: what was asked for and what the program filled in.
#pragma once

#include <optional>
#include <string>

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// What is wrong with links just now; nothing where all are as built.
void add_condition(Settings& settings, const Condition& condition);

/// What messages keep processors with, where they do.
void add_occupancy(Settings& settings, const Occupancy& occupancy);

Settings effective_settings(const Scenario& scenario);

/// What an algorithm leaves unused of the machine, in a sentence for people; nothing where it leaves nothing, and where
/// a library chooses.
std::optional<std::string> note_on_nics(const Scenario& scenario);

/// Adds the settings of another point; where points differ, all values are listed.
void merge_settings(Settings& all, const Settings& more);

}  // namespace farandole
