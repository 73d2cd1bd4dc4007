#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/answer.hpp"
#include "scenario/explain.hpp"
#include "scenario/run.hpp"
#include "scenario/train.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr double worth_a_note = 0.0005;  // tables show tenths of a percent

struct Gain {
  Seconds time;  // less, of a step
  std::string reason;
};

std::string reason_of(const std::string& part, Seconds less) {
  if (part == "compute") return fmt::format("a rank computes its part of a step in {} less than one", decimal(less));
  if (part == "input") return fmt::format("a rank waits {} less for its input than one", decimal(less));
  std::string words = part;
  std::ranges::replace(words, '_', ' ');
  return fmt::format("{} takes a rank {} less than one", words, decimal(less));
}

/// The longest first.
std::vector<Gain> gains_over_one(const Scenario& scenario, const TrainingPoint& point) {
  std::vector<Gain> gains;
  const std::vector<WaterfallPart> one = single_rank_parts(scenario).parts();
  const std::vector<WaterfallPart> of_the_job = point.breakdown.parts();
  for (std::size_t i = 0; i < one.size(); ++i) {
    const Seconds less = one[i].time - of_the_job[i].time;
    if (less > Seconds(0)) gains.push_back({less, reason_of(one[i].name, less) + " by itself"});
  }
  std::ranges::stable_sort(gains, std::ranges::greater(), &Gain::time);
  return gains;
}

}  // namespace

std::optional<std::string> beyond_linear_note(const Scenario& scenario, const TrainingPoint& point) {
  if (point.scaling_efficiency <= 1 + worth_a_note) return std::nullopt;
  Seconds unexplained = (point.scaling_efficiency - 1) * point.iteration;
  std::string note;
  for (const Gain& gain : gains_over_one(scenario, point)) {
    if (unexplained <= Seconds(0)) break;
    unexplained = unexplained - gain.time;
    note += (note.empty() ? ", since " : " and ") + gain.reason;
  }
  return std::string(beyond_linear) + note;
}

}}  // namespace farandole::scenario
