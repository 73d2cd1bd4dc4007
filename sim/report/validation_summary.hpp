// How far predictions are off, over groups of rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "timeline/fields.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace report {

struct ErrorSummary {
  std::string group;  // "all", "family n4_r100", "1 MiB to 16 MiB", ...
  int rows = 0;       // counted
  double median = 0;  // of the sizes of the errors
  double p90 = 0;
  double worst = 0;
  double bias = 0;                    // median of the signed errors
  std::optional<double> inside_band;  // share of the counted rows with a band
  std::optional<double> null_median;  // of the plainest model's errors

  static void fields(auto& summary, auto& visit) {
    visit("group", summary.group);
    visit("rows", summary.rows);
    visit("median_error", summary.median);
    visit("p90_error", summary.p90);
    visit("worst_error", summary.worst);
    visit("bias", summary.bias);
    visit("inside_band", summary.inside_band);
    visit("null_model_median_error", summary.null_median);
  }
};

/// Of all counted rows, then by family, by operation (training on one node and on several apart), by strategy and by
/// size class, each in order of name or size; groups of which there is only one are left out.
std::vector<ErrorSummary> summarise(std::span<const ValidationPoint> points);

}}  // namespace farandole::report
