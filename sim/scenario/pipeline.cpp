#include "scenario/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "scenario/job_clocks.hpp"
#include "scenario/parts.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace scenario {

JobSite site_of_job(const Scenario& scenario, int ranks, Company* company, const std::function<JobClocks&()>& clocks) {
  JobSite site;
  site.ranks = ranks;
  site.launch = scenario.platform.platform.transport.launch * scenario.mechanisms.latency;
  site.compute_share = scenario.effects.communication_compute_share;
  site.width = scenario.strategy.streams;
  site.clock_of = [clocks](const Collective& collective) -> CollectiveClock& { return clocks().clock_of(collective); };
  site.company = company;
  site.carriages_of = [clocks](const Collective& collective) -> const std::vector<GroupCarriage>& {
    return clocks().carriages_of(collective);
  };
  return site;
}

Scenario stage_of(const Scenario& scenario, const Placement& placement, int stage) {
  Scenario own = scenario;
  own.workload.part = scenario.workload.staged.stages[static_cast<std::size_t>(stage)];
  own.workload.staged = {};
  own.strategy.pipeline = 1;
  std::vector<int> members(placement.device_of_rank.size() / as_index(scenario.strategy.pipeline));
  own.platform.ranks = static_cast<int>(members.size());
  std::iota(members.begin(), members.end(), stage * own.platform.ranks);
  own.platform.placement = placement_of(scenario.platform.platform, placement, members);
  return own;
}

std::vector<PipelineStage> stages_of(const Scenario& scenario, const Placement& placement) {
  std::vector<PipelineStage> stages;
  const int count = scenario.strategy.pipeline;
  for (int stage = 0; stage < count; ++stage) {
    Scenario own = stage_of(scenario, placement, stage);
    ComputeTimes times = times_of(own);
    Job job = travelling_job_of(own, times);
    job.stage = StagePlace{stage, count};
    stages.push_back({std::move(own), std::move(times), std::move(job)});
  }
  return stages;
}

LongestJob longest_job_of(const Scenario& scenario) {
  if (scenario.strategy.pipeline == 1) {
    ComputeTimes times = times_of(scenario);
    Job job = travelling_job_of(scenario, times);
    return {std::move(times), std::move(job)};
  }
  std::vector<PipelineStage> stages = stages_of(scenario, scenario.platform.placement);
  PipelineStage& longest =
      *std::ranges::max_element(stages, {}, [](const PipelineStage& stage) { return stage.job.compute(); });
  return {std::move(longest.times), std::move(longest.job)};
}

std::vector<Bytes> handed_on(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  return mapped(workload.staged.handed_on, [&](double elements) {
    return Bytes(std::ceil(elements * workload.batch_per_rank * element_size(workload.precision).si()));
  });
}

Bytes tied_gradient(const Scenario& scenario) {
  return scenario.workload.staged.tied * element_size(scenario.workload.gradient_type);
}

Scenario pair_of(const Scenario& scenario, const Placement& from, const Placement& to) {
  Scenario pair = scenario;
  pair.workload.staged = {};
  pair.strategy.tensor_parallel = 1;
  pair.strategy.pipeline = 2;
  pair.strategy.shards = 0;
  pair.libraries.erase(Operation::broadcast);
  pair.collectives.insert_or_assign(Operation::broadcast, *find_algorithm(Operation::broadcast, "binomial"));
  Placement& both = pair.platform.placement;
  both = from;
  std::ranges::copy(to.device_of_rank, std::back_inserter(both.device_of_rank));
  std::vector<int> all(both.device_of_rank.size());
  std::iota(all.begin(), all.end(), 0);
  both = placement_of(scenario.platform.platform, both, all);
  pair.platform.ranks = static_cast<int>(all.size());
  return pair;
}

struct PipelineParts::Parts {
  Parts(const JobOnStage& job, Simulator& simulator, Company* in_company)
      : whole(job.scenario),
        company(in_company),
        stages(stages_of(job.scenario, job.placement)),
        clocks(clocks_of(job)) {
    if (job.alone) update_as_in_the_run();
    std::vector<StageOnSite> on;
    for (PipelineStage& stage : stages) {
      Timeline* const timeline = &stage == &stages.front() ? job.timeline : nullptr;
      const Placement& placement = stage.scenario.platform.placement;
      strategies.push_back(stage.scenario.strategy.make(site_of(stage.scenario, stage.job, placement, timeline)));
      const auto own = [this, number = stage.job.stage->stage]() -> JobClocks& { return part(number, number); };
      on.push_back({stage.job, site_of_job(whole, stage.scenario.platform.ranks, company, own), *strategies.back()});
    }
    trainer = std::make_unique<StagedTrainer>(simulator, std::move(on), between(), job.variability, job.timeline);
  }

  /// A replica by itself makes its share of what all of them share.
  void update_as_in_the_run() {
    const std::vector<PipelineStage> in_the_run = stages_of(whole, whole.platform.placement);
    for (std::size_t i = 0; i < stages.size(); ++i) stages[i].job.update = in_the_run[i].job.update;
  }

  BetweenStages between() {
    BetweenStages result;
    result.handed_on = handed_on(whole);
    result.clock_of = [this](int from, int to) -> CollectiveClock& {
      return part(from, to).clock_of(message(from, to));
    };
    result.company = company;
    result.carriages_of = [this](int from, int to) -> const std::vector<GroupCarriage>& {
      return part(from, to).carriages_of(message(from, to));
    };
    result.tied = tied_gradient(whole);
    result.tie = [this]() -> CollectiveClock& {
      const int last_stage = whole.strategy.pipeline - 1;
      return part(0, last_stage)
          .clock_of({Operation::allreduce, tied_gradient(whole), {}, {}, false, Group::neighbours});
    };
    return result;
  }

  Collective message(int from, int to) {
    const Bytes size = handed_on(whole)[static_cast<std::size_t>(std::min(from, to))];
    return {Operation::broadcast, size, {}, {}, false, Group::neighbours};
  }

  /// Of a stage, or of two.
  JobClocks& part(int from, int to) {
    return clocks->part(from, to, [&] {
      const Scenario& first = stages[as_index(from)].scenario;
      const Placement& second = stages[as_index(to)].scenario.platform.placement;
      const Scenario own = from == to ? first : pair_of(whole, first.platform.placement, second);
      return std::make_unique<JobClocks>(own, own.platform.placement);
    });
  }

  const Scenario& whole;
  Company* company;
  std::vector<PipelineStage> stages;
  SharedClocks clocks;
  std::vector<std::unique_ptr<Strategy>> strategies;
  std::unique_ptr<StagedTrainer> trainer;
};

PipelineParts::PipelineParts(const JobOnStage& job, Simulator& simulator, Company* company)
    : parts_(std::make_unique<Parts>(job, simulator, company)) {}
PipelineParts::~PipelineParts() {
  parts_->clocks->release_network();
}

StagedTrainer& PipelineParts::trainer() {
  return *parts_->trainer;
}

}}  // namespace farandole::scenario
