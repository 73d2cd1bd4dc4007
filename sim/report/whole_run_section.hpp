// Whole trainings, for their page: how long they take, what failures and checkpoints cost them.
//
// Used by training_page.cpp and answer.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/page.hpp"
#include "report/series.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace report {

/// "The whole training takes 68 days at 98 % goodput, with 16.5 failures in the mean." of the points at `headlines`
/// that may fail: the quickest, and the slowest where it takes longer. Empty where nothing fails.
std::string whole_run_sentence(std::span<const TrainingPoint> points, const Series& series,
                               std::span<const std::size_t> headlines);

/// Tables of all runs; nothing where there are none. Folded unless something fails, as then it is what was asked.
std::optional<PageSection> whole_run_section(std::span<const TrainingPoint> points, const Series& series);

}}  // namespace farandole::report
