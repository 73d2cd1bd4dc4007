#include "report/answer.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/facet.hpp"
#include "report/field_record.hpp"
#include "report/page_parts.hpp"
#include "report/series.hpp"
#include "report/table.hpp"
#include "timeline/difference.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

using Points = std::span<const TrainingPoint>;

constexpr std::size_t most_headlines = 4;
constexpr double least_gain_said = 0.5;  // points of efficiency

std::string rounded_percent(double share) {
  return fmt::format("{} %", grouped(100 * share, std::abs(share) < 0.1 ? 1 : 0));
}

/// " (80 % interval 58 to 74)", of the points after the first " (52 to 64)"; nothing where there is no band.
std::string band_text(const TrainingPoint& point, bool first) {
  if (!point.bands) return {};
  const Interval& band = point.bands->scaling_efficiency;
  const auto end = [](double efficiency) { return grouped(100 * efficiency, efficiency < 0.1 ? 1 : 0); };
  const std::string what = first ? fmt::format("{:.0f} % interval ", 100 * point.bands->probability) : "";
  return fmt::format(" ({}{} to {})", what, end(band.low), end(band.high));
}

/// The points of the most ranks; where points are not on curves, all.
std::vector<std::size_t> candidates(Points points) {
  const int most = std::ranges::max_element(points, {}, &TrainingPoint::ranks)->ranks;
  const bool are_bars = series_of(points).axis.empty();
  return places_of(points, [&](const TrainingPoint& point) { return are_bars || point.ranks == most; });
}

std::size_t by_efficiency(Points points, const std::vector<std::size_t>& among, bool worst) {
  const auto efficiency = [&](std::size_t i) { return points[i].scaling_efficiency; };
  return worst ? *std::ranges::min_element(among, {}, efficiency) : *std::ranges::max_element(among, {}, efficiency);
}

std::string place_of(const TrainingPoint& point) {
  return ranks_text(point.ranks) + " of " + point.platform;
}

/// "On 512 ranks of roce25-4xp100, ", as far as that is true of all of them.
std::string common_place(Points points, const std::vector<std::size_t>& headlines) {
  const TrainingPoint& first = points[headlines.front()];
  const auto all = [&](auto member) {
    return std::ranges::all_of(headlines, [&](std::size_t i) { return points[i].*member == first.*member; });
  };
  if (!all(&TrainingPoint::ranks)) return {};
  if (!all(&TrainingPoint::platform)) return "On " + ranks_text(first.ranks) + ", ";
  return "On " + place_of(first) + ", ";
}

std::string list_of(Points points, const Series& series, const std::vector<std::size_t>& headlines) {
  std::vector<std::string> texts;
  for (const std::size_t i : headlines) {
    const bool is_first = texts.empty();
    texts.push_back(title(series, i) + (is_first ? " scales at " : " at ") +
                    rounded_percent(points[i].scaling_efficiency) + band_text(points[i], is_first));
  }
  return listed(texts);
}

/// Of more points than are listed: the best and the worst, where they differ.
std::string best_and_worst(Points points, const Series& series, const std::vector<std::size_t>& among) {
  const std::string where = common_place(points, among);
  const std::size_t best = by_efficiency(points, among, false);
  const std::size_t worst = by_efficiency(points, among, true);
  if (rounded_percent(points[best].scaling_efficiency) == rounded_percent(points[worst].scaling_efficiency)) {
    return fmt::format("{} {} scale at {} efficiency{}.", where.empty() ? "All" : where + "all", among.size(),
                       rounded_percent(points[best].scaling_efficiency), band_text(points[worst], true));
  }
  return fmt::format("{}{} scales best, at {} efficiency{}, and {} worst, at {}{}.", where, title(series, best),
                     rounded_percent(points[best].scaling_efficiency), band_text(points[best], true),
                     title(series, worst), rounded_percent(points[worst].scaling_efficiency),
                     band_text(points[worst], false));
}

/// Three digits of a small one.
std::string rate_of(const TrainingPoint& point) {
  return grouped(point.samples_per_second, point.samples_per_second < 100 ? 2 : 0);
}

