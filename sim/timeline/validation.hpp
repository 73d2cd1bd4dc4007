// One row of a validation: what was measured and what the simulator said, whoever measured it.
//
// Filled by calibration/, printed by report/. `error` is relative and signed: predicted / measured - 1. The band is
// where the measurement should fall eight times in ten; it is empty where nothing is known of the scatter.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "timeline/bands.hpp"
#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

struct ValidationPoint {
  std::string family;
  std::string row;        // "allreduce ring, 4194304 bytes"
  std::string operation;  // or the strategy of a training run
  int ranks = 1;
  int nodes = 1;
  Bytes bytes;           // zero for a training run
  double predicted = 0;  // seconds, unless `unit` says otherwise
  double measured = 0;
  std::string unit = "s";
  double error = 0;
  bool counted = true;
  std::string note;  // why it is not counted
  std::optional<Band> band;
  std::optional<double> null_model;  // the error of the plainest model, where there is one to compare with
  std::optional<Reach> reach;        // of training

  static void fields(auto& point, auto& visit) {
    visit("family", point.family);
    visit("row", point.row);
    visit("op", point.operation);
    visit("ranks", point.ranks);
    visit("nodes", point.nodes);
    visit("bytes", point.bytes, {.is_whole = false});
    visit("predicted", point.predicted);
    visit("measured", point.measured);
    visit("unit", point.unit);
    visit("error", point.error);
    visit("counted", point.counted);
    visit("note", point.note);
    visit.part(point.band, {.null_where_empty = true});
    visit("null_model_error", point.null_model, {.null_where_empty = true});
    visit("reach", point.reach);
  }
};

/// A row in seconds: its figures, its error, and why it is not counted, if it is not.
inline ValidationPoint validation_point(Seconds predicted, Seconds measured, std::string doubt) {
  ValidationPoint point;
  point.predicted = predicted.si();
  point.measured = measured.si();
  point.error = predicted / measured - 1;
  point.counted = doubt.empty();
  point.note = std::move(doubt);
  return point;
}

/// Whether the measurement lies in the row's band.
inline bool inside_band(const ValidationPoint& point) {
  return point.band && point.band->low <= point.measured && point.measured <= point.band->high;
}

// Classes of message sizes: measurements of about one size scatter alike, and are told together.

struct SizeClass {
  const char* name;
  double most;  // bytes
};

/// From the smallest up; the last has no end.
inline constexpr std::array<SizeClass, 4> size_classes{{{"at most 64 KiB", 65536},
                                                        {"above 64 KiB to 1 MiB", 1048576},
                                                        {"above 1 MiB to 16 MiB", 16777216},
                                                        {"above 16 MiB", HUGE_VAL}}};

/// Which of them a size belongs to.
inline std::size_t size_class_of(Bytes size) {
  std::size_t found = 0;
  while (size.si() > size_classes[found].most) ++found;
  return found;
}

/// Of measurements that were predicted from others alone.
struct HeldOutErrors {
  std::string what;
  double median = 0;
  double p90 = 0;
  double worst = 0;
};

}}  // namespace farandole::timeline
