// What nobody claims of an iteration is below a millionth of it; else the run is an error.
#include <gtest/gtest.h>

#include "simulate/invariant.hpp"
#include "training/servers/server_run.hpp"
#include "training/training_run.hpp"

namespace farandole::account_test { namespace {

Job job_of_five_seconds() {
  Job job;
  job.backward_end = 4_s;
  job.update = 1_s;
  return job;
}

/// Ten seconds, all of them claimed.
Iteration honest() {
  Iteration iteration;
  iteration.duration = 10_s;
  iteration.computing = 6_s;
  iteration.exposed_communication = 2_s;
  iteration.exposed = {{Operation::allgather, Seconds(0.5)}, {Operation::allreduce, Seconds(1.5)}};
  iteration.negotiation = Seconds(1.5);
  iteration.input = Seconds(0.5);
  iteration.compute_slowdown = Seconds(0.25);
  return iteration;
}

TEST(Account, OfAnIterationWhosePartsAddUpIsTheBreakdown) {
  const TrainingRun run = condense(std::vector{honest(), honest()}, job_of_five_seconds());
  EXPECT_EQ(run.breakdown.compute, 5_s);
  EXPECT_EQ(run.breakdown.straggler, Seconds(0.75));  // computed beyond the nominal, but for what was stolen
  EXPECT_EQ(run.breakdown.other, Seconds(0.25));
  EXPECT_NEAR(run.breakdown.total() / run.iteration, 1, 1e-12);
}

TEST(Account, OfAnIterationWhosePartsDoNotAddUpIsAnError) {
  for (Seconds Iteration::*part : {&Iteration::duration, &Iteration::computing, &Iteration::exposed_communication,
                                   &Iteration::negotiation, &Iteration::input}) {
    for (const double wrong : {-0.1, -4e-5, 4e-5, 0.1}) {
      Iteration mutated = honest();
      mutated.*part += Seconds(wrong);
      EXPECT_THROW(condense(std::vector{mutated}, job_of_five_seconds()), InvariantError) << wrong;
      EXPECT_THROW(condense(std::vector{honest(), honest(), mutated}, job_of_five_seconds()), InvariantError) << wrong;
    }
    Iteration rounded = honest();
    rounded.*part += Seconds(3e-6);
    EXPECT_NO_THROW(condense(std::vector{rounded}, job_of_five_seconds()));
  }
}

TEST(Account, WhoseOperationsDoNotAddUpToWhatIsExposedIsAnError) {
  EXPECT_EQ(condense(std::vector{honest()}, job_of_five_seconds()).exposed, honest().exposed);
  for (const double wrong : {-0.1, 4e-5}) {
    Iteration mutated = honest();
    mutated.exposed[Operation::allgather] += Seconds(wrong);
    EXPECT_THROW(condense(std::vector{honest(), mutated}, job_of_five_seconds()), InvariantError) << wrong;
  }
}

TEST(Account, OfServersLeavesOutAnIterationThatNotAllWorkersHaveEnded) {
  // Two workers: an iteration of 2 s, one of 3 s, and one that only the first has ended.
  std::vector<WorkerIteration> finished;
  for (const auto& [group, start, end] :
       {std::tuple{0, 0_s, 1_s}, {1, 0_s, 2_s}, {1, 2_s, 4_s}, {0, 2_s, 5_s}, {0, 5_s, 9_s}}) {
    WorkerIteration iteration;
    iteration.group = group;
    iteration.start = start;
    iteration.end = end;
    finished.push_back(iteration);
  }
  const WorkerMean mean = mean_of_barriers(finished, 2, 0);
  EXPECT_EQ(mean.durations, (std::vector<Seconds>{2_s, 3_s}));
  EXPECT_EQ(mean.iteration, Seconds(2.5));
}

}}  // namespace farandole::account_test
