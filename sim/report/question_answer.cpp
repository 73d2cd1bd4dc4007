#include "report/question_answer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/point_facets.hpp"
#include "report/series.hpp"
#include "report/table.hpp"

namespace farandole {
namespace {

using Points = std::span<const TrainingPoint>;

bool has_all(const TrainingPoint& point, const std::vector<SweptValue>& values) {
  return std::ranges::all_of(values, [&](const SweptValue& v) { return swept_value(point, v.pointer) == v.value; });
}

/// Whether the sweep put the same into both, but for what the question asks about.
bool is_like(const TrainingPoint& a, const TrainingPoint& b, const Question& question) {
  return std::ranges::all_of(a.swept, [&](const SweptValue& swept) {
    const bool asked = std::ranges::find(question.to, swept.pointer, &SweptValue::pointer) != question.to.end();
    return asked || swept_value(b, swept.pointer) == swept.value;
  });
}

double gain(Points points, const ComparedPair& pair) {
  return points[pair.to].scaling_efficiency - points[pair.from].scaling_efficiency;
}

std::string percents(Points points, const ComparedPair& pair) {
  return fmt::format("from {} % to {} %", grouped(100 * points[pair.from].scaling_efficiency, 0),
                     grouped(100 * points[pair.to].scaling_efficiency, 0));
}

std::string values_of(const std::vector<SweptValue>& values) {
  std::string text;
  for (const SweptValue& swept : values) text += (text.empty() ? "" : ", ") + swept.value;
  return text;
}

/// What tells the pairs apart: the curve's name without the value that is asked about.
std::string name_of(Points points, const ComparedPair& pair, const Question& question) {
  std::vector<TrainingPoint> alike;
  for (const TrainingPoint& point : points) {
    if (has_all(point, question.from)) alike.push_back(point);
  }
  const auto before =
      std::ranges::count_if(points.first(pair.from), [&](const TrainingPoint& p) { return has_all(p, question.from); });
  return title(series_of(alike), static_cast<std::size_t>(before));
}

}  // namespace

std::vector<ComparedPair> compared_pairs(Points points, const Question& question) {
  if (points.empty()) return {};
  const int most = std::ranges::max_element(points, {}, &TrainingPoint::ranks)->ranks;
  std::vector<ComparedPair> pairs;
  for (std::size_t from = 0; from < points.size(); ++from) {
    if (points[from].ranks != most || !has_all(points[from], question.from)) continue;
    for (std::size_t to = 0; to < points.size(); ++to) {
      if (has_all(points[to], question.to) && is_like(points[from], points[to], question)) pairs.push_back({from, to});
    }
  }
  return pairs;
}

std::vector<std::string> answer_to(Points points, const Question& question) {
  const auto pairs = compared_pairs(points, question);
  if (pairs.empty()) return {};
  const auto& [from, to] = pairs.front();
  std::vector<std::string> sentences{
      fmt::format("{} instead of {} would take {} on {} ranks {} of linear scaling, {} to {} samples/s.",
                  values_of(question.to), values_of(question.from), name_of(points, pairs.front(), question),
                  grouped(points[from].ranks, 0), percents(points, pairs.front()),
                  grouped(points[from].samples_per_second, 0), grouped(points[to].samples_per_second, 0))};
  if (pairs.size() == 1) return sentences;
  const auto most = *std::ranges::max_element(pairs, {}, [&](const auto& pair) { return gain(points, pair); });
  const auto least = *std::ranges::min_element(pairs, {}, [&](const auto& pair) { return gain(points, pair); });
  sentences.push_back(fmt::format("It changes most for {}, {}, and least for {}, {}.", name_of(points, most, question),
                                  percents(points, most), name_of(points, least, question), percents(points, least)));
  return sentences;
}

}  // namespace farandole
