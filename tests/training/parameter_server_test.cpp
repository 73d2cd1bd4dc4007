// Parameter servers against schedules worked out by hand, at all fidelities: stars of nodes with 10 bytes per second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "platform/host_route.hpp"
#include "training/server_kit.hpp"
#include "training/servers/server_network.hpp"

namespace farandole::parameter_server_test { namespace {

using test::in_order;
using test::star;
using test::two_layers;
using Bench = test::ServerBench;

constexpr Fidelity all_fidelities[] = {Fidelity::analytic, Fidelity::flow, Fidelity::message};

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
    EXPECT_TRUE(bench.run(fidelity).provenance.folded);
  }
}

TEST(ParameterServer, FoldedAndUnfoldedAgree) {
  Bench bench;
  bench.workers = 5;
  bench.plan.servers = 2;
  const double folded = bench.seconds(Fidelity::flow);
  bench.folding = FoldingPolicy::never;
  EXPECT_NEAR(bench.seconds(Fidelity::flow), folded, 1e-9 * folded);
  EXPECT_FALSE(bench.run(Fidelity::flow).provenance.folded);
}

TEST(ParameterServer, AServerOfItsOwnRateIsSlowerThanItsLinks) {
  // 5 bytes per second instead of 10, for one worker: pulls 20, 30; forward to 32; backward 35, 39; pushes 45, 65.
  Bench bench;
  bench.plan.rate = 5_Bps;
  for (const Fidelity fidelity : all_fidelities) EXPECT_NEAR(bench.seconds(fidelity), 65, 1e-9) << name(fidelity);
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

/// Of 10 s for an iteration, and 15 s for the slowest, iteration n begins after 10 (n - 1) s where the slowest has
/// ended all but 2 before it: n - floor(10 (n - 1) / 15) is at most 2 up to the fourth, the fifth waits.
TEST(ParameterServer, AStalenessBoundIsNotFeltBeforeItIsReached) {
  const auto seconds = [](ServerMode mode, int iterations) {  // and one before
    Bench bench;
    bench.workers = 2;
    bench.rate = 1e12_Bps;
    bench.slowdown = 0.5;
    bench.plan.mode = mode;
    bench.plan.bound = 2;
    return bench.run(Fidelity::message, iterations).iteration.si();
  };
  EXPECT_NEAR(seconds(ServerMode::stale_synchronous, 3), seconds(ServerMode::asynchronous, 3), 1e-9);
  EXPECT_GT(seconds(ServerMode::stale_synchronous, 4), seconds(ServerMode::asynchronous, 4) + 0.1);
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

/// 3 workers on nodes of their own, servers on the next two: each worker sends all pushes and receives all pulls, each
/// server receives its pushes of all workers and sends its pulls to them.
TEST(ServerNetwork, CarriesEveryPushAndPullOverTheLinksOfItsWorkerAndItsServer) {
  const Platform platform = star(5, 10_Bps, 0_s);
  ServerPlan plan;
  plan.servers = 2;
  std::vector<Shard> shards(3);
  shards[0].pull = 10_B;
  shards[0].push = 20_B;
  shards[1].server = 1;
  shards[1].pull = 30_B;
  shards[1].push = 40_B;
  shards[2].pull = 1_B;
  shards[2].push = 2_B;
  const auto bytes = server_link_bytes(platform, in_order(3), plan, shards);
  const auto sent = [&](int node) {
    return bytes.at(static_cast<std::size_t>(platform.route(node, (node + 1) % 5).links.front()));
  };
  const auto received = [&](int node) {
    return bytes.at(static_cast<std::size_t>(platform.route((node + 1) % 5, node).links.back()));
  };
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(sent(worker), 62_B);
    EXPECT_EQ(received(worker), 41_B);
  }
  EXPECT_EQ(received(3), 3 * 22_B);
  EXPECT_EQ(sent(3), 3 * 11_B);
  EXPECT_EQ(received(4), 3 * 40_B);
  EXPECT_EQ(sent(4), 3 * 30_B);
}

TEST(ServerNetwork, CarriesWorkersThatNothingTellsApartAsOne) {
  const Platform platform = star(6, 10_Bps, 0_s);
  ServerPlan plan;
  plan.servers = 2;
  const ServerNetwork own = make_server_network(platform, in_order(4), {4, 5}, plan, Carried::together);
  ASSERT_EQ(own.groups.size(), 1U);
  EXPECT_EQ(own.groups[0].workers, 4);
  // On the nodes of workers 0 and 1 the servers tell these apart from the others, and from each other.
  const ServerNetwork shared = make_server_network(platform, in_order(4), {0, 1}, plan, Carried::together);
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

}}  // namespace farandole::parameter_server_test
