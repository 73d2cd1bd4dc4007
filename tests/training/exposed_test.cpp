// Exposed communication of sharded strategies by operation, in closed form.
#include <gtest/gtest.h>

#include "training/sharded_kit.hpp"
#include "training/strategy_kit.hpp"

namespace farandole::exposed_test { namespace {

using test::fsdp;
using test::full;
using test::g;
using test::N;
using test::r;
using test::StrategyBench;
using test::uniform;
using test::zero;

struct Exposed {
  double allgather;
  double reduce_scatter;
  double allreduce;
};

void expect_exposed(Iteration iteration, const Exposed& expected) {
  EXPECT_NEAR(iteration.exposed[Operation::allgather].si(), expected.allgather, 1e-9);
  EXPECT_NEAR(iteration.exposed[Operation::reduce_scatter].si(), expected.reduce_scatter, 1e-9);
  EXPECT_NEAR(iteration.exposed[Operation::allreduce].si(), expected.allreduce, 1e-9);
  EXPECT_NEAR(iteration.exposed_communication.si(), expected.allgather + expected.reduce_scatter + expected.allreduce,
              1e-9);
}

Iteration iteration_by(const Job& job, const std::string& strategy, int ranks = 2) {
  return StrategyBench(job, ranks, strategy).simulation.run_iteration();
}

TEST(Exposed, ThatComputesLongerAreTheFirstAllgatherAndTheLastReduceScatter) {
  expect_exposed(iteration_by(uniform(10, 20), full), {g, r, 0});
  // Without prefetch every unit's but the first forward
  expect_exposed(iteration_by(uniform(10, 20), fsdp(R"("backward_prefetch": "NO_PREFETCH")")), {N * g, N * r, 0});
}

TEST(Exposed, ThatCommunicatesLongerIsWhatNoComputationHides) {
  // f <= g, b <= g, b <= r. Forward: N allgathers, of which all but the first hide f. Backward: the first hides f of
  // the last unit, the second b, the others nothing; reduce-scatters hide b each, but for the last.
  constexpr double f = 2;
  constexpr double b = 4;
  expect_exposed(iteration_by(uniform(f, b), full), {2 * N * g - N * f - b, N * r - (N - 1) * b, 0});
}

TEST(Exposed, InGroupsHasAnAllreduceOfItsOwn) {
  const std::string text = fsdp(R"("sharding_strategy": "HYBRID_SHARD", "shard_group": 2)");
  expect_exposed(iteration_by(uniform(10, 20), text, 4), {g, r, r / 2});
}

TEST(Exposed, OfZeroAreAllAllgathersAndTheLastBucket) {
  // g = r = 4
  expect_exposed(iteration_by(uniform(10, 20), zero(R"("stage": 1)")), {N * 4, N * 4, 0});
  expect_exposed(iteration_by(uniform(10, 20), zero(R"("stage": 1, "reduce_scatter": false)")), {N * 4, 0, N * 4});
  expect_exposed(iteration_by(uniform(10, 20), zero(R"("overlap_params": true, "reduce_bucket_size": 2)")), {4, 4, 0});
}

}}  // namespace farandole::exposed_test
