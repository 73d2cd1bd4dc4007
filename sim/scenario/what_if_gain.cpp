#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/explain.hpp"
#include "scenario/parts.hpp"
#include "scenario/train.hpp"
#include "scenario/unsettled_numbers.hpp"
#include "timeline/difference.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// The scenario with `values`, at the ends of what its own step is uncertain by.
class ChangedAtEnds {
 public:
  ChangedAtEnds(const WhatIfBase& base, const std::vector<SetValue>& values, double samples_per_second)
      : base_(base), values_(values), samples_per_second_(samples_per_second) {}

  /// Nothing where the changed scenario has no place for the number, or settles it.
  [[nodiscard]] std::optional<BandSource> source(const BandSource& of_base) const {
    BandSource there = of_base;
    if (of_base.of == of_compute_time) {
      const TimeBand& band = times_of(base_.scenario).band;
      there.iteration = {step({}, band.least), step({}, band.most)};
    } else if (of_base.of != of_published_runs) {
      const UnsettledNumber number{of_base.of, {of_base.between[0], of_base.between[1]}};
      if (sets(as_value(number, "").pointer)) return std::nullopt;
      there.iteration = {step({as_value(number, number.ends[0])}, 1), step({as_value(number, number.ends[1])}, 1)};
    }
    return there;
  }

 private:
  [[nodiscard]] bool sets(const std::string& pointer) const {
    const auto holds = [&](const SetValue& value) {
      return pointer == value.pointer || pointer.starts_with(value.pointer + "/");
    };
    return std::ranges::any_of(values_, holds);
  }

  /// As a factor of the changed step where nothing is at an end.
  [[nodiscard]] double step(const std::vector<SetValue>& more, double stretch) const {
    std::vector<SetValue> all = values_;
    all.insert(all.end(), more.begin(), more.end());
    auto changed = change(base_.source, base_.scenario, all);
    if (!changed) return 1;
    changed->scenario.workload.compute_stretch *= stretch;
    return samples_per_second_ / train(changed->scenario, nullptr).samples_per_second;
  }

  const WhatIfBase& base_;
  const std::vector<SetValue>& values_;
  double samples_per_second_;
};

}  // namespace

std::optional<Difference> gain_of(const WhatIfBase& base, const std::vector<SetValue>& values,
                                  double samples_per_second) {
  if (!base.point.bands) return std::nullopt;
  const ChangedAtEnds at_ends(base, values, samples_per_second);
  TrainingPoint changed = base.point;
  changed.samples_per_second = samples_per_second;
  changed.bands->sources.clear();
  for (const BandSource& source : base.point.bands->sources) {
    if (auto there = at_ends.source(source)) changed.bands->sources.push_back(std::move(*there));
  }
  return difference(base.point, changed);
}

}}  // namespace farandole::scenario
