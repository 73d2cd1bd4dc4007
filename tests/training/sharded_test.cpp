// Sharded strategies, fsdp and zero, on models of equal units, where every moment can be worked out by hand.
//
// A unit has 2 parameters. In fp32, on 2 ranks and a second per byte, its allgather and its reduce-scatter take 8 s
// each; g and r below. f and b are a unit's forward and backward pass, N the number of units.
#include "training/strategies/sharded.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/sharded_kit.hpp"
#include "training/strategy_kit.hpp"

namespace farandole::sharded_test { namespace {

using test::StrategyBench;
using testing::ElementsAre;

using test::add_layer;
using test::fsdp;
using test::full;
using test::g;
using test::grad_op;
using test::N;
using test::Pass;
using test::r;
using test::uniform;
using test::units;
using test::zero;

double seconds(const Job& job, const std::string& strategy, int ranks = 2) {
  StrategyBench bench(job, ranks, strategy);
  const double first = bench.simulation.run_iteration().duration.si();
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), first, 1e-9) << "the second iteration";
  return first;
}

/// What a rank sends in an iteration, in bytes, and how many collectives it takes part in.
struct Sent {
  double bytes = 0;
  double collectives = 0;
};
Sent sent(const Job& job, const std::string& strategy, int ranks) {
  StrategyBench bench(job, ranks, strategy);
  bench.simulation.run_iteration();
  Sent sum;
  for (const CollectiveKind& kind : bench.simulation.trainer().simulated().collectives()) {
    const double rounds = std::get<Operation>(kind) == Operation::allreduce ? 2 : 1;
    sum.bytes += rounds * std::get<Bytes>(kind).si() * (ranks - 1) / ranks;
    sum.collectives += 1;
  }
  return sum;
}

// ---- units

std::vector<int> unit_numbers(const ShardedUnits& units) {
  std::vector<int> numbers;
  for (const ShardedUnits::Segment& segment : units.segments) numbers.push_back(segment.unit);
  return numbers;
}

TEST(ShardedUnits, OfATransformerAreItsBlocksAndTheRestIsTheRoot) {
  Job job;
  add_layer(job, "transformer.wte.weight", 100, {1, 2});
  for (const char* block : {"transformer.blocks.0.", "transformer.blocks.1."}) {
    add_layer(job, block + std::string("norm_1.weight"), 3, {1, 2});
    add_layer(job, "", 0, {10, 20});  // attention has no parameters and goes with what is before it
    add_layer(job, block + std::string("ffn.experts.7.weight"), 40, {1, 2});
  }
  add_layer(job, "lm_head.weight", 50, {1, 2});
  const ShardedUnits units = units_of(job);
  EXPECT_THAT(unit_numbers(units), ElementsAre(-1, 0, 1, -1));
  EXPECT_THAT(units.parameters, ElementsAre(43, 43));
  EXPECT_EQ(units.root, 150);
  EXPECT_NEAR(units.segments[1].forward.si(), 12, 1e-12);
  EXPECT_NEAR(units.segments[2].backward.si(), 24, 1e-12);
}

TEST(ShardedUnits, OfAResNetAreItsBlocksInEveryStage) {
  Job job;
  for (const char* name : {"conv1.weight", "layer1.0.conv1.weight", "layer1.0.bn1.weight", "layer1.1.conv1.weight",
                           "layer2.0.conv1.weight", "fc.weight"}) {
    add_layer(job, name, 2, {1, 1});
  }
  const ShardedUnits units = units_of(job);
  EXPECT_THAT(unit_numbers(units), ElementsAre(-1, 0, 1, 2, -1));
  EXPECT_THAT(units.parameters, ElementsAre(4, 2, 2));
}

TEST(ShardedUnits, HaveEveryParameterOnce) {
  const ShardedUnits units = units_of(uniform(1, 1));
  double sum = units.root;
  for (const double parameters : units.parameters) sum += parameters;
  EXPECT_EQ(sum, 2 * N);
}

