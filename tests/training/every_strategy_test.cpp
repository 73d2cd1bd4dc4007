// Every strategy that communicates by collectives, on jobs that can be worked out by hand: nothing overlapped, all of
// it, and nothing to send.
#include <gtest/gtest.h>

#include "training/strategy_kit.hpp"

namespace farandole::every_strategy_test { namespace {

using test::StrategyBench;

/// A second per byte. Three gradients of 2, 3 and 4 bytes, ready after 10, 20 and 30 s.
struct Case {
  const char* text;
  double ranks;        // bytes on the wire for each byte of a gradient: all ranks' in an allgather
  double whole_hides;  // seconds after the backward pass when the last gradient is empty
};

/// Each sends every gradient as soon as it may. Averaging parameters waits for the end by nature.
const std::vector<Case> cases{
    {R"("kind": "horovod", "fusion_threshold": "0 B", "cycle_time": "0 ms", "coordinator_per_message": "0 us")", 1, 0},
    {R"("kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B")", 1, 0},
    {R"("kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B", "compression": "fp16")", 0.5, 0},
    {R"("kind": "allgather")", 2, 0},
    {R"("kind": "local_sgd", "period": 1)", 1, 5},
    {R"("kind": "diloco", "inner_steps": 1)", 1, 5},
};

Job job_of(double last) {
  Job job{{{"c", 2_B, 10_s, 10_s}, {"b", 3_B, 20_s, 20_s}, {"a", Bytes(last), 30_s, 30_s}}, 30_s, 0_s};
  job.variables = {{"a", Bytes(last), 0, 2}, {"b", 3_B, 0, 1}, {"c", 2_B, 0, 0}};
  return job;
}

double seconds(const Case& one, Job job) {
  StrategyBench bench(std::move(job), 2, std::string("{") + one.text + "}");
  return bench.second_iteration().duration.si();
}

TEST(EveryStrategy, WithoutOverlapTakesComputeAndThenAllCommunication) {
  for (const Case& one : cases) {
    EXPECT_NEAR(seconds(one, without_overlap(job_of(4))), 30 + one.ranks * (2 + 3 + 4), 1e-9) << one.text;
  }
}

TEST(EveryStrategy, WithAllOfItOverlappedTakesComputeAlone) {
  for (const Case& one : cases) EXPECT_NEAR(seconds(one, job_of(0)), 30 + one.whole_hides, 1e-9) << one.text;
}

TEST(EveryStrategy, OfAModelWithoutParametersTakesComputeAlone) {
  for (const Case& one : cases) EXPECT_EQ(seconds(one, Job{{}, 30_s, 0_s}), 30) << one.text;
}

TEST(EveryStrategy, OfGradientsWithoutBytesTakesComputeAlone) {
  for (const Case& one : cases) {
    Job job = job_of(0);
    for (Gradient& gradient : job.gradients) gradient.size = 0_B;
    job.variables.clear();
    EXPECT_EQ(seconds(one, job), 30) << one.text;
  }
}

}}  // namespace farandole::every_strategy_test