std::string how_well(Points points, const Series& series, const std::vector<std::size_t>& headlines) {
  const TrainingPoint& first = points[headlines.front()];
  if (first.ranks == 1) {
    return fmt::format("{} trains {} samples/s on {}.", title(series, headlines.front()), rate_of(first),
                       place_of(first));
  }
  const std::vector<std::size_t> all = candidates(points);
  const auto shown = [&](std::size_t i) { return rounded_percent(points[i].scaling_efficiency); };
  const bool alike =
      all.size() > 2 && std::ranges::all_of(all, [&](std::size_t i) { return shown(i) == shown(all.front()); });
  if (all.size() > most_headlines || alike) return best_and_worst(points, series, all);
  if (headlines.size() == 1) {
    return fmt::format("{} scales at {} efficiency{} on {}: {} samples/s.", title(series, headlines.front()),
                       rounded_percent(first.scaling_efficiency), band_text(first, true), place_of(first),
                       rate_of(first));
  }
  return fmt::format("{}{} efficiency.", common_place(points, headlines), list_of(points, series, headlines));
}

/// Of the headline that scales best, or of the best point of the page where no headline is above 100 %.
std::string why_beyond_linear(Points points, const Series& series, const std::vector<std::size_t>& headlines) {
  std::vector<std::size_t> all(points.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::vector<std::size_t>& among : {headlines, all}) {
    const TrainingPoint& best = points[by_efficiency(points, among, false)];
    if (rounded_percent(best.scaling_efficiency) == "100 %") continue;
    const auto note =
        std::ranges::find_if(best.notes, [](const auto& each) { return each.starts_with(beyond_linear); });
    if (note == best.notes.end()) continue;
    const std::size_t which = static_cast<std::size_t>(&best - points.data());
    const bool is_headline = std::ranges::find(headlines, which) != headlines.end();
    const std::string where = is_headline ? "" : " on " + ranks_text(best.ranks);
    return fmt::format("{}{} is {}.", title(series, which), where, *note);
  }
  return {};
}

/// Of numeric problems: the lowest loss at the end and when that was, and the highest where there are several.
std::string how_it_learns(Points points, const Series& series) {
  const auto learned =
      places_of(points, [](const TrainingPoint& point) { return point.learning && !point.learning->loss.empty(); });
  if (learned.empty()) return {};
  const auto loss = [&](std::size_t i) { return points[i].learning->loss.back(); };
  const auto end = [&](std::size_t i) { return decimal(points[i].learning->seconds.back()); };
  const std::size_t best = *std::ranges::min_element(learned, {}, loss);
  const std::size_t worst = *std::ranges::max_element(learned, {}, loss);
  const Learning& lowest = *points[best].learning;
  std::string text = fmt::format("{} lowers its loss from {:.3g} to {:.3g} in {} epochs, {} of simulated time",
                                 title(series, best), lowest.start_loss, loss(best), lowest.loss.size(), end(best));
  if (loss(worst) > loss(best)) {
    text += fmt::format("; {} ends at {:.3g}, after {}", title(series, worst), loss(worst), end(worst));
  }
  return text + ".";
}

/// The largest part of the waterfall but the device's own work, which a pipeline's waits are counted to, or of the
/// breakdown but compute.
WaterfallPart largest_loss(const TrainingPoint& point) {
  std::vector<WaterfallPart> parts;
  const Seconds stages = point.exposed ? point.exposed->pipeline.value_or(Seconds(0)) : Seconds(0);
  if (point.explanation) {
    parts = those_of(point.explanation->waterfall, [](const WaterfallPart& part) { return part.name != "device"; });
  } else {
    const Breakdown& b = point.breakdown;
    parts = {{"exposed communication", b.exposed_communication - stages},
             {"negotiation", b.negotiation},
             {"stragglers", b.straggler},
             {"input", b.input},
             {"checkpoints", b.checkpoint},
             {"other", b.other}};
  }
  parts.push_back({"waiting for other stages of its pipeline", stages});
  auto largest = *std::ranges::max_element(parts, {}, &WaterfallPart::time);
  std::ranges::replace(largest.name, '_', ' ');
  return largest;
}

std::string what_holds_back(Points points, const Series& series, std::size_t worst) {
  const TrainingPoint& point = points[worst];
  const auto [what, time] = largest_loss(point);
  if (time <= Seconds(0)) return {};
  return fmt::format("The largest loss of {} is {}: {} of its iteration of {}.", title(series, worst), what,
                     rounded_percent(time / point.iteration), decimal(point.iteration));
}

const WhatIf* best_of_kind(const Explanation& explanation, const std::string& kind) {
  const WhatIf* best = nullptr;
  for (const WhatIf& what_if : explanation.what_ifs) {
    const bool gains = what_if.efficiency_points >= least_gain_said;
    if (what_if.kind == kind && gains && (!best || what_if.efficiency_points > best->efficiency_points))
      best = &what_if;
  }
  return best;
}

