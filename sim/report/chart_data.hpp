// What the charts of a run's page draw, as records: the numbers of its points, arranged.
//
// Used by training_page.cpp. page/*.js reads them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "report/record.hpp"
#include "report/series.hpp"
#include "timeline/published_mark.hpp"
#include "timeline/timeline.hpp"

namespace farandole {

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

}  // namespace farandole
