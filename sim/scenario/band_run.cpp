#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "economics/cost.hpp"
#include "scenario/charged_job.hpp"
#include "scenario/compared_settings.hpp"
#include "scenario/model_error.hpp"
#include "scenario/parts.hpp"
#include "scenario/point_parts.hpp"
#include "scenario/run.hpp"
#include "scenario/train.hpp"
#include "scenario/unsettled_numbers.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace scenario {
namespace {

using Points = std::vector<TrainingPoint>;

Scenario stretched(Scenario scenario, double factor) {
  scenario.workload.compute_stretch = factor;
  return scenario;
}

/// Whether the point is a row of `workload.measured`, as it was measured.
bool is_measured(const Scenario& scenario, const TrainingPoint& point) {
  constexpr double same = 1e-6;
  if (scenario.workload.carried.is_open()) return false;
  return std::ranges::any_of(scenario.workload.anchors, [&](const AnchorRun& run) {
    return run.ranks == point.ranks && run.batch == point.batch_per_rank &&
           run.accumulation == scenario.strategy.accumulation && std::abs(run.iteration / point.iteration - 1) <= same;
  });
}

/// What does not concern one rank by itself: numbers that nothing has settled and the simulator's own error.
std::vector<BandSource> error_sources(const Document& document, const Catalogue& catalogue, const Scenario& scenario,
                                      const ComputeTimes& times, const TrainedPoint& point,
                                      const SharedClocks& clocks) {
  if (is_measured(scenario, point)) return {};
  std::vector<BandSource> sources = number_sources(point, document, catalogue, scenario, clocks);
  if (const auto errors = model_errors(catalogue)) {
    const TimeBand own = model_error(*errors, scenario, reach_of(scenario, document, times), point.iteration);
    const std::string job = fmt::format("{} of {} on {}", point.strategy, point.model, point.platform);
    if (own.is_open()) sources.push_back({of_published_runs, job, {}, {own.least, own.most}});
  }
  return sources;
}

/// A point whose step takes so many times as long, with its whole run.
TrainingPoint at_end(TrainingPoint point, const Scenario& scenario, double factor) {
  point.iteration *= factor;
  point.samples_per_second /= factor;
  if (scenario.run) point.run = whole_run(scenario, point);
  return point;
}

/// What `of` gives for the first, with what it gives for the others.
template <class Items, class Of>
Interval hull(const Items& items, Of of) {
  Interval interval{of(items.front()), of(items.front())};
  for (const auto& item : items) interval.hold(of(item));
  return interval;
}

/// The job elsewhere, at the ends there.
struct PricesElsewhere {
  std::optional<Offer> offer;
  std::vector<ChargedJob> at_ends;  // the faster first; one where compute is certain there
  bool of_same_compute = false;     // the same estimate as here: as wrong there as it is here
};

bool has_same_compute(const Scenario& one, const Scenario& other) {
  const WorkloadSpec& ours = one.workload;
  const WorkloadSpec& theirs = other.workload;
  return ours.model.name == theirs.model.name && ours.model.variant == theirs.model.variant &&
         ours.precision == theirs.precision && ours.batch_per_rank == theirs.batch_per_rank &&
         one.platform.device.name == other.platform.device.name;
}

/// There the same job, with compute and the simulator as wrong as they may be.
PricesElsewhere prices_elsewhere(const Elsewhere& there, const Catalogue& catalogue, const Scenario& here) {
  const Scenario& scenario = there.scenario;
  const ComputeTimes times = times_of(scenario);
  SharedClocks clocks;
  const TrainedPoint point = train(scenario, nullptr, &clocks);
  const TimeBand step = together(compute_band(point, scenario, clocks),
                                 band_of(error_sources(there.document, catalogue, scenario, times, point, clocks)));
  PricesElsewhere prices{there.offer, {}, times.band.is_open() && has_same_compute(scenario, here)};
  for (const double factor : {step.least, step.most}) {
    prices.at_ends.push_back(charged(scenario, at_end(point, scenario, factor)));
    if (!step.is_open()) break;
  }
  return prices;
}

/// From where on it pays: every end here against every end there, or against its own. `here` begins with the point.
void add_comparison(CostBands& bands, const Offer& offer, const std::vector<ChargedJob>& here,
                    const CostComparison& compared, const PricesElsewhere& prices) {
  bands.per_sample_elsewhere = {compared.per_sample.si(), compared.per_sample.si()};
  std::vector<std::optional<double>> shares{compared.break_even_utilisation};
  for (std::size_t there = 0; there < prices.at_ends.size(); ++there) {
    bands.per_sample_elsewhere->hold(per_sample(*prices.offer, prices.at_ends[there]).si());
    for (std::size_t job = 0; job < here.size(); ++job) {
      if (prices.of_same_compute && job != there + 1) continue;
      shares.push_back(break_even(offer, here[job], *prices.offer, prices.at_ends[there]).from);
    }
  }
  for (const auto& share : shares) {
    if (share) bands.break_even_low = std::min(*share, bands.break_even_low.value_or(*share));
    if (share) bands.break_even_high = std::max(*share, bands.break_even_high.value_or(*share));
  }
  const bool always = std::ranges::all_of(shares, [](const auto& share) { return share.has_value(); });
  if (!always) bands.break_even_high.reset();
}

CostBands cost_bands(const Scenario& scenario, const Points& points, const PricesElsewhere& elsewhere) {
  const Offer& offer = scenario.economics->file.offer;
  const auto jobs = mapped(points, [&](const TrainingPoint& point) { return charged(scenario, point); });
  CostBands bands;
  bands.per_sample = hull(jobs, [&](const ChargedJob& job) { return per_sample(offer, job).si(); });
  if (scenario.run) bands.per_run = hull(jobs, [&](const ChargedJob& job) { return per_run(offer, job).si(); });
  const JobCost& cost = *points.front().cost;
  if (cost.comparison) add_comparison(bands, offer, jobs, *cost.comparison, elsewhere);
  return bands;
}

/// Compute beside the offer's own inputs. `computed`: the point, and at the ends of compute.
void add_sensitivity(TrainingPoint& point, const Scenario& scenario, const TimeBand& band, const Points& computed) {
  const Offer& offer = scenario.economics->file.offer;
  const auto at = [&](std::size_t end) { return per_sample(offer, charged(scenario, computed[end])); };
  const auto text = [](double factor) { return fmt::format("{:+.3g} %", 100 * (factor - 1)); };
  point.cost->sensitivity.push_back({"compute time", text(band.least), text(band.most), at(1), at(2)});
  widest_first(point.cost->sensitivity);
}

/// The point, then its step at both ends of compute's band, the faster first, where it has one.
Points at_ends_of_compute(const TrainedPoint& point, const Scenario& scenario, const TimeBand& band,
                          SharedClocks& clocks) {
  Points points{point};
  if (!band.is_open()) return points;
  for (const double factor : {band.least, band.most}) {
    const Scenario there = stretched(scenario, factor);
    TrainingPoint end = train_beside(point, there, &clocks);
    end.scaling_efficiency = scaling_efficiency(there, end);
    points.push_back(end);
  }
  return points;
}

/// `computed`: the point, and at the ends of compute. An estimate is as wrong for one batch as for another.
BandSource compute_source(const Scenario& scenario, const Points& computed) {
  const TrainingPoint& point = computed.front();
  const std::string whose = fmt::format("{} ({}) in {} on {}, {}", point.model, point.variant, point.precision,
                                        scenario.platform.device.name, point.compute_kind());
  const auto factor = [&](std::size_t end) { return computed[end].iteration / point.iteration; };
  return {of_compute_time, whose, {}, {factor(1), factor(2)}};
}

TimeBand factors(const Interval& interval, double middle) {
  return {interval.low / middle, interval.high / middle};
}

/// One rank of the same machine is not subject to that error, so the efficiency is as uncertain as the step. n ranks
/// still do no more than n times one, but for those that do so already.
Interval efficiency_band(const Points& computed, const TimeBand& error) {
  const double efficiency = computed.front().scaling_efficiency;
  const Interval of_compute = hull(computed, [](const TrainingPoint& p) { return p.scaling_efficiency; });
  const TimeBand band = together(factors(of_compute, efficiency), {1 / error.most, 1 / error.least});
  const double most = efficiency > 1 ? std::numeric_limits<double>::infinity() : 1;
  return {efficiency * band.least, std::min(most, efficiency * band.most)};
}

}  // namespace

