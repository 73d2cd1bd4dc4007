// Every rank gathers every other rank's gradients and adds them up itself.
//
// What frameworks do with sparse gradients (TensorFlow's IndexedSlices under Horovod, PyTorch's sparse embeddings), and
// what a plain ring does that passes whole gradients around: n - 1 times the bytes of one rank arrive at each, against
// 2 (n-1)/n of an allreduce. Of a gradient with `density` d the share d of its rows travels, each with an index of 8
// bytes. Adding up reads what came and writes the sum; sparse rows are read and written where they are added.
#include <cmath>

#include <fmt/format.h>

#include "training/strategies/bucketed.hpp"
#include "training/strategies/rows.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace training {
namespace {

struct Allgather {
  double density = 1;
  bool overlap = true;  // else all gradients travel in one piece, too
};

constexpr Bytes row_index = 8_B;

Bytes sent_of(const Gradient& gradient, double density) {
  if (density == 1) return gradient.size;
  const double rows = std::max(1.0, gradient.rows);
  const double rows_sent = std::ceil(density * rows);
  return Bytes(std::round((rows_sent * (gradient.size / rows + row_index)).si()));
}

Bucket allgather_bucket(const StrategySite& site, std::vector<int> gradients, double density) {
  Bytes sent;
  Bytes dense;
  for (const int index : gradients) {
    const Gradient& gradient = site.job.gradients[static_cast<std::size_t>(index)];
    sent += sent_of(gradient, density);
    dense += gradient.size;
  }
  const Bytes gathered = sent * static_cast<double>(site.ranks);
  const Bytes adding = density == 1 ? gathered + dense : 2 * gathered;
  return {std::move(gradients), {{Operation::allgather, gathered, Seconds(0), adding / site.memory_bandwidth}}};
}

std::unique_ptr<Strategy> make_allgather(const Allgather& settings, const StrategySite& site) {
  BucketPlan plan;
  std::vector<int> all;
  for (std::size_t gradient = 0; gradient < site.job.gradients.size(); ++gradient) {
    all.push_back(static_cast<int>(gradient));
    if (settings.overlap) plan.buckets.push_back(allgather_bucket(site, {all.back()}, settings.density));
  }
  if (!settings.overlap && !all.empty())
    plan.buckets.push_back(allgather_bucket(site, std::move(all), settings.density));
  return std::make_unique<Bucketed>(site, std::move(plan));
}

StrategyChoice read_allgather(const StrategyInput& input) {
  Allgather settings;
  if (const auto density = input.section.maybe("density")) settings.density = read_part(*density);
  settings.overlap = input.section.optional("overlap", settings.overlap);
  StrategyChoice choice;
  choice.accumulation = read_accumulation(input.section);
  choice.settings = {{"density", fmt::format("{:.4g} %", settings.density * 100)},
                     {"overlap", settings.overlap ? "true" : "false"}};
  ignore_environment(input, choice);
  choice.make = [settings](const StrategySite& site) { return make_allgather(settings, site); };
  return choice;
}

}  // namespace

StrategyRow allgather_strategy() {
  return {
      "allgather", "every rank gathers all gradients and adds them up: sparse gradients, or a plain ring",
      "Settings of \"strategy\" in a scenario:\n"
      "  density       share of the rows of each gradient that are not zero (default \"100 %\"); sparse rows travel\n"
      "                with an index of 8 bytes\n"
      "  overlap       true: each gradient goes when it is computed; false: all go at the end (default true)\n"
      "  accumulation  passes whose gradients add up before they travel (default 1)\n",
      read_allgather};
}

}}  // namespace farandole::training
