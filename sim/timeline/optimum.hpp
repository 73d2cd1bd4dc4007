// What a search over a scenario found.
//
// Filled by study/, printed by report/.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "timeline/fields.hpp"

namespace farandole { inline namespace timeline {

/// What a search put where: a JSON pointer and the value, or "variant" and its name.
struct Choice {
  std::string pointer;
  std::string value;

  static void fields(auto& choice, auto& visit) { visit.entry(choice.pointer, choice.value); }
};
template <>
inline constexpr bool is_entry<Choice> = true;

/// The values of one thing searched over with which a point is nearly as good as the best.
struct NearlyAsGood {
  std::string pointer;
  std::vector<std::string> values;  // of an open range its ends: from where to where

  static void fields(auto& part, auto& visit) { visit.entry(part.pointer, part.values); }
};
template <>
inline constexpr bool is_entry<NearlyAsGood> = true;

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

  static void fields(auto& optimum, auto& visit) {
    visit("goal", optimum.goal);
    visit("method", optimum.method);
    visit("points_run", optimum.points_run);
    visit("feasible", optimum.feasible);
    visit("point", optimum.point);
    visit("value", optimum.value);
    visit("at", optimum.at);
    visit("tolerance", optimum.tolerance);
    visit("nearly_as_good", optimum.flat);
  }
};

}}  // namespace farandole::timeline
