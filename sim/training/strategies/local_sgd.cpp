// Local SGD: ranks train on their own and average their parameters every few steps.
//
// All parameters travel at once as one flat fp32 buffer, copied together before and apart after (PyTorch's
// PeriodicModelAverager). Between averages no rank waits for another. (Stich, Local SGD Converges Fast and Communicates
// Little, ICLR 2019.) The average is timed before the update of its step, not after it: the step takes as long.
#include <numeric>

#include <fmt/format.h>

#include "config/section.hpp"
#include "training/strategies/bucketed.hpp"
#include "training/strategies/rows.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr int default_period = 8;

std::unique_ptr<Strategy> make_local_sgd(int period, const StrategySite& site) {
  std::vector<int> all(site.job.gradients.size());
  std::iota(all.begin(), all.end(), 0);
  const Bytes size = parameter_bytes(site.job);
  const Seconds copy = 2 * size / site.memory_bandwidth;
  BucketPlan plan;
  if (!all.empty()) {
    Bucket average{std::move(all), {{Operation::allreduce, size, copy, copy}}};
    average.period = average.turn = period;
    plan.buckets.push_back(std::move(average));
  }
  return std::make_unique<Bucketed>(site, std::move(plan));
}

StrategyChoice read_local_sgd(const StrategyInput& input) {
  StrategyChoice choice;
  const auto period = input.section.maybe("period");
  choice.period = period ? read_between(*period, 1, most_period) : default_period;
  choice.settings = {{"period", fmt::format("{}", choice.period)}};
  ignore_environment(input, choice);
  choice.make = [period = choice.period](const StrategySite& site) { return make_local_sgd(period, site); };
  return choice;
}

}  // namespace

StrategyRow local_sgd_strategy() {
  return {"local_sgd", "ranks train on their own and average their parameters every few steps",
          "Settings of \"strategy\" in a scenario:\n"
          "  period  steps from one average to the next (default 8); whole periods are measured\n",
          read_local_sgd};
}

}}  // namespace farandole::training