TimeBand compute_band(const TrainedPoint& point, const Scenario& scenario, SharedClocks clocks) {
  const TimeBand band = times_of(scenario).band;
  const auto at = [&](double factor) {
    return train_beside(point, stretched(scenario, factor), &clocks).iteration / point.iteration;
  };
  return band.is_open() ? TimeBand{std::min(1.0, at(band.least)), std::max(1.0, at(band.most))} : TimeBand{};
}

void add_bands(TrainedPoint& point, const Document& document, const Catalogue& catalogue, const Scenario& scenario,
               SharedClocks clocks) {
  point.compared = compared_settings(document, scenario);
  put_apart(point.compared, point, difference_errors(catalogue));
  const ComputeTimes times = times_of(scenario);
  const TimeBand& compute = times.band;
  std::vector<BandSource> sources = error_sources(document, catalogue, scenario, times, point, clocks);
  const TimeBand error = band_of(sources);
  PricesElsewhere elsewhere;
  if (point.cost && point.cost->comparison) {
    elsewhere = prices_elsewhere(elsewhere_of(document, catalogue, scenario), catalogue, scenario);
  }
  if (!compute.is_open() && !error.is_open() && elsewhere.at_ends.size() < 2) return;
  const Points computed = at_ends_of_compute(point, scenario, compute, clocks);
  if (compute.is_open()) sources.push_back(compute_source(scenario, computed));
  const Interval steps = hull(computed, [](const TrainingPoint& p) { return p.iteration.si(); });
  const TimeBand step = together(factors(steps, point.iteration.si()), error);
  const Points ends{point, at_end(point, stretched(scenario, compute.least), step.least),
                    at_end(point, stretched(scenario, compute.most), step.most)};
  Bands bands;
  bands.probability = scenario.platform.device.bands->probability;
  bands.compute = {compute.least, compute.most};
  bands.iteration = hull(ends, [](const TrainingPoint& p) { return p.iteration.si(); });
  bands.samples_per_second = hull(ends, [](const TrainingPoint& p) { return p.samples_per_second; });
  bands.scaling_efficiency = efficiency_band(computed, error);
  if (point.run) bands.run = hull(ends, [](const TrainingPoint& p) { return p.run->total.si(); });
  if (point.cost) bands.cost = cost_bands(scenario, ends, elsewhere);
  if (point.cost && compute.is_open()) add_sensitivity(point, scenario, compute, computed);
  bands.sources = std::move(sources);
  point.bands = bands;
}

}}  // namespace farandole::scenario
