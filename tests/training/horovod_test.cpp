// The Horovod state machine on the event loop, against schedules worked out by hand.
#include "training/strategies/horovod.hpp"

#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/strategy_kit.hpp"

namespace farandole::horovod_test { namespace {

using test::SecondPerByte;
using test::three_gradients;

HorovodSettings settings(Bytes threshold, Seconds cycle) {
  HorovodSettings result;
  result.profile = {"test", threshold, cycle, false, true, 0};
  result.memory_bandwidth = BytesPerSecond::infinity();
  return result;
}

struct Bench {
  Bench(Job job_, int ranks, HorovodSettings settings_, Timeline* timeline = nullptr)
      : job(std::move(job_)),
        variability(ranks, 0, 0, 1),
        strategy(job, ranks, std::move(settings_), timeline),
        simulation(job, variability, strategy, clock, ranks, 0_s, timeline) {}

  Job job;
  Variability variability;
  SecondPerByte clock;
  Horovod strategy;
  test::Simulation simulation;
};

TEST(Horovod, OverlapsAllButTheLastGradient) {
  // c: 10 to 12, b: 20 to 23, both under way while the device computes; a: 30 to 34. Four seconds are exposed.
  Bench bench(three_gradients(), 2, settings(0_B, 0_s));
  const Iteration iteration = bench.simulation.run_iteration();
  EXPECT_NEAR(iteration.duration.si(), 34, 1e-9);
  EXPECT_NEAR(iteration.exposed_communication.si(), 4, 1e-9);
  EXPECT_NEAR(iteration.negotiation.si(), 0, 1e-9);
  EXPECT_EQ(iteration.collectives, 3);
}

TEST(Horovod, RunsOneAllreduceAfterAnother) {
  // All ready at 10 s: 2 + 3 + 4 s of communication follow one another.
  Job job{{{"c", 2_B, 10_s, 10_s}, {"b", 3_B, 10_s, 10_s}, {"a", 4_B, 10_s, 10_s}}, 10_s, 0_s};
  Bench bench(job, 2, settings(0_B, 0_s));
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 19, 1e-9);
  EXPECT_THAT(bench.clock.sizes, testing::ElementsAre(2_B, 3_B, 4_B));
}

TEST(Horovod, FusesWhatOnePassNegotiates) {
  Job job{{{"c", 2_B, 10_s, 10_s}, {"b", 3_B, 10_s, 10_s}, {"a", 4_B, 10_s, 10_s}}, 10_s, 0_s};
  Bench bench(job, 2, settings(5_B, 0_s));
  bench.simulation.run_iteration();
  EXPECT_THAT(bench.clock.sizes, testing::ElementsAre(5_B, 4_B));
}

TEST(Horovod, AFusedBufferWaitsForItsLastTensor) {
  // The host ran ahead: all three are negotiated and fused at once, and nothing moves before the last is computed.
  Job job{{{"c", 2_B, 1_s, 10_s}, {"b", 3_B, 1_s, 20_s}, {"a", 4_B, 1_s, 30_s}}, 30_s, 0_s};
  Bench bench(job, 2, settings(64_B, 0_s));
  const Iteration iteration = bench.simulation.run_iteration();
  EXPECT_NEAR(iteration.duration.si(), 30 + 9, 1e-9);
  EXPECT_EQ(iteration.collectives, 1);
}

TEST(Horovod, OneRankDoesNotCommunicate) {
  Bench bench(three_gradients(), 1, settings(64_B, 5_s));
  const Iteration iteration = bench.simulation.run_iteration();
  EXPECT_NEAR(iteration.duration.si(), 30, 1e-9);
  EXPECT_EQ(iteration.collectives, 0);
}

TEST(Horovod, TheUpdateFollowsTheLastGradient) {
  Job job = three_gradients();
  job.update = 5_s;
  Bench bench(job, 2, settings(0_B, 0_s));
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 39, 1e-9);
}

TEST(Horovod, WaitingForThePassCountsAsNegotiation) {
  // One gradient at 10 s; the pass that takes it falls within the 4 s cycle; then 2 s of communication.
  Bench bench({{{"a", 2_B, 10_s, 10_s}}, 10_s, 0_s}, 2, settings(0_B, 4_s));
  const Iteration iteration = bench.simulation.run_iteration();
  EXPECT_NEAR(iteration.exposed_communication.si(), 2, 1e-9);
  EXPECT_GT(iteration.negotiation.si(), 0);
  EXPECT_LE(iteration.negotiation.si(), 4);
  EXPECT_NEAR(iteration.duration.si(), 10 + 2 + iteration.negotiation.si(), 1e-9);
}

