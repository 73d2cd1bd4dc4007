#include "scenario/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "scenario/job_clocks.hpp"
#include "scenario/parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

Placement placement_of_stage(const Platform& platform, const Placement& all, int stages, int stage) {
  const auto of_each = static_cast<int>(all.device_of_rank.size()) / stages;
  std::vector<int> members;
  for (int rank = 0; rank < of_each; ++rank) members.push_back(stage * of_each + rank);
  return placement_of(platform, all, members);
}

}  // namespace

Scenario stage_of(const Scenario& scenario, const Placement& placement, int stage) {
  Scenario own = scenario;
  own.workload.part = scenario.workload.staged.stages[static_cast<std::size_t>(stage)];
  own.workload.staged = {};
  own.strategy.pipeline = 1;
  own.platform.placement = placement_of_stage(scenario.platform.platform, placement, scenario.strategy.pipeline, stage);
  own.platform.ranks = static_cast<int>(own.platform.placement.device_of_rank.size());
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
  std::vector<Bytes> sizes;
  for (const double elements : workload.staged.handed_on) {
    sizes.emplace_back(std::ceil(elements * workload.batch_per_rank * element_size(workload.precision).si()));
  }
  return sizes;
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
  for (std::size_t rank = 0; rank < all.size(); ++rank) all[rank] = static_cast<int>(rank);
  both = placement_of(scenario.platform.platform, both, all);
  pair.platform.ranks = static_cast<int>(all.size());
  return pair;
}

struct PipelineParts::Parts {
  /// Of a stage, or of two. Only one of all has a network at a time (JobClocks).
  struct Clocks {
    explicit Clocks(Scenario of) : scenario(std::move(of)), clocks(scenario, scenario.platform.placement) {}
    Scenario scenario;
    JobClocks clocks;
  };

  Parts(const JobOnStage& job, Simulator& simulator, Company* in_company)
      : whole(job.scenario), company(in_company), stages(stages_of(job.scenario, job.placement)) {
    if (job.alone) update_as_in_the_run();
    std::vector<StageOnSite> on;
    for (PipelineStage& stage : stages) {
      Clocks& own = *clocks.emplace_back(std::make_unique<Clocks>(stage.scenario));
      Timeline* const timeline = &stage == &stages.front() ? job.timeline : nullptr;
      strategies.push_back(
          stage.scenario.strategy.make(site_of(stage.scenario, stage.job, own.scenario.platform.placement, timeline)));
      on.push_back({stage.job, job_site(own), *strategies.back()});
    }
    trainer = std::make_unique<StagedTrainer>(simulator, std::move(on), between(), job.variability, job.timeline);
  }

  /// A replica by itself makes its share of what all of them share.
  void update_as_in_the_run() {
    const std::vector<PipelineStage> in_the_run = stages_of(whole, whole.platform.placement);
    for (std::size_t i = 0; i < stages.size(); ++i) stages[i].job.update = in_the_run[i].job.update;
  }

  JobSite job_site(Clocks& own) {
    JobSite site;
    site.ranks = own.scenario.platform.ranks;
    site.launch = whole.platform.platform.transport.launch * whole.mechanisms.latency;
    site.compute_share = whole.effects.communication_compute_share;
    site.width = whole.strategy.streams;
    site.clock_of = [this, &own](const Collective& collective) -> CollectiveClock& {
      return active(own).clock_of(collective);
    };
    site.company = company;
    site.carriages_of = [&own](const Collective& collective) -> const std::vector<GroupCarriage>& {
      return own.clocks.carriages_of(collective);
    };
    return site;
  }

  BetweenStages between() {
    BetweenStages result;
    result.handed_on = handed_on(whole);
    result.clock_of = [this](int from, int to) -> CollectiveClock& {
      return active(pair(from, to)).clock_of(message(from, to));
    };
    result.company = company;
    result.carriages_of = [this](int from, int to) -> const std::vector<GroupCarriage>& {
      return pair(from, to).clocks.carriages_of(message(from, to));
    };
    result.tied = tied_gradient(whole);
    result.tie = [this]() -> CollectiveClock& {
      const int last_stage = whole.strategy.pipeline - 1;
      return active(pair(0, last_stage))
          .clock_of({Operation::allreduce, tied_gradient(whole), {}, {}, false, Group::neighbours});
    };
    return result;
  }

  Collective message(int from, int to) {
    const Bytes size = handed_on(whole)[static_cast<std::size_t>(std::min(from, to))];
    return {Operation::broadcast, size, {}, {}, false, Group::neighbours};
  }

  Clocks& pair(int from, int to) {
    auto& own = pairs[{from, to}];
    if (own == nullptr) {
      const auto placement = [&](int stage) -> const Placement& {
        return stages[static_cast<std::size_t>(stage)].scenario.platform.placement;
      };
      own = std::make_unique<Clocks>(pair_of(whole, placement(from), placement(to)));
    }
    return *own;
  }

  JobClocks& active(Clocks& next) {
    if (last != nullptr && last != &next.clocks) last->release_network();
    last = &next.clocks;
    return next.clocks;
  }

  const Scenario& whole;
  Company* company;
  std::vector<PipelineStage> stages;
  std::vector<std::unique_ptr<Clocks>> clocks;
  std::map<std::pair<int, int>, std::unique_ptr<Clocks>> pairs;
  JobClocks* last = nullptr;
  std::vector<std::unique_ptr<Strategy>> strategies;
  std::unique_ptr<StagedTrainer> trainer;
};

PipelineParts::PipelineParts(const JobOnStage& job, Simulator& simulator, Company* company)
    : parts_(std::make_unique<Parts>(job, simulator, company)) {}
PipelineParts::~PipelineParts() = default;

StagedTrainer& PipelineParts::trainer() {
  return *parts_->trainer;
}

}}  // namespace farandole::scenario
