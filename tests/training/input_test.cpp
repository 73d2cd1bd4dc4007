#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "training/effects/failures.hpp"
#include "training/effects/input_pipeline.hpp"

namespace farandole::input_test { namespace {

/// The iteration time in the steady state of a device that computes `compute` seconds per batch.
double steady_iteration(InputPipeline pipeline, double compute, int iterations = 200) {
  RankTimes free = RankTimes::Zero(1);
  double half = 0;
  for (int i = 0; i < iterations; ++i) {
    if (i == iterations / 2) half = free[0];
    free = pipeline.start(free) + compute;
  }
  return (free[0] - half) / (iterations - iterations / 2);
}

InputPipeline pipeline(double batch_time, int prefetch, const Distribution& spread = {}) {
  return {RankTimes::Constant(1, batch_time), prefetch, spread, 1};
}

TEST(InputPipeline, WithoutPrefetchReadingAndComputingAddUp) {
  EXPECT_NEAR(steady_iteration(pipeline(0.3, 0), 1), 1.3, 1e-12);
}

TEST(InputPipeline, OneBatchAheadTheSlowerOfTheTwoDecides) {
  EXPECT_NEAR(steady_iteration(pipeline(0.3, 1), 1), 1, 1e-12);
  EXPECT_NEAR(steady_iteration(pipeline(3, 1), 1), 3, 1e-12);
}

TEST(InputPipeline, ADeeperQueueHidesReadTimesThatVary) {
  // Mean read time 0.8 of the compute time: hidden in the mean, not in every single batch.
  const Distribution varying{"exponential", 1};
  const double shallow = steady_iteration(pipeline(0.8, 1, varying), 1, 4000);
  const double deep = steady_iteration(pipeline(0.8, 16, varying), 1, 4000);
  EXPECT_GT(shallow, 1.1);
  EXPECT_LT(deep, 1.05);
  EXPECT_GE(deep, 1 - 1e-12);
}

RC_GTEST_PROP(InputPipeline, NeverBeatsComputeNorSupplyAndMorePrefetchNeverHurts, ()) {
  const double batch_time = *rc::gen::inRange(0, 200) / 100.0;
  const int prefetch = *rc::gen::inRange(0, 5);
  const double time = steady_iteration(pipeline(batch_time, prefetch, {"uniform", 0.5}), 1);
  RC_ASSERT(time >= 1 - 1e-9);
  RC_ASSERT(time >= 0.9 * batch_time);
  RC_ASSERT(steady_iteration(pipeline(batch_time, prefetch + 1, {"uniform", 0.5}), 1) <= time + 1e-9);
}

TEST(InputSupply, StorageIsSharedByAllRanksAndANodesNetworkByItsOwn) {
  InputSupply supply;
  supply.sample_size = 100_B;
  supply.storage_bandwidth = 1000_Bps;  // 10 samples per second, 2.5 for each of four ranks
  EXPECT_DOUBLE_EQ(batch_times(supply, 5, {0, 0, 0, 1})[0], 2);
  supply.node_bandwidth = 300_Bps;  // 3 samples per second: one for each of three ranks, all for the fourth
  const RankTimes times = batch_times(supply, 5, {0, 0, 0, 1});
  EXPECT_DOUBLE_EQ(times[0], 5);
  EXPECT_DOUBLE_EQ(times[3], 2);
}

TEST(InputSupply, WorkersReadThenDecode) {
  // 1 / (1/50 s + 5 ms) = 40 samples per second and worker.
  InputSupply supply;
  supply.decode_workers = 4;
  supply.decode_rate = 50;
  supply.request_latency = 5_ms;
  EXPECT_DOUBLE_EQ(batch_times(supply, 64, {0})[0], 64 / 160.0);
  supply.access = Access::partition;  // read in order, ahead
  EXPECT_DOUBLE_EQ(batch_times(supply, 64, {0})[0], 64 / 200.0);
}

TEST(InputSupply, APartitionFitsIntoCachesThatTheWholeSetDoesNot) {
  InputSupply supply;
  supply.dataset = 100_GB;
  supply.cache = 25_GB;
  EXPECT_DOUBLE_EQ(supply.missed(4), 0.75);  // drawn at random from everything
  supply.access = Access::partition;
  EXPECT_DOUBLE_EQ(supply.missed(2), 0.5);
  EXPECT_DOUBLE_EQ(supply.missed(4), 0);
}

TEST(InputSupply, NothingStatedIsNoBound) {
  EXPECT_EQ(batch_times({}, 64, {0, 0})[1], 0);
}

TEST(Checkpoint, CostsItsPauseAsOftenAsItIsWritten) {
  Checkpoint checkpoint{1_GB, BytesPerSecond(5e8), 1_s, 100, {}};
  EXPECT_EQ(checkpoint.pause(), 3_s);
  EXPECT_DOUBLE_EQ(checkpoint.per_iteration(0.5_s), 0.01);
  checkpoint.every = 100_s;
  EXPECT_DOUBLE_EQ(checkpoint.per_iteration(0.5_s), 0.005);
}

}}  // namespace farandole::input_test