TEST(Horovod, CopiesIntoAndOutOfTheFusionBufferTakeMemoryBandwidth) {
  // Each fused byte is read and written on its way in, and again on its way out: 4 * 5 bytes at 10 bytes per second.
  Job job{{{"b", 2_B, 10_s, 10_s}, {"a", 3_B, 10_s, 10_s}}, 10_s, 0_s};
  HorovodSettings slow = settings(64_B, 0_s);
  slow.memory_bandwidth = 10_Bps;
  Bench bench(job, 2, slow);
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 10 + 1 + 5 + 1, 1e-9);
}

TEST(Horovod, BeforeCollectivesRankZeroSendsEveryResponseToEveryRank) {
  // 3 ranks, 2 tensors of one pass, there at 10 s. 1 + 6 x 2 + 6 x 3 = 31 s until rank 0 can answer; then 2 x 4 + 1 s
  // before each response. One response: 31 + 9 + 5 s. Two: 31 + 9 + 9 + 3 s, the first of 2 s beside the second's
  // messages. The pass begins within an idle one, 1 + 2 x 2 and 9 s.
  HorovodSettings old = settings(64_B, 0_s);
  old.profile.negotiation = Negotiation::point_to_point;
  old.control = {1_s, 3_s, 2_s, 4_s};
  const Job job{{{"b", 2_B, 10_s, 10_s}, {"a", 3_B, 10_s, 10_s}}, 10_s, 0_s};
  Bench one(job, 3, old);
  const double together = one.simulation.run_iteration().duration.si();
  EXPECT_GE(together, 10 + 31 + 9 + 5);
  EXPECT_LE(together, 10 + 31 + 9 + 5 + 14);
  old.profile.fusion_threshold = 0_B;
  Bench two(job, 3, old);
  EXPECT_NEAR(two.simulation.run_iteration().duration.si(), together + 4 + 3, 1e-9);
  // One in a pass each, the second one there when the first pass is under way: 1 + 4 x 2 + 3 x 3 = 18 s until rank 0
  // can answer, 9 s for the answer, and 9 s to say that the first pass is over: with the last 3 s 66 s from the same
  // beginning.
  Bench after({{{"b", 2_B, 10_s, 10_s}, {"a", 3_B, 25_s, 25_s}}, 25_s, 0_s}, 3, old);
  EXPECT_NEAR(after.simulation.run_iteration().duration.si(), together - 45 + 66, 1e-9);
}

TEST(Horovod, AThreadThatWaitsForDataNegotiatesNothingMeanwhile) {
  // All is announced at 1 s, c a second before the others. Waiting for c's data until 10 s, the thread then takes b and
  // a together; one that goes on has negotiated b and a long before their data, too, but not fused with c.
  const Job job{{{"c", 2_B, 1_s, 10_s}, {"b", 3_B, 2_s, 20_s}, {"a", 4_B, 3_s, 30_s}}, 30_s, 0_s};
  HorovodSettings waits = settings(64_B, 0_s);
  Bench waiting(job, 2, waits);
  EXPECT_NEAR(waiting.simulation.run_iteration().duration.si(), 30 + 7, 1e-9);
  EXPECT_THAT(waiting.clock.sizes, testing::ElementsAre(2_B, 7_B));
  waits.profile.waits_for_data = false;
  Bench going_on(job, 2, waits);
  EXPECT_NEAR(going_on.simulation.run_iteration().duration.si(), 34, 1e-9);
  EXPECT_THAT(going_on.clock.sizes, testing::ElementsAre(2_B, 3_B, 4_B));
}

TEST(Horovod, EveryTensorIsCopiedByAKernelOfItsOwnUntilTheyAreBatched) {
  // Two tensors: in and out by two kernels of 1 s each, or by one.
  Job job{{{"b", 2_B, 10_s, 10_s}, {"a", 3_B, 10_s, 10_s}}, 10_s, 0_s};
  HorovodSettings each = settings(64_B, 0_s);
  each.coder.start = 1_s;
  Bench alone(job, 2, each);
  EXPECT_NEAR(alone.simulation.run_iteration().duration.si(), 10 + 2 + 5 + 2, 1e-9);
  each.profile.batched_copies = true;
  Bench batched(job, 2, each);
  EXPECT_NEAR(batched.simulation.run_iteration().duration.si(), 10 + 1 + 5 + 1, 1e-9);
}

