// DiLoCo: workers that train by themselves and seldom meet, each of one or more ranks.
//
// Within a worker gradients travel in every step as DistributedDataParallel has them. Every `inner_steps` the workers
// average how far they have moved (theta_start - theta), all ranks of the same place in their workers together, and
// take one step of an outer optimizer with that, SGD with Nesterov momentum (Douillard et al., "DiLoCo: Distributed
// Low-Communication Training of Language Models", arXiv 2311.08105; torchft's local_sgd.py).
//
// Streaming DiLoCo (Douillard et al., arXiv 2501.18512) cuts the parameters into `fragments`, each with its own turn
// inner_steps / fragments after the one before, may send them in fewer bits (`outer_type`), and goes on while they are
// under way: with `overlap_steps` of 1 from one update to the next, else in their step, behind its gradients. Longer
// overlaps hide no more where one step is long enough, and are refused.
//
// Before they travel, two copies of the parameters are read and the difference is written; afterwards the outer step
// reads it and reads and writes momentum, parameters, and the copy that the workers started from. These copies are on
// the device here; what they take of its memory is not counted.
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "training/strategies/bucketed.hpp"
#include "training/strategies/rows.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr double outer_difference = 3;  // passes over the parameters in memory
constexpr double nesterov_step = 7;
constexpr double sgd_step = 4;

struct OuterType {
  const char* name;
  double bytes;
};
constexpr std::array<OuterType, 5> outer_types{{{"fp32", 4}, {"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"fp4", 0.5}}};

struct Diloco {
  int worker_ranks = 1;
  int inner_steps = 500;
  int fragments = 1;
  int overlap_steps = 0;
  OuterType type = outer_types[0];
  bool nesterov = true;
};

std::vector<Bucket> outer_of(const Diloco& diloco, const StrategySite& site) {
  const Bytes fragment = parameter_bytes(site.job) / diloco.fragments;
  const double step = diloco.nesterov ? nesterov_step : sgd_step;
  std::vector<int> all(site.job.gradients.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<Bucket> outer;
  for (int k = 1; k <= diloco.fragments; ++k) {
    const Bytes sent(std::ceil((fragment / 4.0 * diloco.type.bytes).si()));
    Bucket bucket{all,
                  {{Operation::allreduce, sent, outer_difference * fragment / site.memory_bandwidth,
                    step * fragment / site.memory_bandwidth}}};
    bucket.group = diloco.worker_ranks == 1 ? Group::all : Group::replicas;
    bucket.period = diloco.inner_steps;
    bucket.turn = k * (diloco.inner_steps / diloco.fragments) + diloco.overlap_steps;
    outer.push_back(std::move(bucket));
  }
  return outer;
}

std::unique_ptr<Strategy> make_diloco(const Diloco& diloco, const StrategySite& site) {
  BucketPlan plan;
  if (diloco.worker_ranks > 1) {
    plan.buckets = usual_ddp_buckets(site);
    for (Bucket& bucket : plan.buckets) bucket.group = Group::shards;
  }
  if (diloco.worker_ranks < site.ranks && !site.job.gradients.empty()) {
    auto& among_workers = diloco.overlap_steps > 0 ? plan.alongside : plan.buckets;
    for (Bucket& bucket : outer_of(diloco, site)) among_workers.push_back(std::move(bucket));
  }
  return std::make_unique<Bucketed>(site, std::move(plan));
}

Diloco read_settings(const StrategyInput& input) {
  Section& section = input.section;
  Diloco diloco;
  if (const auto ranks = section.maybe("worker_ranks")) {
    diloco.worker_ranks = read_between(*ranks, 1, input.ranks);
    if (input.ranks % diloco.worker_ranks != 0) ranks->fail(fmt::format("a divisor of the {} ranks", input.ranks));
  }
  if (const auto steps = section.maybe("inner_steps")) diloco.inner_steps = read_between(*steps, 1, most_period);
  if (const auto fragments = section.maybe("fragments")) {
    diloco.fragments = read_between(*fragments, 1, diloco.inner_steps);
    if (diloco.inner_steps % diloco.fragments != 0)
      fragments->fail(fmt::format("a divisor of the {} inner steps", diloco.inner_steps));
  }
  if (const auto overlap = section.maybe("overlap_steps")) {
    diloco.overlap_steps = read_between(*overlap, 0, 1);
    if (diloco.overlap_steps >= diloco.inner_steps) overlap->fail("fewer than inner_steps");
  }
  if (const auto type = section.maybe("outer_type"))
    diloco.type = read_named(*type, "a type", outer_types, &OuterType::name);
  if (const auto outer = section.maybe("outer_optimizer"))
    diloco.nesterov = read_place(*outer, "an outer optimizer", std::array{"nesterov", "sgd"}) == 0;
  return diloco;
}

StrategyChoice read_diloco(const StrategyInput& input) {
  const Diloco diloco = read_settings(input);
  StrategyChoice choice;
  choice.variant = fmt::format("{} workers", input.ranks / diloco.worker_ranks);
  choice.shards = diloco.worker_ranks;
  choice.period = diloco.inner_steps;
  choice.settings = {{"worker_ranks", fmt::format("{}", diloco.worker_ranks)},
                     {"inner_steps", fmt::format("{}", diloco.inner_steps)},
                     {"fragments", fmt::format("{}", diloco.fragments)},
                     {"overlap_steps", fmt::format("{}", diloco.overlap_steps)},
                     {"outer_type", diloco.type.name},
                     {"outer_optimizer", diloco.nesterov ? "nesterov" : "sgd"}};
  if (diloco.worker_ranks > 1) choice.hooks = GradientHooks{};
  if (diloco.worker_ranks > 1) choice.buffers = Bytes::infinity();
  ignore_environment(input, choice);
  choice.make = [diloco](const StrategySite& site) { return make_diloco(diloco, site); };
  return choice;
}

}  // namespace

StrategyRow diloco_strategy() {
  return {"diloco", "workers train by DDP, each by itself, and take an outer step together every few hundred steps",
          "Settings of \"strategy\" in a scenario:\n"
          "  worker_ranks     neighbouring ranks that are one worker and train by DDP (default 1)\n"
          "  inner_steps      from one outer step to the next (default 500); whole periods are measured\n"
          "  fragments        parts of the parameters that have their outer steps in turn (default 1)\n"
          "  overlap_steps    0: an outer step's allreduce is waited for in its step (default); 1: in the next one\n"
          "  outer_type       of what travels then: fp32 (default), bf16, fp16, fp8, fp4\n"
          "  outer_optimizer  nesterov (default) or sgd\n",
          read_diloco};
}

}}  // namespace farandole::training
