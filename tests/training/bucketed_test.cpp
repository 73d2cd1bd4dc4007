// Strategies that send buckets, on the event loop, against schedules worked out by hand: a second per byte.
#include "training/strategies/bucketed.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "training/strategy_kit.hpp"

namespace farandole::bucketed_test { namespace {

using test::StrategyBench;
using test::three_gradients;
using testing::ElementsAre;

TEST(Ddp, ABucketGoesWhenItsLastGradientIsComputed) {
  // c and b, 2 + 3 bytes, fill the first bucket at 20 s: 20 to 25; a: 30 to 34.
  StrategyBench bench(three_gradients(), 2, R"({"kind": "ddp", "first_bucket": "5 B", "bucket_cap": "4 B"})");
  const Iteration iteration = bench.second_iteration();
  EXPECT_THAT(bench.clock.sizes, ElementsAre(5_B, 4_B));
  EXPECT_NEAR(iteration.duration.si(), 34, 1e-9);
  EXPECT_NEAR(iteration.exposed_communication.si(), 4, 1e-9);
  EXPECT_NEAR(iteration.negotiation.si(), 0, 1e-9);
}

TEST(Ddp, BucketsFollowOneAnotherOnOneStream) {
  // 10 to 12, 20 to 23, 30 to 34 when every tensor goes alone; all ready at 10: 2 + 3 + 4 s in a row.
  Job job{{{"c", 2_B, 10_s, 10_s}, {"b", 3_B, 10_s, 10_s}, {"a", 4_B, 10_s, 10_s}}, 10_s, 0_s};
  StrategyBench bench(job, 2, R"({"kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B"})");
  EXPECT_NEAR(bench.second_iteration().duration.si(), 19, 1e-9);
}

/// Rank 1 computes half as slowly again: both send c from 15 s on, to 35. Rank 0 has b at 20 s, where it waits till
/// then.
TEST(Ddp, TheTimelineShowsWhenTheFirstRankHadWhatItSends) {
  Job job{{{"c", 20_B, 10_s, 10_s}, {"b", 3_B, 20_s, 20_s}}, 20_s, 0_s};
  Timeline timeline(1000);
  StrategyBench bench(job, 2, R"({"kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B"})", &timeline);
  bench.variability.slow_down(1, 0.5);
  const Seconds begin = bench.simulation.run_iteration().duration;  // of one bucket
  bench.simulation.run_iteration();
  const auto queued = std::ranges::find(timeline.spans(), "QUEUE", &Span::activity);
  ASSERT_NE(queued, timeline.spans().end());
  EXPECT_NEAR((queued->start - begin).si(), 20, 1e-9);
  EXPECT_NEAR(queued->duration.si(), 15, 1e-9);
}

/// Without an exchange every rank goes on by itself: the first one updates after its own 30 s.
TEST(LocalSgd, TheTimelineShowsTheUpdateOfTheFirstRank) {
  Job job = three_gradients();
  job.update = 2_s;
  Timeline timeline(1000);
  StrategyBench bench(job, 2, R"({"kind": "local_sgd", "period": 4})", &timeline);
  bench.variability.slow_down(1, 0.5);
  bench.simulation.run_iteration();
  const auto update = std::ranges::find(timeline.spans(), "UPDATE", &Span::activity);
  ASSERT_NE(update, timeline.spans().end());
  EXPECT_NEAR(update->start.si(), 30, 1e-9);
  EXPECT_NEAR(update->duration.si(), 2, 1e-9);
}

TEST(Ddp, ForwardPassWaitsForTheBroadcastOfBuffers) {
  // 7 bytes of moving averages come first: everything is 7 s later.
  Job job = three_gradients();
  job.variables = {{"a.running_mean", 7_B, 0, -1}, {"a", 4_B, 0, 2}};
  StrategyBench bench(job, 2, R"({"kind": "ddp"})");
  const Iteration iteration = bench.simulation.run_iteration();
  EXPECT_NEAR(iteration.duration.si(), 7 + 30 + 9, 1e-9);
  EXPECT_NEAR(iteration.exposed_communication.si(), 7 + 9, 1e-9);
  StrategyBench without(job, 2, R"({"kind": "ddp", "broadcast_buffers": false})");
  EXPECT_NEAR(without.simulation.run_iteration().duration.si(), 30 + 9, 1e-9);
}

TEST(Ddp, CopiesIntoTheBucketUnlessGradientsLiveThere) {
  // 9 bytes are read and written on the way in, and on the way out, at 1 byte per second.
  StrategyBench copied(three_gradients(), 2, R"({"kind": "ddp"})", nullptr, 1_Bps);
  EXPECT_NEAR(copied.second_iteration().duration.si(), 30 + 18 + 9 + 18, 1e-9);
  // There they are divided, which reads and writes them once.
  StrategyBench view(three_gradients(), 2, R"({"kind": "ddp", "gradient_as_bucket_view": true})", nullptr, 1_Bps);
  EXPECT_NEAR(view.second_iteration().duration.si(), 30 + 18 + 9, 1e-9);
  // By a communication hook that is its own affair: 4.5 bytes travel, and nothing stands in the way of the passes.
  StrategyBench hook(three_gradients(), 2, R"({"kind": "ddp", "gradient_as_bucket_view": true, "compression": "fp16"})",
                     nullptr, 1_Bps);
  EXPECT_NEAR(hook.job.backward_end.si(), 30, 1e-9);
}

TEST(Ddp, CopiesAreOnTheStreamThatComputes) {
  // In: c is there at 10 + 4, b at 20 + 4 + 6, a at 30 + 18 = 48. Each travels from then on: 16, 33, 52. Out, once the
  // passes are over: c from 48 to 52, b to 58, a to 66.
  StrategyBench bench(three_gradients(), 2, R"({"kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B"})", nullptr,
                      1_Bps);
  EXPECT_NEAR(bench.second_iteration().duration.si(), 66, 1e-9);
}

TEST(Ddp, OneBucketCarriesAllInTheFirstIteration) {
  // Nobody knows yet in which order gradients come.
  StrategyBench bench(three_gradients(), 2, R"({"kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B"})");
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 39, 1e-9);
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 34, 1e-9);
  EXPECT_THAT(bench.clock.sizes, ElementsAre(9_B, 2_B, 3_B, 4_B));
}

