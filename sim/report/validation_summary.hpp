// How far predictions are off, over groups of rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "timeline/difference.hpp"
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

// How well differences between published runs are predicted, by the kind of change, beside "nothing changes" and linear
// scaling; and whether what is said to be sure comes out.
//
// Used by validation_report.cpp. An error is the size of log(predicted / measured ratio), printed as a share. Signs are
// of the throughput of a device, so that more ranks count against linear scaling; only changes by more than 5 % have
// one.

struct RatioSummary {
  std::string group;  // "all", a kind of change or a strategy
  int pairs = 0;
  int files = 0;
  double median = 0;
  double no_change = 0;            // median error of the same throughput, of all devices together
  std::optional<double> linear{};  // of linear scaling, where ranks change
  int changes = 0;                 // by more than 5 %
  int wrong_signs = 0;             // of these
  double inside_band = 0;

  static void fields(auto& summary, auto& visit) {
    visit("group", summary.group);
    visit("pairs", summary.pairs);
    visit("files", summary.files);
    visit("median_error", summary.median);
    visit("no_change_median_error", summary.no_change);
    visit("linear_median_error", summary.linear);
    visit("changes_above_5_percent", summary.changes);
    visit("wrong_signs", summary.wrong_signs);
    visit("inside_band", summary.inside_band);
  }
};

/// Of what is said to be so sure.
struct SurenessClass {
  double least = 0.5;
  double most = 1;
  int pairs = 0;
  int right = 0;

  static void fields(auto& sureness, auto& visit) {
    visit("least", sureness.least);
    visit("most", sureness.most);
    visit("pairs", sureness.pairs);
    visit("right", sureness.right);
  }
};

/// Of all pairs, then of each kind, the one with the most pairs first.
std::vector<RatioSummary> by_kind(const std::vector<RatioPair>& pairs);
std::vector<RatioSummary> by_strategy(const std::vector<RatioPair>& pairs);
std::vector<SurenessClass> by_sureness(const std::vector<RatioPair>& pairs);

}}  // namespace farandole::report