// ---- fsdp

TEST(Fsdp, ThatComputesLongerTakesTheFirstAllgatherAllComputationAndTheLastReduceScatter) {
  // f >= g, b >= g + r: g + N (f + b) + r
  EXPECT_NEAR(seconds(uniform(10, 20), full), g + N * (10 + 20) + r, 1e-9);
  EXPECT_NEAR(seconds(uniform(8, 16), full), g + N * (8 + 16) + r, 1e-9);
}

TEST(Fsdp, ThatCommunicatesLongerTakesTwoAllgathersAndAReduceScatterOfEveryUnit) {
  // f <= g, b <= g, b <= r: N (g + g + r); the stream is never idle
  EXPECT_NEAR(seconds(uniform(2, 4), full), N * (2 * g + r), 1e-9);
  EXPECT_NEAR(seconds(uniform(0, 0), full), N * (2 * g + r), 1e-9);
}

TEST(Fsdp, TakesTheLongerOfComputationAndCommunicationInEveryUnitOfEachPass) {
  // f > g, r < b < g + r: forward g + N f; backward the first unit b, all but the last two units g + r, then b and r
  // of the last: its allgather is before the reduce-scatter of the last but one
  EXPECT_NEAR(seconds(uniform(12, 12), full), g + N * 12 + 12 + (N - 2) * (g + r) + 12 + r, 1e-9);
}

TEST(Fsdp, GathersTheRootOnceAndReducesItLast) {
  // Six parameters, 24 s each way: gathered before anything is computed, reduced when all is. 7 segments compute.
  Job job;
  add_layer(job, "wte.weight", 4, {10, 20});
  for (int unit = 0; unit < N; ++unit) add_layer(job, fmt::format("h.{}.weight", unit), 2, {10, 20});
  add_layer(job, "norm.weight", 2, {10, 20});
  EXPECT_NEAR(seconds(job, full), 24 + 7 * (10 + 20) + 24, 1e-9);
  EXPECT_EQ(sent(job, full, 2).collectives, 2 + 3 * N);
}

TEST(Fsdp, LimitsAllgathersByTheUnitsThatAreGivenUp) {
  // The third allgather waits for the first unit, which computes until 8 + 30 = 38 s; by then three are missing, the
  // backward pass has g + r for every unit. Without a limit the stream is never idle.
  const Job job = units({{30, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}});
  EXPECT_NEAR(seconds(job, full), 38 + 3 * g + N * (g + r), 1e-9);
  EXPECT_NEAR(seconds(job, fsdp(R"("limit_all_gathers": false)")), N * (2 * g + r), 1e-9);
}

TEST(Fsdp, LimitsNoAllgatherWhereUnitsStay) {
  // SHARD_GRAD_OP gives up nothing in the forward pass: all are there at 40 s, f of the last unit ends at 42.
  const Job job = units({{30, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}});
  EXPECT_NEAR(seconds(job, grad_op), 42 + N * r, 1e-9);
}

TEST(Fsdp, HidesAllgathersInTheBackwardPassWhereItPrefetches) {
  // Without, a unit's allgather stands behind the reduce-scatter of the unit before it: N - 1 times g + r
  const auto with = [](const char* prefetch) {
    return seconds(uniform(10, 20), fsdp(fmt::format(R"("backward_prefetch": "{}")", prefetch)));
  };
  const double hidden = g + N * (10 + 20) + r;
  EXPECT_NEAR(with("BACKWARD_PRE"), hidden, 1e-9);
  EXPECT_NEAR(with("BACKWARD_POST"), hidden, 1e-9);
  EXPECT_NEAR(with("NO_PREFETCH"), hidden + (N - 1) * (g + r), 1e-9);
}

