// How the points of a run lie on curves: what runs along the axis, and which points belong to one curve.
//
// Used by the pages of this room. Along the axis go the ranks where they differ; else the swept property with the most
// values, if they begin with a number ("25 Gbit/s"); else, or where no two points would share a curve, nothing, and
// points are bars. What else tells points apart
// names their curve.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "timeline/result.hpp"

namespace farandole {

struct Series {
  std::string axis;                // "ranks", "node nic rate", or empty
  std::string subject;             // what all curves are of: the model where there is only one, else empty
  std::vector<std::string> along;  // by point: its place on the axis
  std::vector<std::string> name;   // by point: its curve, never empty
};

Series series_of(std::span<const TrainingPoint> points);

/// "vgg16 (ring, fp16, 25 Gbit/s)": a point by its subject, its curve, and where it is not ranks its place on the axis.
std::string title(const Series& series, std::size_t point);

}  // namespace farandole
