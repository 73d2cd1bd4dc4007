// What a search over a scenario found.
//
// Filled by study/, printed by report/.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace farandole {

/// What a search put where: a JSON pointer and the value, or "variant" and its name.
struct Choice {
  std::string pointer;
  std::string value;
};

/// The values of one thing searched over with which a point is nearly as good as the best.
struct NearlyAsGood {
  std::string pointer;
  std::vector<std::string> values;  // of an open range its ends: from where to where
};

struct Optimum {
  std::string goal;    // "least cost_per_run with run_seconds at most 6 h"
  std::string method;  // "grid", "first", "golden_section" or "global"
  int points_run = 0;
  int feasible = 0;       // of these, keep all bounds
  std::size_t point = 0;  // the best among the result's points; where none is feasible, the nearest to it
  double value = 0;
  std::vector<Choice> at;
  double tolerance = 0.01;  // relative, of nearly as good
  std::vector<NearlyAsGood> flat;
};

}  // namespace farandole
