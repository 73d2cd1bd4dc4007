// Parameter servers against schedules worked out by hand, at all fidelities: stars of nodes with 10 bytes per second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "platform/host_route.hpp"
#include "simulate/platform_kit.hpp"
#include "simulate/servers/server_network.hpp"
#include "simulate/servers/server_run.hpp"

namespace farandole {
namespace {

using test::in_order;
using test::star;

constexpr Fidelity all_fidelities[] = {Fidelity::analytic, Fidelity::flow, Fidelity::message};

/// Two layers: forward 1 s and 2 s, backward 4 s and 3 s; 100 bytes in the first, 50 in the second.
Job two_layers() {
  Job job;
  job.gradients = {{"second", 50_B, 6_s, 6_s}, {"first", 100_B, 10_s, 10_s}};
  job.backward_end = 10_s;
  job.layers = {{1_s, 4_s}, {2_s, 3_s}};
  job.variables = {{"first", 100_B, 0, 1}, {"second", 50_B, 1, 0}};
  return job;
}

struct Bench {
  Job job = two_layers();
  ServerPlan plan{};
  int workers = 1;
  BytesPerSecond rate = 10_Bps;
  Seconds latency{};
  double slowdown = 0;  // of worker 0
  FoldingPolicy folding = FoldingPolicy::where_exact;
  BytesPerSecond memory = BytesPerSecond::infinity();
  int slots = 1;
  bool shares_processor = false;

