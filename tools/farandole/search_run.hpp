// farandole run of a scenario with "optimise": the points that a search runs, and what it found.
#pragma once

#include "output_options.hpp"
#include "study/search.hpp"
#include "study/study.hpp"

namespace farandole {

/// Runs the search on so many processes and writes its points, the optimum and the answer. What it gives back are the
/// points that it ran.
RunPlan run_and_write_search(const Document& document, const SearchSpec& spec, const Catalogue& catalogue,
                             const RunOptions& options, const StudyOptions& study, const OutputOptions& output);

}  // namespace farandole