TEST(Horovod, TheHierarchicalAllreduceHoldsTheThreadUntilItsPartIsBackOnTheDevice) {
  // Nodes of 2, 256 elements of 4 bytes, a second per byte: 1024 s of reduce-scatter, half of that to the host, as much
  // by MPI, half back; then 1024 s of allgather. The thread takes up the second response after 10 + 1024 + 3 x 512 s,
  // and the stream has it once the allgather is over.
  HorovodSettings levels = settings(0_B, 0_s);
  levels.profile.hierarchical_allreduce = true;
  levels.ranks_per_node = 2;
  levels.hierarchy = {true, 1_Bps};
  const double one = 1024 + 3 * 512 + 1024;
  Bench bench({{{"b", 1024_B, 10_s, 10_s}, {"a", 1024_B, 10_s, 10_s}}, 10_s, 0_s}, 4, levels);
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 10 + 2 * one, 1e-6);
  EXPECT_THAT(bench.clock.sizes, testing::ElementsAre(1024_B, 512_B, 1024_B, 1024_B, 512_B, 1024_B));
  // A fused buffer is filled up to 64 elements for each rank of a node: 3 bytes become 512.
  levels.profile.fusion_threshold = 64_B;
  Bench fused({{{"b", 1_B, 10_s, 10_s}, {"a", 2_B, 10_s, 10_s}}, 10_s, 0_s}, 4, levels);
  fused.simulation.run_iteration();
  EXPECT_THAT(fused.clock.sizes, testing::ElementsAre(512_B, 256_B, 512_B));
  // What is announced meanwhile waits for the thread, and is fused.
  levels.profile.fusion_threshold = 4096_B;
  Bench later({{{"c", 1024_B, 10_s, 10_s}, {"b", 1024_B, 11_s, 11_s}, {"a", 1024_B, 12_s, 12_s}}, 12_s, 0_s}, 4,
              levels);
  later.simulation.run_iteration();
  EXPECT_THAT(later.clock.sizes, testing::ElementsAre(1024_B, 512_B, 1024_B, 2048_B, 1024_B, 2048_B));
}

/// The parts of a hierarchical allreduce are ordinary collectives of a node's ranks, and of one rank of every node.
TEST(Horovod, TheHierarchicalAllreduceMeetsInNodesAndAcrossThem) {
  HorovodSettings levels = settings(0_B, 0_s);
  levels.profile.hierarchical_allreduce = true;
  levels.ranks_per_node = 2;
  const auto asked = [&](bool homogeneous) {
    levels.hierarchy = {homogeneous, 1_Bps};
    Bench bench({{{"a", 1024_B, 10_s, 10_s}}, 10_s, 0_s}, 4, levels);
    bench.simulation.run_iteration();
    std::vector<std::tuple<Operation, Group, bool>> all;
    for (const Collective& each : bench.simulation.asked)
      all.emplace_back(each.operation, each.group, each.hierarchical);
    return all;
  };
  EXPECT_THAT(asked(true), testing::ElementsAre(std::tuple(Operation::reduce_scatter, Group::node, false),
                                                std::tuple(Operation::allreduce, Group::across, false),
                                                std::tuple(Operation::allgather, Group::node, false)));
  EXPECT_THAT(asked(false), testing::ElementsAre(std::tuple(Operation::allreduce, Group::all, true)));
}

TEST(Horovod, NodesOfUnequalSizeReduceAllThroughOneRankEach) {
  HorovodSettings levels = settings(0_B, 0_s);
  levels.profile.hierarchical_allreduce = true;
  levels.ranks_per_node = 2;
  levels.hierarchy = {false, 1_Bps};
  Bench bench({{{"a", 8_B, 10_s, 10_s}}, 10_s, 0_s}, 3, levels);
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 10 + 3 * 8, 1e-9);
  EXPECT_THAT(bench.clock.sizes, testing::ElementsAre(8_B));
}

TEST(Horovod, TheSlowestRankHoldsUpAll) {
  Job job = three_gradients();
  Variability variability(4, 0, 0, 1);
  variability.slow_down(2, 0.5);
  SecondPerByte clock;
  Horovod strategy(job, 4, settings(0_B, 0_s), nullptr);
  test::Simulation simulation(job, variability, strategy, clock, 4, 0_s, nullptr);
  EXPECT_NEAR(simulation.run_iteration().duration.si(), 45 + 4, 1e-9);
}

TEST(Horovod, AGroupTravelsTogetherOnceItsLastTensorIsAnnounced) {
  // Two groups of the parameters a, b, c as the model has them: {a, b} and {c}. c: 10 to 12; b waits for a: 30 to 37.
  HorovodSettings grouped = settings(64_B, 0_s);
  grouped.groups = 2;
  Bench bench(three_gradients(), 2, grouped);
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 30 + 7, 1e-9);
  EXPECT_THAT(bench.clock.sizes, testing::ElementsAre(2_B, 7_B));
}

