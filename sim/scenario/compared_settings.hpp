// A scenario's settings by the kinds of change that comparisons are asked about, and how far ratios lie from predicted
// ones where two scenarios differ in them.
//
// The kind follows from where a setting stands. Spreads are learned from pairs of published runs that differ in one
// kind alone (calibration/published.hpp, tools/fit_model_error.py) and are in topologies/errors/training.json.
#pragma once

#include <map>
#include <string>

#include "config/document.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace scenario {

/// Of kinds of change: within what the logarithm of a ratio's error lies eight times in ten, where the runs wait for
/// little (low) and for much (high).
struct DifferenceErrors {
  std::map<std::string, Interval> kinds;  // "other": those that too few pairs differ in
  double much = 1;                        // share of a step that is not computed
  double largest_ranks = 1;               // of any pair
};

/// Of all published pairs, or of those without rows of a family. Without a file, nothing is known to err.
DifferenceErrors difference_errors(const Catalogue& catalogue, const std::string& without_family = "");

/// The spreads, for a point. With every doubling beyond the largest run they grow as they do with one that was seen.
void put_apart(ComparedSettings& settings, const TrainingPoint& point, const DifferenceErrors& errors);

/// `document` is what the scenario was read from. Without spreads.
ComparedSettings compared_settings(const Document& document, const Scenario& scenario);

}}  // namespace farandole::scenario