std::string what_would_help(const TrainingPoint& point) {
  if (!point.explanation) return {};
  std::string list;
  double most = 0;  // above 1 where a change makes a single device faster too
  for (const char* kind : {"setting", "operation", "hardware"}) {
    const WhatIf* best = best_of_kind(*point.explanation, kind);
    const double then = point.scaling_efficiency + (best ? best->efficiency_points / 100 : 0);
    if (!best || rounded_percent(then) == rounded_percent(point.scaling_efficiency)) continue;
    most = std::max(most, then);
    const std::string sure = best->sure ? fmt::format(", P(faster) {} %", sure_text(*best->sure)) : std::string();
    list += fmt::format("{}{} ({}{}) {} {}", list.empty() ? "" : ", ", best->change, kind, sure,
                        list.empty() ? "would bring it to" : "to", rounded_percent(then));
  }
  if (list.empty()) return "None of the changes tried gains a percentage point of efficiency.";
  list[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(list[0])));
  return list + (most > 1 ? " of the present linear scaling." : " efficiency.");
}

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

/// ": +32 % (80 % interval +18 to +41), P(faster) 95 %".
std::string how_sure(const TrainingPoint& from, const TrainingPoint& to) {
  const auto found = difference(from, to);
  if (!found || found->throughput == 1) return {};
  return fmt::format(": {} % ({:.0f} % interval {} to {}), P({}) {} %", signed_percents(found->throughput),
                     100 * found->probability, signed_percents(found->band.low), signed_percents(found->band.high),
                     found->throughput > 1 ? "faster" : "slower", sure_text(found->sure));
}

std::string swept_values_text(const std::vector<SweptValue>& values) {
  return fmt::format("{}", fmt::join(mapped(values, &SweptValue::value), ", "));
}

/// What tells the pairs apart: the curve's name without the value that is asked about.
std::string pair_name(Points points, const ComparedPair& pair, const Question& question) {
  const auto is_alike = [&](const TrainingPoint& point) { return has_all(point, question.from); };
  const auto before = std::ranges::count_if(points.first(pair.from), is_alike);
  return title(series_of(those_of(points, is_alike)), static_cast<std::size_t>(before));
}

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
  const auto size = [&](const ComparedPair& pair) { return std::abs(gain(points, pair)); };
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
  return those_of(points, [&](const TrainingPoint& point) { return point.fidelity == fidelities.back(); });
}

}  // namespace

std::size_t explained_point(Points points, const std::optional<Question>& question) {
  if (points.empty()) return 0;
  const auto pairs = question ? compared_pairs(points, *question) : std::vector<ComparedPair>();
  return pairs.empty() ? by_efficiency(points, headline_points(points, question), true) : pairs.front().from;
}

std::vector<std::size_t> headline_points(Points points, const std::optional<Question>& question) {
  if (points.empty()) return {};
  std::vector<std::size_t> chosen = candidates(points);
  if (chosen.size() <= most_headlines) return chosen;
  const std::size_t best = by_efficiency(points, chosen, false);
  const std::size_t worst = by_efficiency(points, chosen, true);
  chosen = {best, worst};
  if (question) {
    const auto pairs = compared_pairs(points, *question);
    if (!pairs.empty()) chosen.insert(chosen.end(), {pairs.front().from, pairs.front().to});
  }
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::vector<std::string> answer(Points points, const std::optional<Question>& question) {
  if (points.empty()) return {"No point was run."};
  const Series series = series_of(points);
  const std::vector<std::size_t> headlines = headline_points(points, question);
  std::vector<std::string> sentences{mixed_compute_sentence(points)};
  if (question) std::ranges::copy(answer_to(points, *question), std::back_inserter(sentences));
  sentences.push_back(how_it_learns(points, series));
  std::ranges::copy(cost_sentences(points, series), std::back_inserter(sentences));
  sentences.push_back(whole_run_sentence(points, series, headlines));
  sentences.push_back(how_well(points, series, headlines));
  sentences.push_back(why_beyond_linear(points, series, headlines));
  const std::size_t subject = explained_point(points, question);
  for (const std::string& more : {what_holds_back(points, series, subject), what_would_help(points[subject])}) {
    if (points[subject].ranks > 1) sentences.push_back(more);
  }
  sentences.push_back(estimated_compute_sentence(points));
  std::erase(sentences, "");
  return sentences;
}

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

namespace {

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