TEST(Horovod, GroupsOfOnePassFuseUnlessThatIsDisabled) {
  // c alone and {b, a}, all announced at 10 s.
  Job job{{{"c", 2_B, 10_s, 10_s}, {"b", 3_B, 10_s, 10_s}, {"a", 4_B, 10_s, 10_s}}, 10_s, 0_s};
  HorovodSettings grouped = settings(64_B, 0_s);
  grouped.groups = 2;
  Bench together(job, 2, grouped);
  together.simulation.run_iteration();
  EXPECT_THAT(together.clock.sizes, testing::ElementsAre(9_B));
  grouped.profile.fuses_groups = false;
  Bench apart(job, 2, grouped);
  apart.simulation.run_iteration();
  EXPECT_THAT(apart.clock.sizes, testing::ElementsAre(2_B, 7_B));
}

TEST(Horovod, AdasumAddsItsProductsAndItsCombining) {
  // 4 ranks: two rounds, of 1 and 2 messages; 5/2 and 5/4 of 8 bytes through memory of 10 bytes per second.
  const AdasumSite site{4, 1, 7_s, 10_Bps};
  const double expected = 3 * 7 + (20.0 + 10.0) / 10;
  EXPECT_NEAR(adasum_time(site, 8_B).si(), expected, 1e-12);
  EXPECT_EQ(adasum_time({1, 1, 7_s, 10_Bps}, 8_B), 0_s);
  // Nodes of 2 sum up first: one round, over all 4 ranks, on half of the data.
  EXPECT_NEAR(adasum_time({4, 2, 7_s, 10_Bps}, 8_B).si(), 2 * 7 + 10.0 / 10, 1e-12);
  HorovodSettings combining = settings(64_B, 0_s);
  combining.adasum = site;
  Bench bench({{{"a", 8_B, 10_s, 10_s}}, 10_s, 0_s}, 4, combining);
  EXPECT_NEAR(bench.simulation.run_iteration().duration.si(), 10 + 8 + expected, 1e-9);
}

TEST(Horovod, TheTimelineShowsHorovodsOwnActivities) {
  Job job{{{"b", 2_B, 1_s, 10_s}, {"a", 3_B, 1_s, 20_s}}, 20_s, 0_s};
  Timeline timeline(1000);
  Bench bench(job, 2, settings(64_B, 0_s), &timeline);
  bench.simulation.run_iteration();
  std::vector<std::string> of_b;
  for (const Span& span : timeline.spans()) {
    if (span.lane == "b") of_b.push_back(span.activity);
  }
  EXPECT_THAT(of_b, testing::ElementsAre("NEGOTIATE_ALLREDUCE", "WAIT_FOR_DATA", "WAIT_FOR_OTHER_TENSOR_DATA", "QUEUE",
                                         "MEMCPY_IN_FUSION_BUFFER", "NCCL_ALLREDUCE", "MEMCPY_OUT_FUSION_BUFFER"));
  // Both are announced in one pass and ready with a, after 20 s; only then they wait for the network.
  const auto queued = std::ranges::find(timeline.spans(), "QUEUE", &Span::activity);
  EXPECT_NEAR(queued->start.si(), 20, 1e-9);
  std::vector<std::string> marks;
  for (const Instant& instant : timeline.instants()) marks.push_back(instant.lane + ":" + instant.activity);
  EXPECT_THAT(marks, testing::UnorderedElementsAre(":CYCLE_START", "b:0", "b:1", "a:0", "a:1"));
}

TEST(TrainingRun, TheBreakdownSumsToTheIteration) {
  Job job = three_gradients();
  const Variability variability(8, 0.05, 0.01, 3);
  SecondPerByte clock;
  Horovod strategy(job, 8, settings(4_B, 1_s), nullptr);
  test::Simulation simulation(job, variability, strategy, clock, 8, 0_s, nullptr);
  const TrainingRun run = run_training(simulation.trainer(), job, {20, 2});
  EXPECT_NEAR(run.breakdown.total() / run.iteration, 1, 1e-12);
  EXPECT_EQ(run.durations.size(), 20U);
  EXPECT_GT(run.breakdown.straggler, 0_s);
  double collectives = 0;
  for (const auto& [collective, count] : run.collectives) collectives += count;
  EXPECT_NEAR(collectives, static_cast<double>(clock.sizes.size()) / 22,
              0.2);  // of an iteration, those before it among them
}

}}  // namespace farandole::horovod_test
