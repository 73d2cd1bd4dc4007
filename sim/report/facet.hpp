// What tells result points apart: the named properties of a point, split into those all points share and the others.
//
// A sweep changes a few properties and leaves the rest alone; the tables print the shared ones once, above, and give
// a column only to what differs. Used by the table writers of this room.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/table.hpp"
#include "timeline/result.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace report {

template <class Point>
struct Facet {
  std::string name;
  std::function<std::string(const Point&)> text;
  Align align = Align::left;
  bool always_a_column = false;  // model and ranks: a table without them would look unfinished
  std::string usual{};           // nothing is said where all points have this
  int place = 0;                 // among the properties of a point (timeline/fields.hpp)
};

template <class Point>
struct Facets {
  std::vector<Facet<Point>> columns;
  std::vector<Facet<Point>> shared;
};

template <class Point>
Facets<Point> split(const std::vector<Facet<Point>>& facets, std::span<const Point> points) {
  Facets<Point> result;
  for (const auto& facet : facets) {
    const auto like_the_first = [&](const Point& p) { return facet.text(p) == facet.text(points.front()); };
    const bool differs = !points.empty() && !std::ranges::all_of(points, like_the_first);
    if (!differs && !facet.always_a_column && !points.empty() && facet.text(points.front()) == facet.usual) continue;
    (differs || facet.always_a_column ? result.columns : result.shared).push_back(facet);
  }
  return result;
}

/// "variant torchvision, strategy horovod"; properties without a value are left out.
template <class Point>
std::string shared_text(const Facets<Point>& facets, std::span<const Point> points) {
  std::string result;
  if (points.empty()) return result;
  for (const auto& facet : facets.shared) {
    const std::string text = facet.text(points.front());
    if (text.empty()) continue;
    if (!result.empty()) result += ", ";
    result += facet.name + ' ' + printable(text);
  }
  return result;
}

template <class Point>
std::vector<Column> facet_columns(const Facets<Point>& facets) {
  return mapped(facets.columns, [](const auto& facet) { return Column{facet.name, facet.align}; });
}

template <class Point>
std::vector<std::string> facet_cells(const Facets<Point>& facets, const Point& point) {
  return mapped(facets.columns, [&](const auto& facet) { return facet.text(point); });
}

// The properties that tell training points and collective points apart, in the order in which tables show them.

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

// Bands of points as text.
//
// Used by the writers of this room.

/// "81.2 .. 93.0"; empty where the point has no bands.
std::string band_text(const TrainingPoint& point, Interval Bands::*band, double per_unit, int decimals);
std::string band_text(const CollectivePoint& point);  // in microseconds

/// "98": a probability in percent, of what is simulated never 100; empty where there is none.
std::string sure_text(std::optional<double> probability);

/// Of what a change would gain: "-0.4 .. +5.2" percentage points, and P(faster). Empty where they are not judged.
std::string points_band(const WhatIf& what_if);
std::optional<double> faster(const WhatIf& what_if, const TrainingPoint& point);

/// Whether a table needs columns for them.
bool have_bands(std::span<const TrainingPoint> points);

/// "uncertain compute times and errors on published runs", as far as it is true of any of them.
std::string what_bands_are_of(std::span<const TrainingPoint> points);

/// "80 %"; of the first point that has any.
std::string band_probability(std::span<const TrainingPoint> points);

}}  // namespace farandole::report
