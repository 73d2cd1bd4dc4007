// Why a point is what it is: a waterfall from ideal to actual, the critical path of one iteration, and what would help.
#pragma once

#include <string>
#include <vector>

#include "units/quantity.hpp"

namespace farandole {

/// What one mechanism adds to the iteration, in the order in which they were switched off, the last first: the sum is
/// the iteration. A part may be below zero where a mechanism hides another.
struct WaterfallPart {
  std::string name;
  Seconds time;
};

/// One stretch of the chain that the end of an iteration waited for, since its start.
struct PathStep {
  std::string activity;
  Seconds from;
  Seconds to;
};

/// A value that `--set POINTER=VALUE` would put into the scenario, as JSON.
struct SetValue {
  std::string pointer;
  std::string json;
};

struct WhatIf {
  std::string change;
  std::string kind;  // "setting", "operation" or "hardware": cheapest first
  double samples_per_second = 0;
  double efficiency_points = 0;  // percent of the ideal throughput that it gains
  Seconds iteration;
  double scaling_efficiency = 1;
  std::vector<SetValue> set;  // the same command with these in addition gives that very point, and no other
};

struct Explanation {
  std::vector<WaterfallPart> waterfall;
  std::vector<PathStep> critical_path;
  std::vector<WhatIf> what_ifs;
};

}  // namespace farandole