TEST(Fsdp, PrefetchesOneUnitFurtherBeforeThanAfterAUnitsBackwardPass) {
  // In a pass that reduces nothing, with one slow unit, the second of the backward pass: while it is computed, two of
  // the three units behind it are gathered where allgathers are issued before (they wait for the unit but two before),
  // one of them where after. The others' g each are not hidden.
  const std::string passes = R"("accumulation": 2, "backward_prefetch": )";
  const Job job = units({{0, 0}, {0, 0}, {0, 0}, {0, 100}, {0, 0}});
  const double before = seconds(job, fsdp(passes + R"("BACKWARD_PRE")"));
  const double after = seconds(job, fsdp(passes + R"("BACKWARD_POST")"));
  EXPECT_NEAR(after - before, g, 1e-9);
}

TEST(Fsdp, GathersOnceWhereParametersStayUntilTheBackwardPass) {
  EXPECT_NEAR(seconds(uniform(10, 20), grad_op), g + N * (10 + 20) + r, 1e-9);
  EXPECT_NEAR(seconds(uniform(2, 20), grad_op), N * g + 2 + N * 20 + r, 1e-9);
  EXPECT_EQ(sent(uniform(2, 20), grad_op, 2).collectives, 2 * N);
  EXPECT_EQ(sent(uniform(2, 20), full, 2).collectives, 3 * N);
}

TEST(Fsdp, AccumulatesInPassesOneAfterTheOther) {
  // The next pass gathers when this one is computed: head g in every pass, tail r where it is reduced
  const double computing = N * (10 + 20);
  const auto with = [](const std::string& settings) {
    return seconds(uniform(10, 20), fsdp(R"("accumulation": 3, )" + settings));
  };
  EXPECT_NEAR(with(R"("no_sync": true)"), 3 * (g + computing) + r, 1e-9);
  EXPECT_NEAR(with(R"("no_sync": false)"), 3 * (g + computing + r), 1e-9);
}

TEST(Fsdp, KeepsParametersFromPassToPassWhereNeitherPassGivesThemUp) {
  // SHARD_GRAD_OP under no_sync: _should_free_in_backward only where gradients are reduced
  const double computing = N * (10 + 20);
  const std::string three = R"("sharding_strategy": "SHARD_GRAD_OP", "accumulation": 3, )";
  EXPECT_NEAR(seconds(uniform(10, 20), fsdp(three + R"("no_sync": true)")), g + 3 * computing + r, 1e-9);
  EXPECT_NEAR(seconds(uniform(10, 20), fsdp(three + R"("no_sync": false)")), 3 * (g + computing + r), 1e-9);
}

double hybrid(const Job& job, int ranks_per_node) {
  StrategyBench bench(job, 4, fsdp(R"("sharding_strategy": "HYBRID_SHARD", "shard_group": 2)"));
  const auto strategy =
      bench.choice.make({bench.job, 4, ranks_per_node, BytesPerSecond::infinity(), {}, 0_s, "NCCL", 1, nullptr});
  test::Simulation simulation(bench.job, bench.variability, *strategy, bench.clock, 4, 0_s, nullptr);
  return simulation.run_iteration().duration.si();
}

TEST(Fsdp, InGroupsReducesAShardBetweenReplicas) {
  // a = r / 2 for the shard of one of two ranks
  const double a = r / 2;
  EXPECT_NEAR(hybrid(uniform(10, 20), 2), g + N * (10 + 20) + r + a, 1e-9);
  EXPECT_NEAR(hybrid(uniform(10, 20), 1), g + N * (10 + 20) + r + a, 1e-9);
  EXPECT_NEAR(hybrid(uniform(2, 4), 2), N * (2 * g + r) + a, 1e-9) << "beside what goes on in the node";
  EXPECT_NEAR(hybrid(uniform(2, 4), 1), N * (2 * g + r + a), 1e-9) << "where groups span nodes, in line with it";
}

TEST(Fsdp, WithoutShardsReducesEveryUnitBesideTheBackwardPass) {
  const std::string text = fsdp(R"("sharding_strategy": "NO_SHARD")");
  EXPECT_NEAR(seconds(uniform(10, 20), text), N * (10 + 20) + r, 1e-9);
  EXPECT_EQ(sent(uniform(10, 20), text, 2).collectives, N);
}

