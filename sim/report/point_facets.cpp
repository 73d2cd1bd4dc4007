#include "report/point_facets.hpp"

#include <array>
#include <string_view>

namespace farandole {
namespace {

/// What points tell by a property of their own.
constexpr std::array told_otherwise{"/workload/model",         "/workload/variant",        "/workload/precision",
                                    "/workload/gradient_type", "/workload/batch_per_rank", "/platform/ranks",
                                    "/platform/launch",        "/platform/topology",       "/strategy/kind",
                                    "/strategy/mode",          "/measure/fidelity",        "/collectives/allreduce",
                                    "/strategy/compression",   "/strategy/period",         "/strategy/accumulation",
                                    "/workload/recompute",     "/workload/sequence_length"};  // the variant's name

/// The pointers that the points' sweep set, in the order of its axes.
std::vector<std::string> swept_pointers(std::span<const TrainingPoint> points) {
  std::vector<std::string> pointers;
  for (const TrainingPoint& point : points) {
    for (const SweptValue& swept : point.swept) {
      if (std::ranges::find(told_otherwise, std::string_view(swept.pointer)) != told_otherwise.end()) continue;
      if (std::ranges::find(pointers, swept.pointer) == pointers.end()) pointers.push_back(swept.pointer);
    }
  }
  return pointers;
}

bool starts_with_digit(const std::string& text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

Facet<TrainingPoint> swept_facet(const std::string& pointer, std::span<const TrainingPoint> points) {
  const bool numbers =
      std::ranges::all_of(points, [&](const TrainingPoint& p) { return starts_with_digit(swept_value(p, pointer)); });
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
  using Point = TrainingPoint;
  std::vector<Facet<Point>> facets{
      {"model", [](const Point& p) { return p.model; }, Align::left, true},
      {"variant", [](const Point& p) { return p.variant; }},
      {"platform", [](const Point& p) { return p.platform; }},
      {"strategy", [](const Point& p) { return p.strategy; }},
      {"mode", [](const Point& p) { return p.mode; }},
      {"strategy options", [](const Point& p) { return p.strategy_options; }},
      {"algorithm", [](const Point& p) { return p.algorithm; }},
  };
  for (const std::string& pointer : swept_pointers(points)) facets.push_back(swept_facet(pointer, points));
  const bool recomputes = std::ranges::any_of(points, [](const Point& p) { return p.utilisation.recompute != "none"; });
  if (recomputes) facets.push_back({"recompute", [](const Point& p) { return p.utilisation.recompute; }});
  const std::vector<Facet<Point>> measured_with{
      {"precision", [](const Point& p) { return p.precision; }},
      {"gradient type", [](const Point& p) { return p.gradient_type; }},
      {"batch per rank", [](const Point& p) { return std::to_string(p.batch_per_rank); }, Align::right},
      {"ranks", [](const Point& p) { return std::to_string(p.ranks); }, Align::right, true},
      {"nodes", [](const Point& p) { return std::to_string(p.nodes); }, Align::right, true},
      {"fidelity", [](const Point& p) { return p.fidelity; }},
  };
  facets.insert(facets.end(), measured_with.begin(), measured_with.end());
  return facets;
}

std::vector<Facet<CollectivePoint>> collective_facets() {
  using Point = CollectivePoint;
  return {
      {"op", [](const Point& p) { return p.operation; }},
      {"algorithm", [](const Point& p) { return p.algorithm; }},
      {"chosen algorithm", [](const Point& p) { return p.choice ? p.choice->algorithm : std::string(); }},
      {"protocol", [](const Point& p) { return p.choice ? p.choice->protocol : std::string(); }},
      {"channels", [](const Point& p) { return p.choice ? std::to_string(p.choice->channels) : std::string(); },
       Align::right},
      {"ranks", [](const Point& p) { return std::to_string(p.ranks); }, Align::right},
      {"servers", [](const Point& p) { return p.servers > 0 ? std::to_string(p.servers) : ""; }, Align::right},
      {"folded", [](const Point& p) { return std::string(p.folded ? "yes" : "no"); }},
      {"fidelity", [](const Point& p) { return p.fidelity; }},
  };
}

}  // namespace farandole
