#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/answer.hpp"
#include "report/series.hpp"

namespace farandole { inline namespace report {
namespace {

using Points = std::span<const TrainingPoint>;
using PointNames = std::set<std::string>;

/// The two sides of a comparison, named by a property that tells them apart.
struct Sides {
  PointNames estimated;
  PointNames measured;
};

bool is_estimated(const TrainingPoint& point) {
  return point.compute_kind() == "estimated";
}

Sides sides_by(Points points, const auto& name_of) {
  Sides sides;
  for (std::size_t i = 0; i < points.size(); ++i) {
    (is_estimated(points[i]) ? sides.estimated : sides.measured).insert(name_of(i));
  }
  return sides;
}

bool are_apart(const Sides& sides) {
  return std::ranges::none_of(sides.estimated, [&](const std::string& name) { return sides.measured.contains(name); });
}

/// By the platform, the model or the precision, whichever tells them apart; else by what tells the points apart.
Sides named_sides(Points points) {
  for (const auto property : {&TrainingPoint::platform, &TrainingPoint::model, &TrainingPoint::precision}) {
    Sides sides = sides_by(points, [&](std::size_t i) { return points[i].*property; });
    if (are_apart(sides)) return sides;
  }
  const Series series = series_of(points);
  return sides_by(points, [&](std::size_t i) { return title(series, i); });
}

std::string list(const PointNames& names) {
  constexpr std::size_t most = 4;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  const std::vector<std::string> first(names.begin(), std::next(names.begin(), most));
  return fmt::format("{} and {} more", fmt::join(first, ", "), names.size() - most);
}

/// How much of a difference may be the estimate's.
std::string uncertainty_of(Points points) {
  const TrainingPoint* widest = nullptr;
  const auto width = [](const TrainingPoint& point) { return point.bands->compute.high / point.bands->compute.low; };
  for (const TrainingPoint& point : points) {
    if (!is_estimated(point) || !point.bands) continue;
    if (widest == nullptr || width(point) > width(*widest)) widest = &point;
  }
  if (widest == nullptr) return "a difference between them may be the estimate's";
  const Bands& bands = *widest->bands;
  return fmt::format(
      "an estimated one is truly between {:.0f} % shorter and {:.0f} % longer, with a probability of {:.0f} %",
      100 * (1 - bands.compute.low), 100 * (bands.compute.high - 1), 100 * bands.probability);
}

}  // namespace

std::string mixed_compute_sentence(Points points) {
  const auto estimated = static_cast<std::size_t>(std::ranges::count_if(points, is_estimated));
  if (estimated == 0 || estimated == points.size()) return {};
  const Sides sides = named_sides(points);
  return fmt::format("Compares estimated ({}) with measured ({}) compute times: {}.", list(sides.estimated),
                     list(sides.measured), uncertainty_of(points));
}

std::string estimated_compute_sentence(Points points) {
  if (points.empty() || !std::ranges::all_of(points, is_estimated)) return {};
  PointNames how;
  for (const TrainingPoint& point : points) {
    const auto colon = point.compute_source.find(": ");
    if (colon != std::string::npos) how.insert(point.compute_source.substr(colon + 2));
  }
  if (how.empty()) return "Compute times are estimated, not measured.";
  return fmt::format("Compute times are estimated ({}), not measured.", list(how));
}

}}  // namespace farandole::report
