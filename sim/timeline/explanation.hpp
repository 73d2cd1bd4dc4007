// Why a point is what it is: a waterfall from ideal to actual, the critical path of one iteration, and what would help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "timeline/bands.hpp"
#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

/// What one mechanism adds to the iteration, in the order in which they were switched off, the last first: the sum is
/// the iteration. A part may be below zero where a mechanism hides another.
struct WaterfallPart {
  std::string name;
  Seconds time;

  static void fields(auto& part, auto& visit) { visit.entry(part.name, part.time); }
};
template <>
inline constexpr bool is_entry<WaterfallPart> = true;

/// One stretch of the chain that the end of an iteration waited for, since its start.
struct PathStep {
  std::string activity;
  Seconds from;
  Seconds to;

  static void fields(auto& step, auto& visit) {
    visit("activity", step.activity);
    visit("from", step.from);
    visit("to", step.to);
  }
};

/// A value that `--set POINTER=VALUE` would put into the scenario, as JSON.
struct SetValue {
  std::string pointer;
  std::string json;

  static void fields(auto& set, auto& visit) { visit.json_entry(set.pointer, set.json); }
};
template <>
inline constexpr bool is_entry<SetValue> = true;

struct WhatIf {
  std::string change;
  std::string kind;  // "setting", "operation" or "hardware": cheapest first
  double samples_per_second = 0;
  double efficiency_points = 0;  // percent of the ideal throughput that it gains
  Seconds iteration;
  double scaling_efficiency = 1;
  std::vector<SetValue> set;     // the same command with these in addition gives that very point, and no other
  std::optional<double> sure{};  // how probable it is that throughput changes this way, up or down; empty: not judged
  std::optional<Interval> points_band{};  // of efficiency_points

  static void fields(auto& what_if, auto& visit) {
    visit("change", what_if.change);
    visit("kind", what_if.kind);
    visit("samples_per_second", what_if.samples_per_second);
    visit("efficiency_points", what_if.efficiency_points);
    visit("iteration_seconds", what_if.iteration);
    visit("scaling_efficiency", what_if.scaling_efficiency);
    visit("set", what_if.set);
    visit("sure", what_if.sure);
    visit("efficiency_points_band", what_if.points_band);
  }
};

struct Explanation {
  std::vector<WaterfallPart> waterfall;
  std::vector<PathStep> critical_path;
  std::vector<WhatIf> what_ifs;

  static void fields(auto& explanation, auto& visit) {
    visit("waterfall", explanation.waterfall);
    visit("critical_path", explanation.critical_path);
    visit("what_ifs", explanation.what_ifs);
  }
};

}}  // namespace farandole::timeline
