#include "report/series.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "report/facet.hpp"

namespace farandole { inline namespace report {
namespace {

using Points = std::span<const TrainingPoint>;
using Property = Facet<TrainingPoint>;

std::set<std::string> distinct_values(const Property& property, Points points) {
  std::set<std::string> values;
  for (const TrainingPoint& point : points) values.insert(property.text(point));
  return values;
}

bool are_numbers(const std::set<std::string>& values) {
  return std::ranges::all_of(values, [](const std::string& v) { return !v.empty() && v[0] >= '0' && v[0] <= '9'; });
}

/// Nodes go with ranks.
std::vector<Property> differing(Points points) {
  return those_of(training_facets(points), [&](const Property& property) {
    return property.name != "nodes" && distinct_values(property, points).size() > 1;
  });
}

/// Whether all points of a variant have the same of it.
bool follows_from(const Property& variant, const Property& property, Points points) {
  std::map<std::string, std::string> value_of;
  return std::ranges::all_of(points, [&](const TrainingPoint& point) {
    const std::string value = property.text(point);
    return value_of.try_emplace(variant.text(point), value).first->second == value;
  });
}

/// A named variant stands for what it sets.
void keep_to_variants(std::vector<Property>& properties, const std::string& axis, Points points) {
  const auto variants = std::ranges::find(properties, "variants", &Property::name);
  if (variants == properties.end()) return;
  const Property kept = *variants;
  std::erase_if(properties, [&](const Property& property) {
    const bool stays = property.name == "variants" || property.name == "model" || property.name == axis;
    return !stays && follows_from(kept, property, points);
  });
}

/// The end of the list where nothing can run along an axis.
std::vector<Property>::const_iterator axis_of(const std::vector<Property>& properties, Points points) {
  const auto ranks = std::ranges::find(properties, "ranks", &Property::name);
  if (ranks != properties.end()) return ranks;
  auto best = properties.end();
  std::size_t most = 0;
  for (auto candidate = properties.begin(); candidate != properties.end(); ++candidate) {
    const auto values = distinct_values(*candidate, points);
    if (candidate->align != Align::right || !are_numbers(values) || values.size() <= most) continue;
    most = values.size();
    best = candidate;
  }
  return best;
}

/// What the properties but the one along the axis say of a point.
std::string curve_name(const TrainingPoint& point, const std::vector<Property>& properties, const std::string& axis) {
  std::string name;
  for (const Property& property : properties) {
    if (property.name == axis || property.text(point).empty()) continue;
    name += (name.empty() ? "" : ", ") + property.text(point);
  }
  return name;
}

/// Whether some curve along that axis has two places.
bool makes_curves(const std::string& axis, const std::vector<Property>& properties, Points points) {
  const Property& along = *std::ranges::find(properties, axis, &Property::name);
  std::map<std::string, std::set<std::string>> places;
  for (const TrainingPoint& point : points) places[curve_name(point, properties, axis)].insert(along.text(point));
  return std::ranges::any_of(places, [](const auto& curve) { return curve.second.size() > 1; });
}

}  // namespace

Series series_of(Points points) {
  std::vector<Property> properties = differing(points);
  Series series;
  if (const auto axis = axis_of(properties, points); axis != properties.end()) series.axis = axis->name;
  if (!series.axis.empty() && !makes_curves(series.axis, properties, points)) series.axis.clear();
  keep_to_variants(properties, series.axis, points);
  const bool several_models = std::ranges::find(properties, "model", &Property::name) != properties.end();
  if (!points.empty() && !several_models) series.subject = points.front().model;
  const auto axis = std::ranges::find(properties, series.axis, &Property::name);
  for (const TrainingPoint& point : points) {
    const std::string name = curve_name(point, properties, series.axis);
    series.along.push_back(axis == properties.end() ? "" : axis->text(point));
    series.name.push_back(name.empty() ? point.model : name);
  }
  return series;
}

std::string title(const Series& series, std::size_t point) {
  std::string name = series.name[point];
  if (!series.axis.empty() && series.axis != "ranks") {
    const std::string along = series.axis + " " + series.along[point];
    name = name == series.subject ? along : name + ", " + along;
  }
  if (series.subject.empty() || series.subject == name) return name;
  return series.subject + " (" + name + ")";
}

}}  // namespace farandole::report
