// The settings a result depends on, printed with it: what was asked for and what the program filled in.
#pragma once

#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole {

Settings effective_settings(const Scenario& scenario);

/// Adds the settings of another point; where points differ, all values are listed.
void merge_settings(Settings& all, const Settings& more);

}  // namespace farandole