// ---- zero

TEST(Zero, GathersUpdatedParametersBeforeTheForwardPassAndReducesInBuckets) {
  // g = r = 4. One bucket by default: reduced when the backward pass is over
  EXPECT_NEAR(seconds(uniform(10, 20), zero(R"("stage": 1)")), N * 4 + N * (10 + 20) + N * 4, 1e-9);
}

TEST(Zero, HidesTheAllgathersBesideTheForwardPass) {
  EXPECT_NEAR(seconds(uniform(10, 20), zero(R"("overlap_params": true)")), 4 + N * (10 + 20) + N * 4, 1e-9);
  EXPECT_NEAR(seconds(uniform(1, 20), zero(R"("overlap_params": true)")), N * 4 + 1 + N * 20 + N * 4, 1e-9);
}

TEST(Zero, HidesBucketsBesideTheBackwardPass) {
  const std::string each = R"("overlap_params": true, "reduce_bucket_size": 2)";
  EXPECT_NEAR(seconds(uniform(10, 20), zero(each)), 4 + N * (10 + 20) + 4, 1e-9);
  EXPECT_NEAR(seconds(uniform(10, 20), zero(each + R"(, "overlap_comm": false)")), 4 + N * (10 + 20) + N * 4, 1e-9);
}

TEST(Zero, FillsABucketBeforeItGoes) {
  // Of two units each: the fifth is alone, and the last
  const std::string text = zero(R"("overlap_params": true, "reduce_bucket_size": 4)");
  EXPECT_NEAR(seconds(uniform(10, 20), text), 4 + N * (10 + 20) + 4, 1e-9);
  EXPECT_EQ(sent(uniform(10, 20), text, 2).collectives, N + 3);
}

TEST(Zero, OfStageTwoReducesInEveryPassAndOfStageOneInTheLast) {
  const auto reductions = [](int stage) {
    const std::string text = zero(fmt::format(R"("stage": {}, "accumulation": 3)", stage));
    return sent(uniform(10, 20), text, 2).collectives - N;
  };
  EXPECT_EQ(reductions(1), 1);
  EXPECT_EQ(reductions(2), 3);
}

// ---- both

TEST(Sharded, OnOneRankSendsNothing) {
  for (const std::string& text : {full, grad_op, zero(R"("stage": 1)"), zero(R"("stage": 3)")}) {
    EXPECT_NEAR(seconds(uniform(10, 20), text, 1), N * (10 + 20), 1e-9) << text;
    EXPECT_EQ(sent(uniform(10, 20), text, 1).collectives, 0) << text;
  }
}

TEST(Sharded, SendsWhatTheorySays) {
  // (n - 1) / n of 3 x parameters where they are gathered twice, of 2 x where once (Rajbhandari et al., section 7)
  for (const int ranks : {2, 3, 8}) {
    const Job job = units(std::vector<Pass>(N, {10, 20}), 24);
    const double share = (ranks - 1.0) / ranks * 24 * N;
    EXPECT_NEAR(sent(job, full, ranks).bytes, 3 * 4 * share, 1e-9);
    EXPECT_NEAR(sent(job, grad_op, ranks).bytes, 2 * 4 * share, 1e-9);
    EXPECT_NEAR(sent(job, zero(R"("stage": 1)"), ranks).bytes, 2 * 2 * share, 1e-9);
    EXPECT_NEAR(sent(job, zero(R"("stage": 2)"), ranks).bytes, 2 * 2 * share, 1e-9);
    EXPECT_NEAR(sent(job, zero(R"("stage": 3)"), ranks).bytes, 3 * 2 * share, 1e-9);
    EXPECT_NEAR(sent(job, zero(R"("reduce_scatter": false)"), ranks).bytes, 3 * 2 * share, 1e-9);
  }
}

}}  // namespace farandole::sharded_test
