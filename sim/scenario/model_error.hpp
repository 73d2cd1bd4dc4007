// How far a measured step lies from the predicted one where nothing of the scenario is estimated: the simulator's own
// error, learned from published runs that nothing was fitted to.
//
// Read from topologies/errors/training.json, which tools/fit_model_error.py writes from the rows beside it.
// log(measured / predicted) is, eight times in ten, between low * scale and high * scale, where
//   scale = floor + beyond |log(predicted / known)| + doubling log2(ranks / known ranks) + servers + other_platform
// and the last but one counts with parameter servers, the last on platforms without published runs, and where a
// scenario changes the network. What numbers that nothing has settled do to a step (scenario/unsettled_numbers.hpp) and
// what its estimated compute does is not part of it. The coefficients are not negative, so the scale grows with
// distance; low and high are conformal quantiles of the scaled errors (Papadopoulos et al., 2002; Lei et al., JASA 113,
// 2018), each family of rows weighing the same. Runs on several nodes and on one are learned apart. Used by
// band_run.cpp and calibration/published.cpp.
//
// What a comparison errs by is learned apart, by the kind of change (scenario/compared_settings.hpp).
#pragma once

#include <optional>
#include <set>
#include <string>

#include "scenario/scenario.hpp"
#include "timeline/bands.hpp"
#include "workload/device.hpp"

namespace farandole { inline namespace scenario {

/// Of runs on several nodes, or on one.
struct ErrorSpread {
  double floor = 0;
  double beyond = 0;
  double doubling = 0;
  double servers = 0;
  double other_platform = 0;
  double low = 0;   // <= 0
  double high = 0;  // >= 0
  std::set<std::string> platforms;
};

struct ModelErrors {
  double probability = 0;
  ErrorSpread several_nodes;
  ErrorSpread one_node;
};

/// What runs of one source share: the machine and the program.
std::string error_family(const std::string& source, const Reach& reach);

/// The file; null where there is none. `catalogue` must have read a device.
const Document* errors_file(const Catalogue& catalogue);

/// Of all families, or of all but one: what is said of that family by the others. Nothing where there is no such file.
std::optional<ModelErrors> model_errors(const Catalogue& catalogue, const std::string& without_family = "");

/// How far a step on so many nodes may lie from `predicted`; one rank is an input and has no such error.
TimeBand model_error(const ModelErrors& errors, const Scenario& scenario, const Reach& reach, Seconds predicted);

/// Two independent sources of error: the logarithms of each end add up in squares.
TimeBand together(const TimeBand& one, const TimeBand& other);

// What is known of a scenario's step before anything is simulated, and how far from it the scenario is.

/// The known step (timeline/bands.hpp); `times` are the scenario's, with whatever stretch they have. A platform whose
/// network `document`, which the scenario was read from, changes is called by another name than its file's.
Reach reach_of(const Scenario& scenario, const Document& document, const ComputeTimes& times);

}}  // namespace farandole::scenario
