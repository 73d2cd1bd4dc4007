#include "platform/congestion.hpp"

#include <algorithm>
#include <utility>

namespace farandole { inline namespace platform {

CongestionCurve::CongestionCurve(std::vector<Point> points) : points_(std::move(points)) {
  points_.insert(points_.begin(), {1, 1});
}

double CongestionCurve::left(double flows) const {
  const auto above = std::ranges::upper_bound(points_, flows, {}, &Point::flows);
  if (above == points_.begin()) return points_.front().left;
  if (above == points_.end()) return points_.back().left;
  const Point& below = *std::prev(above);
  return below.left + (above->left - below.left) * (flows - below.flows) / (above->flows - below.flows);
}

}}  // namespace farandole::platform
