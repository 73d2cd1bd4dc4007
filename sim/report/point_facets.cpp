#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/facet.hpp"
#include "report/field_table.hpp"
#include "report/record.hpp"
#include "report/table.hpp"

namespace farandole { inline namespace report {
namespace {

/// What points tell by a property of their own.
constexpr std::array told_otherwise{"/workload/model",         "/workload/variant",        "/workload/precision",
                                    "/workload/gradient_type", "/workload/batch_per_rank", "/platform/ranks",
                                    "/platform/launch",        "/platform/topology",       "/strategy/kind",
                                    "/strategy/mode",          "/measure/fidelity",        "/collectives/allreduce",
                                    "/strategy/compression",   "/strategy/period",         "/strategy/accumulation",
                                    "/workload/recompute",     "/workload/sequence_length"};  // the variant's name

/// Values of a sweep stand before the property at this place.
constexpr int place_of_swept = 8;

bool is_told_otherwise(const std::string& pointer) {
  return std::ranges::find(told_otherwise, std::string_view(pointer)) != told_otherwise.end();
}

/// The pointers that the points' sweep set, in the order of its axes.
std::vector<std::string> swept_pointers(std::span<const TrainingPoint> points) {
  std::vector<std::string> pointers;
  for (const TrainingPoint& point : points) {
    for (const SweptValue& swept : point.swept) {
      if (is_told_otherwise(swept.pointer)) continue;
      if (std::ranges::find(pointers, swept.pointer) == pointers.end()) pointers.push_back(swept.pointer);
    }
  }
  return pointers;
}

bool starts_with_digit(const std::string& text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

Record parsed(const std::string& value) {
  return Record::parse(value, nullptr, false);
}

/// Of an axis whose values are objects, the keys that tell them apart and that no other column has.
std::vector<std::string> telling_keys(const std::string& pointer, std::span<const TrainingPoint> points) {
  std::map<std::string, std::set<std::string>> values;
  for (const TrainingPoint& point : points) {
    const Record object = parsed(swept_value(point, pointer));
    if (!object.is_object()) return {};
    for (const auto& [key, value] : object.items()) values[key].insert(value.dump());
  }
  std::vector<std::string> keys;
  for (const auto& [key, different] : values) {
    const auto has = [&](const TrainingPoint& point) { return parsed(swept_value(point, pointer)).contains(key); };
    const bool tells = different.size() > 1 || !std::ranges::all_of(points, has);
    if (tells && !is_told_otherwise(pointer + "/" + key)) keys.push_back(key);
  }
  return keys;
}

/// "worker ranks 8, fragments 4"
std::string told_by(const std::vector<std::string>& keys, const std::string& value) {
  const Record object = parsed(value);
  std::vector<std::string> told;
  for (const std::string& key : keys) {
    if (!object.contains(key)) continue;
    const Record& part = object.at(key);
    told.push_back(pointer_words("/" + key) + " " + (part.is_string() ? part.get<std::string>() : part.dump()));
  }
  return fmt::format("{}", fmt::join(told, ", "));
}

Facet<TrainingPoint> swept_facet(const std::string& pointer, std::span<const TrainingPoint> points) {
  const bool are_objects =
      std::ranges::all_of(points, [&](const TrainingPoint& p) { return parsed(swept_value(p, pointer)).is_object(); });
  if (are_objects) {
    return {pointer_words(pointer) + " settings",
            [pointer, keys = telling_keys(pointer, points)](const TrainingPoint& p) {
              return told_by(keys, swept_value(p, pointer));
            }};
  }
  const bool are_names = pointer == "variants";  // "8 DGX A100 bought" is no number
  const bool numbers = !are_names && std::ranges::all_of(points, [&](const TrainingPoint& p) {
    return starts_with_digit(swept_value(p, pointer));
  });
  return {pointer_words(pointer), [pointer](const TrainingPoint& p) { return swept_value(p, pointer); },
          numbers ? Align::right : Align::left};
}

}  // namespace

std::string swept_value(const TrainingPoint& point, const std::string& pointer) {
  std::string value;
  for (const SweptValue& swept : point.swept) {
    if (swept.pointer == pointer) value = swept.value;
  }
  return value;
}

std::string pointer_words(const std::string& pointer) {
  std::string words;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    const bool escaped = pointer[i] == '~' && i + 1 < pointer.size();
    if (escaped) ++i;  // "~1" is a slash of a pointer within the pointer, "~0" a tilde
    const bool apart = pointer[i] == '/' || pointer[i] == '_' || (escaped && pointer[i] == '1');
    words += apart ? ' ' : pointer[i];
  }
  for (const std::string_view section : {" platform override", " platform", " strategy", " workload", " measure"}) {
    if (!words.starts_with(section) || words.size() == section.size()) continue;
    words.erase(0, section.size());
    break;
  }
  words.erase(0, words.find_first_not_of(' '));
  return words;
}

std::vector<Facet<TrainingPoint>> training_facets(std::span<const TrainingPoint> points) {
  std::vector<Facet<TrainingPoint>> facets = properties_of<TrainingPoint>();
  const auto swept =
      mapped(swept_pointers(points), [&](const std::string& pointer) { return swept_facet(pointer, points); });
  const auto before = std::ranges::find(facets, place_of_swept, &Facet<TrainingPoint>::place);
  facets.insert(before, swept.begin(), swept.end());
  return facets;
}

std::vector<Facet<CollectivePoint>> collective_facets() {
  return properties_of<CollectivePoint>();
}

std::string band_text(const TrainingPoint& point, Interval Bands::*band, double per_unit, int decimals) {
  if (!point.bands) return "";
  const Interval& ends = (*point.bands).*band;
  return grouped(ends.low * per_unit, decimals) + " .. " + grouped(ends.high * per_unit, decimals);
}

std::string band_text(const CollectivePoint& point) {
  return point.band ? grouped(1e6 * point.band->low, 2) + " .. " + grouped(1e6 * point.band->high, 2) : "";
}

std::string sure_text(std::optional<double> probability) {
  return probability ? fmt::format("{:.0f}", std::min(100 * *probability, 99.0)) : "";
}

std::string points_band(const WhatIf& what_if) {
  if (!what_if.points_band) return "";
  return fmt::format("{:+.1f} .. {:+.1f}", what_if.points_band->low, what_if.points_band->high);
}

std::optional<double> faster(const WhatIf& what_if, const TrainingPoint& point) {
  const bool loses = what_if.sure && what_if.samples_per_second < point.samples_per_second;
  return loses ? 1 - *what_if.sure : what_if.sure;
}

bool have_bands(std::span<const TrainingPoint> points) {
  return std::ranges::any_of(points, [](const TrainingPoint& point) { return point.bands.has_value(); });
}

std::string what_bands_are_of(std::span<const TrainingPoint> points) {
  const auto estimated = [](const TrainingPoint& p) { return p.bands && p.bands->compute.low < p.bands->compute.high; };
  const auto simulated = [](const TrainingPoint& point) { return point.bands && point.ranks > 1; };
  const auto unsettled = [](const TrainingPoint& point) {
    const auto is_number = [](const BandSource& source) { return !source.between.empty(); };
    return point.bands && std::ranges::any_of(point.bands->sources, is_number);
  };
  std::vector<std::string> parts;
  if (std::ranges::any_of(points, estimated)) parts.emplace_back("uncertain compute times");
  if (std::ranges::any_of(points, unsettled)) parts.emplace_back("numbers of the platform that nothing has settled");
  if (std::ranges::any_of(points, simulated)) parts.emplace_back("errors on published runs");
  return listed(parts);
}

std::string band_probability(std::span<const TrainingPoint> points) {
  for (const TrainingPoint& point : points) {
    if (point.bands) return fmt::format("{:.0f} %", 100 * point.bands->probability);
  }
  return "";
}

}}  // namespace farandole::report