TEST(GradientHooks, CostTheHostThatQueuesThemAndTheDeviceThatCopies) {
  // Two gradients of 1 byte that are queued at 1 and 2 s and there at 10 and 20 s. A host that takes 3 s for a hook is
  // ahead all the same; one that takes 30 s sets the pace: 1 + 30, 2 + 60. A copy takes the device 0.5 + 2 / 4 s.
  const Job job{{{"b", 1_B, 1_s, 10_s}, {"a", 1_B, 2_s, 20_s}}, 20_s, 0_s};
  Coder coder{4_Bps, 3_s};
  coder.start = Seconds(0.5);
  const Job ahead = hooked(job, {2}, coder);
  EXPECT_NEAR(ahead.gradients[0].ready.si(), 11, 1e-12);
  EXPECT_NEAR(ahead.gradients[1].ready.si(), 22, 1e-12);
  EXPECT_NEAR(ahead.gradients[1].announced.si(), 2 + 6, 1e-12);
  EXPECT_NEAR(ahead.backward_end.si(), 22, 1e-12);
  coder.kernel = 30_s;
  const Job behind = hooked(job, {2}, coder);
  EXPECT_NEAR(behind.gradients[0].ready.si(), 31, 1e-12);
  EXPECT_NEAR(behind.gradients[1].ready.si(), 62, 1e-12);
  EXPECT_NEAR(behind.backward_end.si(), 62, 1e-12);
  EXPECT_EQ(hooked(job, {0}, coder).backward_end, 20_s);
}

TEST(Ddp, AccumulationCommunicatesInTheLastPassOnly) {
  // Three passes of 30 s, then 9 bytes.
  StrategyBench bench(accumulated(three_gradients(), 3), 2, R"({"kind": "ddp", "accumulation": 3})");
  EXPECT_EQ(bench.choice.accumulation, 3);
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 90 + 9, 1e-9);
}

TEST(Ddp, WithoutOverlapBucketsWaitForTheEndOfTheBackwardPass) {
  StrategyBench bench(without_overlap(three_gradients()), 2,
                      R"({"kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B", "overlap": false})");
  EXPECT_FALSE(bench.choice.overlap);
  const Iteration iteration = bench.second_iteration();
  EXPECT_NEAR(iteration.duration.si(), 30 + 2 + 3 + 4, 1e-9);
  EXPECT_NEAR(iteration.exposed_communication.si(), 9, 1e-9);
}

