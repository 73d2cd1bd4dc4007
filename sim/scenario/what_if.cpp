#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenario/explain.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/run.hpp"
#include "scenario/train.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr const char* uncertain = "uncertain";

std::size_t cost_of(const WhatIf& what_if) {
  constexpr std::array<std::string_view, 4> kinds{"setting", "operation", "hardware", uncertain};
  return static_cast<std::size_t>(std::ranges::find(kinds, what_if.kind) - kinds.begin());
}

/// Of an offered change: how much surely, and how surely, as between two points of a sweep.
void judge(WhatIf& what_if, const WhatIfBase& base, TrainedPoint point, const ChangedScenario& changed,
           SharedClocks clocks) {
  if (!base.scenario.bands) return;
  point.scaling_efficiency = what_if.scaling_efficiency;
  add_bands(point, changed.document, base.source.catalogue, changed.scenario, std::move(clocks));
  const auto gain = difference(base.point, point);
  if (!gain) return;
  const auto points = [&](double factor) { return base.point.scaling_efficiency * (factor - 1) * 100; };
  what_if.sure = gain->sure;
  what_if.points_band = Interval{points(gain->band.low), points(gain->band.high)};
}

WhatIf run(const WhatIfBase& base, const std::string& name, const char* kind, const ChangedScenario& changed) {
  SharedClocks clocks;
  const TrainedPoint point = train(changed.scenario, nullptr, &clocks);
  const double gain = point.samples_per_second / base.point.samples_per_second - 1;
  WhatIf result{name,
                kind,
                point.samples_per_second,
                base.point.scaling_efficiency * gain * 100,
                point.iteration,
                scaling_efficiency(changed.scenario, point),
                changed.set,
                std::nullopt,
                std::nullopt};
  if (kind != uncertain) judge(result, base, point, changed, std::move(clocks));
  return result;
}

/// At the ends of what was measured of the numbers that nobody has set.
void add_uncertain(std::vector<WhatIf>& results, const WhatIfBase& base) {
  for (const UncertainSetting& setting : base.scenario.strategy.uncertain) {
    for (const Seconds value : {setting.least, setting.most}) {
      const nlohmann::json json = fmt::format("{:.6g} s", value.si());
      const auto changed = change(base.source, base.scenario, {{setting.pointer, json.dump()}});
      const std::string name = fmt::format("{}: {}, not {}", setting.what, format(value), format(setting.used));
      if (changed) results.push_back(run(base, name, uncertain, *changed));
    }
  }
}

}  // namespace

std::vector<WhatIf> what_ifs(const WhatIfBase& base) {
  std::vector<WhatIf> results;
  if (base.point.ranks == 1) return results;
  for (const OfferedChange& row : offered_changes(base)) {
    if (const auto changed = change(base.source, base.scenario, row.set))
      results.push_back(run(base, row.name, row.kind, *changed));
  }
  add_uncertain(results, base);
  std::ranges::stable_sort(results, [](const WhatIf& a, const WhatIf& b) {
    if (cost_of(a) != cost_of(b)) return cost_of(a) < cost_of(b);
    return a.efficiency_points > b.efficiency_points;
  });
  return results;
}

}}  // namespace farandole::scenario
