// A search: runs points of a scenario until the best is found, and says how good it is and how flat it lies.
//
// Called by `farandole run` for documents with "optimise" (study/search_spec.hpp). Deterministic: the same points in
// the same order whatever the number of processes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/run.hpp"
#include "study/search_spec.hpp"
#include "timeline/optimum.hpp"

namespace farandole { inline namespace study {

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

// A search of the whole unit cube for the least value of a function, by DIRECT-L (Gablonsky and Kelley, J. Global
// Optimization 21, 2001) as NLopt has it.
//
// Called by study/search.hpp. Deterministic. NLopt is a module (config/modules.hpp); where it is missing,
// study/read_search.cpp refuses the method.

/// Empty where NLopt is here.
std::string why_no_global_search();

// The least of a function of one number on an interval, by golden section.
//
// Used by study/search.hpp. Right for functions that fall and then rise (Kiefer, Proc. AMS 4, 1953); of others it finds
// a place that is no worse than what it has seen.

/// Where the least value was seen, both ends included; stops when what is left is shorter than `tolerance`, above 0.
double golden_section(const std::function<double(double)>& f, double low, double high, double tolerance);

// What the points of a search say: the best of them, how flat it lies, and the answer in a sentence.
//
// Called by study/search.hpp.

/// Fills `optimum` and `answer` of a result that has points.
void judge(const SearchSpec& spec, SearchResult& result);

}}  // namespace farandole::study