TEST(Ddp, LookingForUnusedParametersAddsAnAllreduceOfANumberForEach) {
  // 4 bytes for each of three tensors, after the last bucket.
  StrategyBench bench(three_gradients(), 2, R"({"kind": "ddp", "find_unused_parameters": true})");
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 30 + 9 + 12, 1e-9);
  EXPECT_THAT(bench.clock.sizes, ElementsAre(9_B, 12_B));
}

TEST(Ddp, LookingForUnusedParametersFillsBucketsAsTheyAreRegisteredAndSendsTheSmallOneLast) {
  // a, 4 bytes, fills the first bucket of 2 bytes; b and c, 5 bytes, do not fill the next one of 7, which goes first,
  // at 20 s, to 25; then a, 30 to 34, and 12 bytes of what was used. Rebuilt there would be c, then b and a.
  const std::string limits = R"("kind": "ddp", "first_bucket": "2 B", "bucket_cap": "7 B")";
  StrategyBench bench(three_gradients(), 2, "{" + limits + R"(, "find_unused_parameters": true})");
  for (int round = 0; round < 2; ++round) {
    EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 46, 1e-9);
  }
  EXPECT_THAT(bench.clock.sizes, ElementsAre(5_B, 4_B, 12_B, 5_B, 4_B, 12_B));
  StrategyBench fixed(three_gradients(), 2,
                      "{" + limits + R"(, "find_unused_parameters": true, "static_graph": true})");
  fixed.second_iteration();
  EXPECT_THAT(fixed.clock.sizes, ElementsAre(2_B, 7_B));
}

TEST(Ddp, AStaticGraphIsKnownAfterItsFirstIterationWhichSendsAllAtItsEnd) {
  // First all 9 bytes after 30 s; then 10 to 12, 20 to 23, 30 to 34.
  StrategyBench bench(three_gradients(), 2,
                      R"({"kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B", "static_graph": true,
                          "find_unused_parameters": true})");
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 39, 1e-9);
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 34, 1e-9);
  EXPECT_THAT(bench.clock.sizes, ElementsAre(9_B, 2_B, 3_B, 4_B));
}

TEST(Ddp, TheLimitOfBucketsMayBeGivenInMebibytes) {
  Job job = three_gradients();
  for (Gradient& gradient : job.gradients) gradient.size *= 1024.0 * 1024.0;
  StrategyBench bench(job, 2, R"({"kind": "ddp", "bucket_cap_mb": 3})");
  bench.second_iteration();
  EXPECT_THAT(bench.clock.sizes, ElementsAre(2_MiB, 3_MiB, 4_MiB));
  EXPECT_THROW(StrategyBench(job, 2, R"({"kind": "ddp", "bucket_cap_mb": 3, "bucket_cap": "3 MiB"})"), InputError);
}

RC_GTEST_PROP(Ddp, RegisteredBucketsHoldEveryGradientOnceAndReachTheirLimits, ()) {
  Job job;
  for (const int size : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 100))) {
    job.gradients.push_back({"g", Bytes(size), 10_s, 10_s});
  }
  const auto first = Bytes(*rc::gen::inRange(0, 200));
  const auto cap = Bytes(*rc::gen::inRange(0, 200));
  const auto buckets = registered_buckets(job, first, cap);
  auto next = static_cast<int>(std::ssize(job.gradients));  // from the first that is registered, the last to go
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
    Bytes size;
    for (const int gradient : *bucket) {
      RC_ASSERT(gradient == --next);
      size += job.gradients[static_cast<std::size_t>(gradient)].size;
    }
    RC_ASSERT(std::next(bucket) == buckets.rend() || size >= (bucket == buckets.rbegin() ? first : cap));
  }
  RC_ASSERT(next == 0);
}

TEST(Ddp, OneRankDoesNotCommunicate) {
  StrategyBench bench(three_gradients(), 1, R"({"kind": "ddp"})");
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 30, 1e-9);
  EXPECT_TRUE(bench.clock.sizes.empty());
}

TEST(Ddp, AModelWithoutParametersCostsNothing) {
  StrategyBench bench(Job{{}, 0_s, 0_s}, 4, R"({"kind": "ddp"})");
  EXPECT_EQ(bench.simulation.run_iteration().duration, 0_s);
}

TEST(Allgather, EveryRankGathersWhatAllRanksSend) {
  // Dense, each gradient when it is computed: 3 ranks x 2, 3, 4 bytes; 10 to 16, 20 to 29, 30 to 42.
  StrategyBench bench(three_gradients(), 3, R"({"kind": "allgather"})");
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 42, 1e-9);
  EXPECT_THAT(bench.clock.sizes, ElementsAre(6_B, 9_B, 12_B));
}

