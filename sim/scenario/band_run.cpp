#include "scenario/band_run.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "economics/sensitivity.hpp"
#include "scenario/charged_job.hpp"
#include "scenario/parts.hpp"
#include "scenario/run.hpp"
#include "scenario/train.hpp"
#include "scenario/whole_run.hpp"

namespace farandole {
namespace {

using Points = std::vector<TrainingPoint>;

TrainingPoint stretched(Scenario scenario, double factor) {
  scenario.workload.compute_stretch = factor;
  scenario.busiest_links = 0;
  TrainingPoint point = train(scenario, nullptr);
  point.scaling_efficiency = scaling_efficiency(scenario, point);
  if (scenario.run) point.run = whole_run(scenario, point);
  return point;
}

/// What `of` gives for the first, with what it gives for the others.
template <class Of>
Interval hull(const Points& points, Of of) {
  Interval interval{of(points.front()), of(points.front())};
  for (const TrainingPoint& point : points) interval.hold(of(point));
  return interval;
}

/// What a sample costs elsewhere, at the ends there.
struct PricesElsewhere {
  std::vector<Money> at_ends;    // the faster first; one where compute is certain there
  bool of_same_compute = false;  // the same estimate as here: as wrong there as it is here
};

bool has_same_compute(const Scenario& one, const Scenario& other) {
  const WorkloadSpec& ours = one.workload;
  const WorkloadSpec& theirs = other.workload;
  return ours.model.name == theirs.model.name && ours.model.variant == theirs.model.variant &&
         ours.precision == theirs.precision && ours.batch_per_rank == theirs.batch_per_rank &&
         one.platform.device.name == other.platform.device.name;
}

PricesElsewhere prices_elsewhere(const Elsewhere& there, const Scenario& here) {
  const TimeBand band = times_of(there.scenario).band;
  PricesElsewhere prices{{}, has_same_compute(there.scenario, here)};
  for (const double factor : {band.least, band.most}) {
    Scenario scenario = there.scenario;
    scenario.workload.compute_stretch = factor;
    prices.at_ends.push_back(per_sample(there.offer, charged(scenario, train(scenario, nullptr))));
    if (!band.is_open()) break;
  }
  return prices;
}

/// From where on it pays: every end here against every end there, or against its own. `here` begins with the point.
void add_comparison(CostBands& bands, const Offer& offer, const std::vector<ChargedJob>& here,
                    const CostComparison& compared, const PricesElsewhere& prices) {
  bands.per_sample_elsewhere = {compared.per_sample.plain(), compared.per_sample.plain()};
  std::vector<std::optional<double>> shares{compared.break_even_utilisation};
  for (std::size_t there = 0; there < prices.at_ends.size(); ++there) {
    bands.per_sample_elsewhere->hold(prices.at_ends[there].plain());
    for (std::size_t job = 0; job < here.size(); ++job) {
      const bool is_own = !prices.of_same_compute || job == there + 1;
      if (is_own) shares.push_back(break_even(offer, here[job], prices.at_ends[there]));
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
  std::vector<ChargedJob> jobs;
  for (const TrainingPoint& point : points) jobs.push_back(charged(scenario, point));
  CostBands bands;
  const auto sample = [&](const TrainingPoint& point) { return per_sample(offer, charged(scenario, point)).plain(); };
  const auto run = [&](const TrainingPoint& point) { return per_run(offer, charged(scenario, point)).plain(); };
  bands.per_sample = hull(points, sample);
  if (scenario.run) bands.per_run = hull(points, run);
  const JobCost& cost = *points.front().cost;
  if (cost.comparison) add_comparison(bands, offer, jobs, *cost.comparison, elsewhere);
  return bands;
}

/// Compute beside the offer's own inputs.
void add_sensitivity(TrainingPoint& point, const Scenario& scenario, const TimeBand& band, const Points& points) {
  const Offer& offer = scenario.economics->file.offer;
  const auto at = [&](std::size_t end) { return per_sample(offer, charged(scenario, points[end])); };
  const auto text = [](double factor) { return fmt::format("{:+.3g} %", 100 * (factor - 1)); };
  point.cost->sensitivity.push_back({"compute time", text(band.least), text(band.most), at(1), at(2)});
  widest_first(point.cost->sensitivity);
}

}  // namespace

void add_bands(TrainingPoint& point, const Document& document, const Catalogue& catalogue, const Scenario& scenario) {
  const TimeBand band = times_of(scenario).band;
  PricesElsewhere elsewhere;
  if (point.cost && point.cost->comparison) {
    elsewhere = prices_elsewhere(elsewhere_of(document, catalogue, scenario), scenario);
  }
  if (!band.is_open() && elsewhere.at_ends.size() < 2) return;
  Points points{point};  // then its ends, the faster first
  if (band.is_open()) {
    for (const double factor : {band.least, band.most}) points.push_back(stretched(scenario, factor));
  }
  Bands bands;
  bands.probability = scenario.platform.device.bands->probability;
  bands.compute = {band.least, band.most};
  bands.iteration = hull(points, [](const TrainingPoint& p) { return p.iteration.si(); });
  bands.samples_per_second = hull(points, [](const TrainingPoint& p) { return p.samples_per_second; });
  bands.scaling_efficiency = hull(points, [](const TrainingPoint& p) { return p.scaling_efficiency; });
  if (point.run) bands.run = hull(points, [](const TrainingPoint& p) { return p.run->total.si(); });
  if (point.cost) bands.cost = cost_bands(scenario, points, elsewhere);
  if (point.cost && band.is_open()) add_sensitivity(point, scenario, band, points);
  point.bands = bands;
}

}  // namespace farandole
