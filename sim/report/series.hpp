// How the points of a run lie on curves: what runs along the axis, and which points belong to one curve.
//
// Used by the pages of this room. Along the axis go the ranks where they differ; else the swept property with the most
// values, if they begin with a number ("25 Gbit/s"); else, or where no two points would share a curve, nothing, and
// points are bars. What else tells points apart
// names their curve.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "report/record.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"

namespace farandole { inline namespace report {

struct Series {
  std::string axis;                // "ranks", "node nic rate", or empty
  std::string subject;             // what all curves are of: the model where there is only one, else empty
  std::vector<std::string> along;  // by point: its place on the axis
  std::vector<std::string> name;   // by point: its curve, never empty
};

Series series_of(std::span<const TrainingPoint> points);

/// "vgg16 (ring, fp16, 25 Gbit/s)": a point by its subject, its curve, and where it is not ranks its place on the axis.
std::string title(const Series& series, std::size_t point);

// What the charts of a run's page draw, as records: the numbers of its points, arranged.
//
// Used by training_page.cpp. page/*.js reads them.

/// A number of a point, and the same of a published mark.
struct Ordinate {
  const char* name;
  double (*of_point)(const TrainingPoint&);
  double (*of_mark)(const PublishedMark&);
  bool is_share;
  Interval Bands::*band;
};

/// The ends between which a chart shades, of what it draws in `row`.
void shade(Record& row, const Interval& band, double per_unit = 1);

Record curves_data(std::span<const TrainingPoint> points, const Series& series, const Ordinate& measure,
                   std::span<const PublishedMark> marks, std::size_t accent);

/// Parts of the iteration, by point.
Record shares_data(std::span<const TrainingPoint> points, const Series& series, const std::vector<std::size_t>& shown);

Record waterfall_data(const TrainingPoint& point);
Record what_if_data(const TrainingPoint& point);

/// The last whole iteration on the timeline, spans that tensors share as one; null where there is none.
Record timeline_data(const Timeline& timeline);

}}  // namespace farandole::report