TEST(Allgather, WithoutOverlapAllGradientsGoTogetherAtTheEnd) {
  StrategyBench bench(three_gradients(), 3, R"({"kind": "allgather", "overlap": false})");
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 30 + 27, 1e-9);
  EXPECT_THAT(bench.clock.sizes, ElementsAre(27_B));
}

TEST(Allgather, SparseRowsTravelWithTheirIndices) {
  // 10 rows of 4 bytes, a fifth of them sent: 2 x (4 + 8) bytes by each of 3 ranks.
  Job job{{{"embedding", 40_B, 10_s, 10_s, 10, 1}}, 10_s, 0_s};
  StrategyBench bench(job, 3, R"({"kind": "allgather", "density": "20 %"})");
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 10 + 72, 1e-9);
}

TEST(LocalSgd, AveragesParametersEveryPeriod) {
  // Iterations 1 and 2 only compute; the third also moves 9 bytes of parameters.
  Job job = three_gradients();
  job.variables = {{"a", 4_B, 0, 2}, {"b", 3_B, 0, 1}, {"c", 2_B, 0, 0}, {"running_mean", 100_B, 0, -1}};
  StrategyBench bench(job, 2, R"({"kind": "local_sgd", "period": 3})");
  EXPECT_EQ(bench.choice.period, 3);
  for (int round = 0; round < 2; ++round) {
    EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 30, 1e-9);
    EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 30, 1e-9);
    EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 39, 1e-9);
  }
}

TEST(LocalSgd, RanksDoNotWaitForOneAnotherBetweenAverages) {
  // Ranks take turns at being slow: in lockstep every step would take 45 s.
  Job job = three_gradients();
  StrategyBench bench(job, 2, R"({"kind": "local_sgd", "period": 100})");
  Variability uneven(2, 0, 0, 1);
  uneven.slow_down(1, 0.5);
  test::Simulation simulation(bench.job, uneven, *bench.strategy, bench.clock, 2, 0_s, nullptr);
  EXPECT_NEAR(simulation.run_iteration().duration.si(), 45, 1e-9);
  EXPECT_NEAR(simulation.run_iteration().duration.si(), 45, 1e-9);
}

TEST(Single, AddsUpShardsOnOneRank) {
  StrategyBench bench(accumulated(three_gradients(), 4), 1, R"({"kind": "single", "accumulation": 4})");
  const Iteration iteration = bench.simulation.run_iteration();
  EXPECT_NEAR(iteration.duration.si(), 120, 1e-9);
  EXPECT_EQ(iteration.collectives, 0);
}

TEST(Compression, OfABucketTravelsByTheCollectiveItNeeds) {
  // One gradient of 16 fp32 elements. fp16: 32 bytes; int8: (16 + 4) x 2 ranks; one_bit: (2 + 8) x 2 ranks.
  const Job job{{{"w", 64_B, 10_s, 10_s, 4, 4}}, 10_s, 0_s};
  const auto bytes = [&](const std::string& compression) {
    StrategyBench bench(job, 2, R"({"kind": "ddp", "compression": )" + compression + "}");
    bench.simulation.run_iteration();
    return bench.clock.sizes;
  };
  EXPECT_THAT(bytes(R"("none")"), ElementsAre(64_B));
  EXPECT_THAT(bytes(R"("fp16")"), ElementsAre(32_B));
  EXPECT_THAT(bytes(R"("int8")"), ElementsAre(40_B));
  EXPECT_THAT(bytes(R"("one_bit")"), ElementsAre(20_B));
  EXPECT_THAT(bytes(R"({"kind": "top_k", "keep": "25 %"})"), ElementsAre(64_B));  // 4 x 8 bytes x 2 ranks
}

RC_GTEST_PROP(Ddp, LargerBucketsNeverMakeMoreMessages, ()) {
  Job job;
  for (const int size : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 1000))) {
    job.gradients.push_back({"g", Bytes(size), 10_s, 10_s});
  }
  job.backward_end = 10_s;
  const int cap = *rc::gen::inRange(0, 2000);
  const auto messages = [&](int bytes) {
    StrategyBench bench(job, 2,
                        fmt::format(R"({{"kind": "ddp", "first_bucket": "{0} B", "bucket_cap": "{0} B"}})", bytes));
    return bench.second_iteration().collectives;
  };
  RC_ASSERT(messages(2 * cap) <= messages(cap));
}

}}  // namespace farandole::bucketed_test
