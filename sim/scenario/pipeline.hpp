// The stages of a pipeline as scenarios of their own, and what they are on together.
//
// A stage is a data-parallel job of its own ranks and layers: everything that is known of such a job (times, memory,
// groups, clocks) is known of a stage. Stages are neighbouring ranks, the first the first. Called by
// scenario/stage.cpp, fit_memory.cpp and train.cpp.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "scenario/train.hpp"

namespace farandole { inline namespace scenario {

struct PipelineStage {
  Scenario scenario;  // of its ranks
  ComputeTimes times;
  Job job;
};

/// `placement`: of all ranks of all stages.
Scenario stage_of(const Scenario& scenario, const Placement& placement, int stage);
std::vector<PipelineStage> stages_of(const Scenario& scenario, const Placement& placement);

/// What a rank computes in an iteration; of a pipeline, of the stage that computes longest.
struct LongestJob {
  ComputeTimes times;
  Job job;
};
LongestJob longest_job_of(const Scenario& scenario);

/// For a micro-batch from each rank of every stage to one of the next.
std::vector<Bytes> handed_on(const Scenario& scenario);

/// Of what the first and the last stage both keep; 0: nothing.
Bytes tied_gradient(const Scenario& scenario);

/// Two stages by themselves: a message from a rank of the first to the one at the same place of the second is a
/// broadcast of neighbours.
Scenario pair_of(const Scenario& scenario, const Placement& from, const Placement& to);

/// Where so many ranks compute and communicate, by clocks that outlive the site. `company` may be null.
JobSite site_of_job(const Scenario& scenario, int ranks, Company* company, const std::function<JobClocks&()>& clocks);

/// A pipeline that is to be simulated, and what it is on. The references must outlive it; `company` may be null.
class PipelineParts {
 public:
  PipelineParts(const JobOnStage& job, Simulator& simulator, Company* company);
  ~PipelineParts();
  StagedTrainer& trainer();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}}  // namespace farandole::scenario
