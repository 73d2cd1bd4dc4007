// The properties that tell training points and collective points apart, in the order in which tables show them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "report/facet.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// Everything but the measured numbers, with what a sweep of these points set that no other property tells; "fidelity"
/// is the last.
std::vector<Facet<TrainingPoint>> training_facets(std::span<const TrainingPoint> points);

/// "/platform/override/~1node~1nic~1rate" for people: "node nic rate".
std::string pointer_words(const std::string& pointer);

/// What a sweep put there in this point; nothing where it did not.
std::string swept_value(const TrainingPoint& point, const std::string& pointer);

/// The same for a collective. Its size is not among them: it has a column of its own, or is a row's name.
std::vector<Facet<CollectivePoint>> collective_facets();

/// The fidelities of the points, each once, in order of first appearance.
template <class Point>
std::vector<std::string> fidelities_of(std::span<const Point> points) {
  std::vector<std::string> result;
  for (const Point& point : points) {
    if (std::ranges::find(result, point.fidelity) == result.end()) result.push_back(point.fidelity);
  }
  return result;
}

}  // namespace farandole
