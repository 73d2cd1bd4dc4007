// Weights kept in parts: gathered they are whole, and a step on parts is a step on the whole.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "learning/exchange.hpp"

namespace farandole::sharding_test { namespace {

Schedule schedule(Operation operation, int ranks) {
  return find_algorithm(operation, "ring")->build(Shape(ranks));
}

WeightSharding sharding(int shards, int replicas) {
  WeightSharding result;
  result.shards = shards;
  if (shards > 1) result.gather = schedule(Operation::allgather, shards);
  if (shards > 1) result.scatter = schedule(Operation::reduce_scatter, shards);
  if (replicas > 1) result.replicate = schedule(Operation::allreduce, replicas);
  return result;
}

/// w - rate * (sum of all gradients), on every worker, whatever the groups and however long the weights are.
RC_GTEST_PROP(Shards, AreTheWholeAndDescendAsTheWhole, ()) {
  const int shards = *rc::gen::inRange(1, 6);
  const int replicas = *rc::gen::inRange(1, 5);
  const int length = *rc::gen::inRange(1, 40);
  const int workers = shards * replicas;
  const Vector start = Vector::LinSpaced(length, -1, 2);
  const WeightSharding own = sharding(shards, replicas);
  Shards kept(own, workers, start);
  for (const Vector& whole : kept.gathered()) RC_ASSERT(whole == start);
  std::vector<Vector> gradients;
  Vector sum = Vector::Zero(length);
  for (int worker = 0; worker < workers; ++worker) {
    gradients.emplace_back(Vector::LinSpaced(length, worker, 3 - worker));
    sum += gradients.back();
  }
  kept.descend(0.25, gradients);
  RC_ASSERT((kept.kept() - (start - 0.25 * sum)).norm() < 1e-12 * (1 + sum.norm()));
  for (const Vector& whole : kept.gathered()) RC_ASSERT(whole == kept.kept());
}

TEST(Shards, AreGatheredInTheTypeOfTheParametersAndKeptInFull) {
  WeightSharding own = sharding(2, 1);
  own.parameters = GradientType::bf16;
  const Vector start = Vector::Constant(3, 1 + 0x1p-10);
  const Shards kept(own, 2, start);
  EXPECT_TRUE(kept.gathered().front() == Vector(Vector::Constant(3, 1)));
  EXPECT_TRUE(kept.kept() == start);
}

}}  // namespace farandole::sharding_test
