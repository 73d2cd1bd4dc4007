#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "study/search.hpp"

namespace farandole { inline namespace study {
namespace {

std::string goal_text(const Goal& goal) {
  std::vector<std::string> bounds;
  for (const Bound& bound : goal.bounds) bounds.push_back(bound.text());
  return fmt::format("{} {}{}{}", goal.is_least ? "least" : "most", goal.metric->name, bounds.empty() ? "" : " with ",
                     fmt::join(bounds, " and "));
}

bool is_nearly_as_good(const Goal& goal, const TrainingPoint& point, const TrainingPoint& best, double tolerance) {
  const double loss = goal.loss(best);
  return goal.violation(point) == 0 && goal.loss(point) <= loss + std::abs(loss) * tolerance;
}

/// What leads a value such as "16 MiB".
double number_of(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<NearlyAsGood> flat_part(const SearchSpec& spec, const SearchResult& result) {
  std::vector<NearlyAsGood> flat;
  const TrainingPoint& best = result.points[result.optimum.point];
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    if (!is_nearly_as_good(spec.goal, result.points[i], best, result.optimum.tolerance)) continue;
    for (const auto& [pointer, value] : result.choices[i]) {
      auto part = std::ranges::find(flat, pointer, &NearlyAsGood::pointer);
      if (part == flat.end()) part = flat.insert(flat.end(), NearlyAsGood{pointer, {}});
      if (std::ranges::find(part->values, value) == part->values.end()) part->values.push_back(value);
    }
  }
  for (NearlyAsGood& part : flat) {
    if (spec.ranges.empty()) continue;
    const auto [low, high] = std::ranges::minmax_element(part.values, {}, number_of);
    part.values = {*low, *high};
  }
  return flat;
}

Optimum optimum_of(const SearchSpec& spec, const SearchResult& result) {
  Optimum optimum;
  optimum.goal = goal_text(spec.goal);
  optimum.method = spec.method;
  optimum.points_run = static_cast<int>(result.points.size());
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    if (spec.goal.violation(result.points[i]) == 0) ++optimum.feasible;
    if (spec.goal.is_better(result.points[i], result.points[optimum.point])) optimum.point = i;
  }
  optimum.value = spec.goal.metric->of(result.points[optimum.point]);
  optimum.at = result.choices[optimum.point];
  return optimum;
}

std::string at_text(const std::vector<Choice>& at) {
  std::vector<std::string> parts;
  parts.reserve(at.size());
  for (const auto& [pointer, value] : at) parts.push_back(fmt::format("{} {}", pointer, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string flat_text(const SearchSpec& spec, const Optimum& optimum) {
  std::vector<std::string> parts;
  for (const NearlyAsGood& part : optimum.flat) {
    if (part.values.size() < 2 || part.values.front() == part.values.back()) continue;
    parts.push_back(fmt::format("{} {}", part.pointer, fmt::join(part.values, spec.ranges.empty() ? ", " : " to ")));
  }
  if (parts.empty()) return "; no other of them comes within 1 %.";
  return fmt::format("; within 1 % of it: {}.", fmt::join(parts, ", "));
}

std::string sentence(const SearchSpec& spec, const SearchResult& result) {
  const Optimum& optimum = result.optimum;
  const std::string value = spec.goal.metric->text(optimum.value);
  const std::string others =
      result.too_large > 0 ? fmt::format(" {} more do not fit into memory.", result.too_large) : "";
  if (optimum.feasible == 0) {
    return fmt::format("None of {} points has {}; nearest to it: {}, with {} {}.{}", optimum.points_run,
                       optimum.goal.substr(optimum.goal.find(" with ") + 6), at_text(optimum.at),
                       spec.goal.metric->name, value, others);
  }
  return fmt::format("The {}: {}, {}. {} points were run{}{}", optimum.goal, value, at_text(optimum.at),
                     optimum.points_run, flat_text(spec, optimum), others);
}

}  // namespace

void judge(const SearchSpec& spec, SearchResult& result) {
  result.optimum = optimum_of(spec, result);
  if (result.optimum.feasible > 0) result.optimum.flat = flat_part(spec, result);
  result.answer = sentence(spec, result);
}

}}  // namespace farandole::study
