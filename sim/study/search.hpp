// A search: runs points of a scenario until the best is found, and says how good it is and how flat it lies.
//
// Called by `farandole run` for documents with "optimise" (study/search_spec.hpp). Deterministic: the same points in
// the same order whatever the number of processes.
#pragma once

#include <functional>

#include "scenario/run.hpp"
#include "study/search_spec.hpp"
#include "timeline/optimum.hpp"

namespace farandole {

struct SearchResult {
  RunPlan plan;                              // of its points, with their settings
  std::vector<TrainingPoint> points;         // in the order in which they were asked for
  std::vector<std::vector<Choice>> choices;  // of each point
  int too_large = 0;                         // points that do not fit into memory, and were not run
  Optimum optimum;
  std::string answer;
};

/// Runs all points of a plan, in its order.
using RunAll = std::function<std::vector<TrainingPoint>(const RunPlan&)>;

/// `document` has the "optimise" that `spec` was read from.
SearchResult search(const Document& document, const SearchSpec& spec, const Catalogue& catalogue,
                    const RunOptions& options, const RunAll& run);

}  // namespace farandole
