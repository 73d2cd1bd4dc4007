// What flows that converge on a link cost it: a calibrated curve, off unless a topology's condition gives one.
//
// Priority flow control, ECN and lost packets of an incast keep a link from being used fully by many flows at once. How
// much depends on switches, buffers and settings, so it is measured, not derived: `farandole` takes points of the share
// of the rate that is left when so many flows cross the link, straight lines between them, and the last one beyond. One
// flow alone has all of it. A flow that is split over several paths counts as its share on each.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace farandole { inline namespace platform {

class CongestionCurve {
 public:
  struct Point {
    double flows;
    double left;
  };

  /// Points in order of flows, all beyond one; what is left is above 0, up to 1, and never rises.
  explicit CongestionCurve(std::vector<Point> points) : points_(std::move(points)) {
    points_.insert(points_.begin(), {1, 1});
  }

  [[nodiscard]] double left(double flows) const {
    const auto above = std::ranges::upper_bound(points_, flows, {}, &Point::flows);
    if (above == points_.begin()) return points_.front().left;
    if (above == points_.end()) return points_.back().left;
    const Point& below = *std::prev(above);
    return below.left + (above->left - below.left) * (flows - below.flows) / (above->flows - below.flows);
  }
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;  // the first is one flow, which has all
};

/// The curve of a link whose load counts in units of its own: `flows` flows for every one.
struct Congestion {
  std::shared_ptr<const CongestionCurve> curve{};  // null: none
  double flows = 1;

  [[nodiscard]] double left(double load) const { return curve == nullptr ? 1 : curve->left(load * flows); }
};

}}  // namespace farandole::platform