  [[nodiscard]] TrainingRun run(Fidelity fidelity, int iterations = 3) const {
    const Platform platform = star(workers + (plan.colocated ? 0 : plan.servers), rate, latency);
    const Placement placement = in_order(workers);
    Variability variability(workers, 0, 0, 1);
    variability.slow_down(0, slowdown);
    return run_with_servers({job, plan, platform, placement, variability, BytesPerSecond::infinity(), fidelity, folding,
                             nullptr, memory, slots, shares_processor},
                            {iterations, 1});
  }
  [[nodiscard]] double seconds(Fidelity fidelity) const { return run(fidelity).iteration.si(); }
};

TEST(ParameterServer, OneWorkerPullsComputesAndPushesLayerByLayer) {
  // Pulls: first 0 to 10, second 10 to 15. Forward: 10 to 11, 15 to 17. Backward: second 17 to 20, first 20 to 24.
  // Pushes: second 20 to 25; first would start at 24, waits for the connection: 25 to 35.
  Bench bench;
  for (const Fidelity fidelity : all_fidelities) {
    const TrainingRun run = bench.run(fidelity);
    EXPECT_NEAR(run.iteration.si(), 35, 1e-9) << name(fidelity);
    EXPECT_NEAR(run.breakdown.compute.si(), 10, 1e-9);
    EXPECT_NEAR(run.breakdown.exposed_communication.si(), 25, 1e-9);
    EXPECT_NEAR(run.breakdown.total() / run.iteration, 1, 1e-12);
  }
}

TEST(ParameterServer, EveryMessagePaysItsLatencyButDoesNotHoldUpTheNext) {
  // First pulled at 10 + 2, second at 15 + 2: forward 12 to 13, 17 to 19; pushes 22 to 27 and 27 to 37, and 2 more.
  Bench bench;
  bench.latency = 2_s;
  for (const Fidelity fidelity : all_fidelities) EXPECT_NEAR(bench.seconds(fidelity), 39, 1e-9) << name(fidelity);
}

TEST(ParameterServer, TheServersLinkIsSharedByAllItsClients) {
  // Four workers on one server: everything on the wire takes four times as long. Pulls 40 and 60; forward to 41, 62;
  // backward to 65, 69; pushes 65 to 85 and 85 to 125.
  Bench bench;
  bench.workers = 4;
  for (const Fidelity fidelity : all_fidelities) {
    EXPECT_NEAR(bench.seconds(fidelity), 125, 1e-9) << name(fidelity);
    EXPECT_TRUE(bench.run(fidelity).folded);
  }
}

TEST(ParameterServer, FoldedAndUnfoldedAgree) {
  Bench bench;
  bench.workers = 5;
  bench.plan.servers = 2;
  const double folded = bench.seconds(Fidelity::flow);
  bench.folding = FoldingPolicy::never;
  EXPECT_NEAR(bench.seconds(Fidelity::flow), folded, 1e-9 * folded);
  EXPECT_FALSE(bench.run(Fidelity::flow).folded);
}

TEST(ParameterServer, AServerOfItsOwnRateIsSlowerThanItsLinks) {
  // 5 bytes per second instead of 10, for one worker: pulls 20, 30; forward to 32; backward 35, 39; pushes 45, 65.
  Bench bench;
  bench.plan.rate = 5_Bps;
  for (const Fidelity fidelity : all_fidelities) EXPECT_NEAR(bench.seconds(fidelity), 65, 1e-9) << name(fidelity);
}

TEST(ParameterServer, AServerReadsEveryGradientAndWritesTheirSumThenUpdates) {
  // A memory of 100 bytes per second and a fast network; pushes at 6 and 10 s. Two workers: reads 2, writes 1, momentum
  // moves 5: 8 x 50 bytes from 6 to 10, 8 x 100 from 10 to 18.
  Bench bench;
  bench.workers = 2;
  bench.rate = 1e9_Bps;
  bench.memory = 100_Bps;
  for (const Fidelity fidelity : all_fidelities) {
    const TrainingRun run = bench.run(fidelity);
    EXPECT_NEAR(run.iteration.si(), 18, 1e-5) << name(fidelity);
    EXPECT_NEAR(run.breakdown.other.si(), 8, 1e-5) << name(fidelity);
    EXPECT_NEAR(run.breakdown.compute.si(), 10, 1e-5) << name(fidelity);
    EXPECT_NEAR(run.breakdown.straggler.si(), 0, 1e-5) << name(fidelity);
  }
}

TEST(ParameterServer, AnOptimizerMovesItsStateToo) {
  // One worker, nothing to add: 3, 5 and 7 times 100 bytes from 10 s on.
  Bench bench;
  bench.rate = 1e9_Bps;
  bench.memory = 100_Bps;
  for (const ServerMode mode : {ServerMode::synchronous, ServerMode::asynchronous}) {
    bench.plan.mode = mode;
    for (const int slots : {0, 1, 2}) {
      bench.slots = slots;
      EXPECT_NEAR(bench.seconds(Fidelity::flow), 10 + 3 + 2 * slots, 1e-5) << slots;
    }
  }
}

TEST(ParameterServer, WithoutABarrierEveryPushIsAppliedByItself) {
  // Two workers in step: 5 x (50 + 100) bytes of each, at 100 bytes per second from 6 s on without a pause: 15 s.
  Bench bench;
  bench.workers = 2;
  bench.rate = 1e9_Bps;
  bench.memory = 100_Bps;
  bench.plan.mode = ServerMode::asynchronous;
  for (const FoldingPolicy folding : {FoldingPolicy::where_exact, FoldingPolicy::never}) {
    bench.folding = folding;
    for (const Fidelity fidelity : all_fidelities) {
      const TrainingRun run = bench.run(fidelity, 5);
      EXPECT_NEAR(run.iteration.si(), 21, 1e-5) << name(fidelity);
      EXPECT_NEAR(run.mean_staleness, 1, 1e-9) << name(fidelity);
      EXPECT_NEAR(run.breakdown.total() / run.iteration, 1, 1e-12);
    }
  }
}

TEST(ParameterServer, ServersOfANodeShareItsMemory) {
  // Two servers, one variable each, as one: on one node the memory does both one after the other or both at once.
  Bench bench;
  bench.workers = 1;
  bench.rate = 1e9_Bps;
  bench.memory = 100_Bps;
  bench.plan.servers = 2;
  bench.plan.placement = "split";
  bench.plan.colocated = true;
  EXPECT_NEAR(bench.seconds(Fidelity::flow), 15, 1e-5);
  bench.plan.colocated = false;
  EXPECT_NEAR(bench.seconds(Fidelity::flow), 12.5, 1e-5);
}

TEST(ParameterServer, AServerOnTheProcessorThatTrainsTakesItsTime) {
  // 5 x 150 bytes at 100 per second: 7.5 s more of compute, spread over it.
  Bench bench;
  bench.plan.colocated = true;
  bench.memory = 100_Bps;
  bench.shares_processor = true;
  const TrainingRun run = bench.run(Fidelity::flow);
  EXPECT_NEAR(run.iteration.si(), 17.5, 1e-5);
  EXPECT_NEAR(run.breakdown.compute.si(), 10, 1e-5);
  EXPECT_NEAR(run.breakdown.other.si(), 7.5, 1e-5);
}

TEST(ParameterServer, OneWorkerWithAllServersIsWhatWorkersAreMeasuredAgainst) {
  Bench bench;
  bench.rate = 1e9_Bps;
  bench.memory = 100_Bps;
  bench.workers = 3;
  const Platform platform = star(4, bench.rate, 0_s);
  const Placement placement = in_order(3);
  const Variability variability(3, 0, 0, 1);
  const ServerSite site{bench.job,      bench.plan,
                        platform,       placement,
                        variability,    BytesPerSecond::infinity(),
                        Fidelity::flow, FoldingPolicy::where_exact,
                        nullptr,        bench.memory};
  EXPECT_NEAR(iteration_of_one_worker(site, 1).si(), 15, 1e-5);
  EXPECT_NEAR(iteration_of_one_worker(site, 2).si(), 25, 1e-5);
}

TEST(ParameterServer, WholeVariablesMakeAHotServerAndSplitOnesDoNot) {
  // Two workers, two servers. Round robin: 100 bytes on one server, 50 on the other. Split: 75 each.
  Bench bench;
  bench.workers = 2;
  bench.plan.servers = 2;
  bench.plan.placement = "split";
  const double split = bench.seconds(Fidelity::flow);
  bench.plan.placement = "round_robin";
  EXPECT_GT(bench.seconds(Fidelity::flow), split);
  const auto shards = shards_of(bench.job, bench.plan, BytesPerSecond::infinity());
  ASSERT_EQ(shards.size(), 2U);
  EXPECT_EQ(shards[0].server, 0);
  EXPECT_EQ(shards[1].server, 1);
}

TEST(ParameterServer, RoundRobinCountsVariablesThatAreNotTrained) {
  Bench bench;
  bench.plan.servers = 2;
  bench.job.variables.insert(bench.job.variables.begin() + 1, {"first.running_mean", 8_B, 0, -1});
  const auto shards = shards_of(bench.job, bench.plan, BytesPerSecond::infinity());
  ASSERT_EQ(shards.size(), 3U);
  EXPECT_EQ(shards[2].variable, "second");
  EXPECT_EQ(shards[2].server, 0);
  EXPECT_EQ(shards[1].pull, 0_B);
  EXPECT_EQ(shards[1].push, 8_B);
}

TEST(ParameterServer, AServerOnTheOnlyWorkersNodeCostsNothing) {
  Bench bench;
  bench.plan.colocated = true;
  for (const Fidelity fidelity : all_fidelities) EXPECT_NEAR(bench.seconds(fidelity), 10, 1e-9) << name(fidelity);
}

TEST(ParameterServer, EmptyVariablesCostNothing) {
  Bench bench;
  bench.workers = 8;
  bench.latency = 1_s;
  bench.job.variables.clear();
  for (const Fidelity fidelity : all_fidelities) EXPECT_NEAR(bench.seconds(fidelity), 10, 1e-9) << name(fidelity);
}

TEST(ParameterServer, HalfPrecisionHalvesPullsAndPushes) {
  // Pulls 5 and 7.5; forward to 6, 9.5; backward 12.5, 16.5; pushes 12.5 to 15, 16.5 to 21.5.
  Bench bench;
  bench.plan.compression.kind = Compression::fp16;
  EXPECT_NEAR(bench.seconds(Fidelity::flow), 21.5, 1e-9);
}

TEST(ParameterServer, WithABarrierTheSlowestWorkerHoldsUpAll) {
  // On a fast network only compute counts: 10 s, half as much again for one of three.
  Bench bench;
  bench.workers = 3;
  bench.rate = 1e9_Bps;
  bench.slowdown = 0.5;
  for (const Fidelity fidelity : all_fidelities) {
    const TrainingRun run = bench.run(fidelity);
    EXPECT_NEAR(run.iteration.si(), 15, 1e-5) << name(fidelity);
    EXPECT_NEAR(run.breakdown.straggler.si(), 5, 1e-5) << name(fidelity);
  }
}

TEST(ParameterServer, WithoutABarrierWorkersGoTheirOwnPace) {
  // Steps of 15, 10 and 10 s: 1/15 + 2/10 steps per second over three workers is one per 3 / (4/15) = 11.25 s.
  Bench bench;
  bench.workers = 3;
  bench.rate = 1e9_Bps;
  bench.slowdown = 0.5;
  bench.plan.mode = ServerMode::asynchronous;
  for (const Fidelity fidelity : all_fidelities) {
    const TrainingRun training = bench.run(fidelity, 20);
    EXPECT_NEAR(training.iteration.si(), 11.25, 0.01) << name(fidelity);
    EXPECT_NEAR(training.mean_staleness, 2, 0.1) << name(fidelity);
  }
}

TEST(ParameterServer, AStalenessBoundKeepsFastWorkersNearTheSlowest) {
  // In the long run everyone goes at the pace of the slowest, 15 s; the others wait.
  Bench bench;
  bench.workers = 3;
  bench.rate = 1e9_Bps;
  bench.slowdown = 0.5;
  bench.plan.mode = ServerMode::stale_synchronous;
  bench.plan.bound = 2;
  const TrainingRun run = bench.run(Fidelity::message, 200);
  EXPECT_NEAR(run.iteration.si(), 15, 0.15);
  EXPECT_GT(run.breakdown.straggler, 4_s);
}

TEST(DistributedReplicated, AVariableIsFetchedOnceAllHavePushedIt) {
  // Forward 3, backward 6 and 10. One worker: second pushed 6 to 11, fetched 11 to 16; first pushed 11 to 21 (the
  // connection is busy until 11), fetched 21 to 31.
  Bench bench;
  bench.plan.replicated = true;
  for (const Fidelity fidelity : all_fidelities) EXPECT_NEAR(bench.seconds(fidelity), 31, 1e-9) << name(fidelity);
}

TEST(DistributedReplicated, ANodesRanksPushOnce) {
  // Two nodes of two devices on buses of 20 and NICs of 10 bytes per second, one server; the bus of a node carries a
  // gradient of each device at once, so 20 per second: second 6 to 8.5, first 10 to 15.
  Platform platform = test::two_level(3, 2, 20_Bps, 10_Bps);
  Placement placement;
  placement.device_of_rank = {0, 1, 2, 3};
  placement.nodes_used = 2;
  ServerPlan plan;
  plan.replicated = true;
  plan.aggregate_on_node = true;
  const Job job = two_layers();
  const Variability variability(4, 0, 0, 1);
  // Over the server's link from two nodes: second 8.5 to 18.5, first 18.5 to 38.5; back 18.5 to 28.5, 38.5 to 58.5, and
  // over the bus 5 s more.
  const TrainingRun training =
      run_with_servers({job, plan, platform, placement, variability, BytesPerSecond::infinity(), Fidelity::flow,
                        FoldingPolicy::where_exact, nullptr},
                       {2, 0});
  EXPECT_NEAR(training.iteration.si(), 63.5, 1e-9);
}

TEST(ServerNetwork, CarriesWorkersThatNothingTellsApartAsOne) {
  const Platform platform = star(6, 10_Bps, 0_s);
  ServerPlan plan;
  plan.servers = 2;
  const ServerNetwork own = make_server_network(platform, in_order(4), {4, 5}, plan, true);
  ASSERT_EQ(own.groups.size(), 1U);
  EXPECT_EQ(own.groups[0].workers, 4);
  // On the nodes of workers 0 and 1 the servers tell these apart from the others, and from each other.
  const ServerNetwork shared = make_server_network(platform, in_order(4), {0, 1}, plan, true);
  EXPECT_EQ(shared.groups.size(), 3U);
}

TEST(HostRoute, IsTheDevicesWayWithoutTheNicOnItsOwnNode) {
  const Platform platform = test::two_level(2, 2, 20_Bps, 10_Bps);
  // Node 0 owns links 0 (nic up), 1 (nic down), 2, 3 (bus of device 0), 4, 5; node 1 those from 6 on.
  EXPECT_THAT(route_to_host(platform, 1, 0).links, testing::ElementsAre(4));
  EXPECT_THAT(route_from_host(platform, 0, 1).links, testing::ElementsAre(5));
  EXPECT_THAT(route_to_host(platform, 1, 1).links, testing::ElementsAre(4, 0, 7));
  EXPECT_THAT(route_from_host(platform, 1, 1).links, testing::ElementsAre(6, 1, 5));
  EXPECT_THAT(route_between_hosts(platform, 0, 1).links, testing::ElementsAre(0, 7));
  EXPECT_TRUE(route_between_hosts(platform, 1, 1).links.empty());
}

RC_GTEST_PROP(ParameterServer, MoreBandwidthIsNeverSlower, ()) {
  Bench bench;
  bench.workers = *rc::gen::inRange(1, 5);
  bench.plan.servers = *rc::gen::inRange(1, 4);
  bench.plan.replicated = *rc::gen::arbitrary<bool>();
  const auto fidelity = *rc::gen::element(Fidelity::analytic, Fidelity::flow);
  const double slow = bench.seconds(fidelity);
  bench.rate = 10_Bps * (1 + *rc::gen::inRange(1, 50) / 10.0);
  RC_ASSERT(bench.seconds(fidelity) <= slow * (1 + 1e-9));
}

RC_GTEST_PROP(ParameterServer, FidelitiesAgreeWhereOnlyServersAreBusy, ()) {
  // One server: what its link carries does not depend on how it is shared.
  Bench bench;
  bench.workers = *rc::gen::inRange(1, 9);
  bench.latency = Seconds(*rc::gen::inRange(0, 20) / 10.0);
  const double flow = bench.seconds(Fidelity::flow);
  RC_ASSERT(std::abs(bench.seconds(Fidelity::analytic) / flow - 1) < 1e-9);
  RC_ASSERT(std::abs(bench.seconds(Fidelity::message) / flow - 1) < 1e-9);
}

}  // namespace
}  // namespace farandole
