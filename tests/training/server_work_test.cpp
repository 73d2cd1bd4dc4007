// What parameter servers pay for adding gradients up and updating variables, by hand: a host's memory of 100 bytes per
// second behind a fast network.
#include <gtest/gtest.h>

#include "training/server_kit.hpp"

namespace farandole::server_work_test { namespace {

using test::in_order;
using test::star;
using Bench = test::ServerBench;

constexpr Fidelity all_fidelities[] = {Fidelity::analytic, Fidelity::flow, Fidelity::message};

TEST(ServerWork, AServerReadsEveryGradientAndWritesTheirSumThenUpdates) {
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

TEST(ServerWork, AnOptimizerMovesItsStateToo) {
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

TEST(ServerWork, WithoutABarrierEveryPushIsAppliedByItself) {
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

TEST(ServerWork, ServersOfANodeShareItsMemory) {
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

TEST(ServerWork, AServerOnTheProcessorThatTrainsTakesItsTime) {
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

TEST(ServerWork, OneWorkerWithAllServersIsWhatWorkersAreMeasuredAgainst) {
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

}}  // namespace farandole::server_work_test
