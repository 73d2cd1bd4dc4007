// What a validation of training says first: how well runs on several nodes are predicted where that is hard, beside two
// plain models, and whether bands hold what they should.
//
// Used by validation_report.cpp. A row is hard where linear scaling misses it by a tenth or more. Skill is the median
// size of the errors over that of a plain model's; below one is better than it. "Linear plus one constant" adds to
// linear scaling the median of what the other counted rows of the family and the group exceed it by, in seconds; it has
// been shown the answer of its neighbours, which the simulator has not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "timeline/validation.hpp"

namespace farandole { inline namespace report {

struct Headline {
  std::string group;
  int rows = 0;  // counted
  double median = 0;
  double p90 = 0;
  double bias = 0;                      // median of the signed errors
  std::optional<double> linear;         // median error of linear scaling
  std::optional<double> plus_constant;  // of linear scaling plus one constant
  std::optional<double> inside_band;    // of the rows that have one
  std::optional<double> band_width;     // median, as a share of what was predicted
  [[nodiscard]] std::optional<double> skill() const { return ratio(linear); }
  [[nodiscard]] std::optional<double> skill_against_constant() const { return ratio(plus_constant); }

 private:
  [[nodiscard]] std::optional<double> ratio(const std::optional<double>& other) const {
    return other && *other > 0 ? std::optional(median / *other) : std::nullopt;
  }
};

/// Of training on several nodes: the hard rows and all; then on one node. Groups without counted rows are left out.
std::vector<Headline> headlines(std::span<const ValidationPoint> points);

/// Rows of training that are not counted and missed by a tenth or more, the worst first.
std::vector<const ValidationPoint*> uncounted_misses(std::span<const ValidationPoint> points);

}}  // namespace farandole::report
