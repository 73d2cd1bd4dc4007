#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/answer.hpp"
#include "report/band_record.hpp"
#include "report/facet.hpp"
#include "report/field_record.hpp"
#include "report/series.hpp"
#include "report/table.hpp"
#include "timeline/difference.hpp"

namespace farandole { inline namespace report {
namespace {

using Points = std::span<const TrainingPoint>;

bool has_all(const TrainingPoint& point, const std::vector<SweptValue>& values) {
  return std::ranges::all_of(values, [&](const SweptValue& v) { return swept_value(point, v.pointer) == v.value; });
}

/// Whether the sweep put the same into both, but for what the question asks about.
bool is_like(const TrainingPoint& a, const TrainingPoint& b, const Question& question) {
  return a.fidelity == b.fidelity && std::ranges::all_of(a.swept, [&](const SweptValue& swept) {
           const bool asked = std::ranges::find(question.to, swept.pointer, &SweptValue::pointer) != question.to.end();
           return asked || swept_value(b, swept.pointer) == swept.value;
         });
}

double gain(Points points, const ComparedPair& pair) {
  return points[pair.to].scaling_efficiency - points[pair.from].scaling_efficiency;
}

constexpr double least_change_said = 0.005;  // of efficiency: below half a percentage point nothing changes

bool changes_nothing(double change) {
  return std::abs(change) < least_change_said;
}

double size_of_change(Points points, const ComparedPair& pair) {
  return std::abs(gain(points, pair));
}

/// "from 64 % to 85 %", with a decimal where whole percents would look the same.
std::string percents(Points points, const ComparedPair& pair) {
  const double from = 100 * points[pair.from].scaling_efficiency;
  const double to = 100 * points[pair.to].scaling_efficiency;
  const int decimals = grouped(from, 0) == grouped(to, 0) ? 1 : 0;
  return fmt::format("from {} % to {} %", grouped(from, decimals), grouped(to, decimals));
}

/// "from 64 % to 85 %", "a loss from 93 % to 91 %" or "where nothing changes (96 %)".
std::string change_of(Points points, const ComparedPair& pair) {
  const double change = gain(points, pair);
  if (changes_nothing(change)) {
    return fmt::format("where nothing changes ({} %)", grouped(100 * points[pair.from].scaling_efficiency, 0));
  }
  return (change < 0 ? "a loss " : "") + percents(points, pair);
}

std::string signed_percents(double factor) {
  return fmt::format("{:+.{}f}", 100 * (factor - 1), std::abs(factor - 1) < 0.1 ? 1 : 0);
}

/// ": +32 % (80 % band +18 to +41), 99 % sure to be a gain".
std::string how_sure(const TrainingPoint& from, const TrainingPoint& to) {
  const auto found = difference(from, to);
  if (!found || found->throughput == 1) return {};
  return fmt::format(": {} % ({:.0f} % band {} to {}), {} % sure to be a {}", signed_percents(found->throughput),
                     100 * found->probability, signed_percents(found->band.low), signed_percents(found->band.high),
                     sure_text(found->sure), found->throughput > 1 ? "gain" : "loss");
}

std::string swept_values_text(const std::vector<SweptValue>& values) {
  std::string text;
  for (const SweptValue& swept : values) text += (text.empty() ? "" : ", ") + swept.value;
  return text;
}

/// What tells the pairs apart: the curve's name without the value that is asked about.
std::string pair_name(Points points, const ComparedPair& pair, const Question& question) {
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

namespace {

/// What becomes of the first pair.
std::string first_answer(Points points, const ComparedPair& pair, const Question& question) {
  const TrainingPoint& from = points[pair.from];
  const TrainingPoint& to = points[pair.to];
  const std::string what = swept_values_text(question.to) + " instead of " + swept_values_text(question.from);
  const std::string whose = pair_name(points, pair, question) + " on " + ranks_text(from.ranks);
  const std::string throughput =
      fmt::format("{} to {} samples/s", grouped(from.samples_per_second, 0), grouped(to.samples_per_second, 0));
  const double change = gain(points, pair);
  if (!changes_nothing(change)) {
    return fmt::format("{} would {} {} {} efficiency, {}{}.", what, change < 0 ? "lower" : "take", whose,
                       percents(points, pair), throughput, how_sure(from, to));
  }
  const std::string still = grouped(100 * from.scaling_efficiency, 0);
  if (changes_nothing(to.samples_per_second / from.samples_per_second - 1)) {
    return fmt::format("{} changes nothing for {}: {} % efficiency, {} samples/s.", what, whose, still,
                       grouped(from.samples_per_second, 0));
  }
  return fmt::format("{} leaves {} at {} % efficiency, {}{}.", what, whose, still, throughput, how_sure(from, to));
}

/// The pairs that change most and least, whichever way.
std::string extremes(Points points, const std::vector<ComparedPair>& pairs, const Question& question) {
  const auto size = [&](const ComparedPair& pair) { return size_of_change(points, pair); };
  const ComparedPair most = *std::ranges::max_element(pairs, {}, size);
  const ComparedPair least = *std::ranges::min_element(pairs, {}, size);
  if (changes_nothing(gain(points, most))) {
    return fmt::format("Nothing changes for any of the {} compared: less than half a percentage point each.",
                       pairs.size());
  }
  return fmt::format("It changes most for {}, {}, and least for {}, {}.", pair_name(points, most, question),
                     change_of(points, most), pair_name(points, least, question), change_of(points, least));
}

/// The points of the most exact of their fidelities: runs go through them from the least exact on.
std::vector<TrainingPoint> most_exact(Points points) {
  const std::vector<std::string> fidelities = fidelities_of(points);
  std::vector<TrainingPoint> chosen;
  std::ranges::copy_if(points, std::back_inserter(chosen),
                       [&](const TrainingPoint& point) { return point.fidelity == fidelities.back(); });
  return chosen;
}

}  // namespace

std::vector<std::string> answer_to(Points all, const Question& question) {
  const std::vector<TrainingPoint> points = most_exact(all);
  const auto pairs = compared_pairs(points, question);
  if (pairs.empty()) return {};
  std::vector<std::string> sentences{first_answer(points, pairs.front(), question)};
  if (pairs.size() > 1) sentences.push_back(extremes(points, pairs, question));
  return sentences;
}

Record answered(const std::optional<Question>& question, Points points) {
  if (!question) return {};
  Record record = record_of(*question);
  record["answer"] = answer_to(points, *question);
  record["pairs"] = Record::array();
  for (const auto& [from, to] : compared_pairs(points, *question)) {
    Record pair{{"from", from}, {"to", to}};
    if (const auto found = difference(points[from], points[to])) pair.update(record_of(*found));
    record["pairs"].push_back(std::move(pair));
  }
  return record;
}

}}  // namespace farandole::report
