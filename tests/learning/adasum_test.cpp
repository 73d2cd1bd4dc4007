// Adasum on numbers: orthogonal gradients add up, equal ones average, and the schedule makes what the recursion does.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms/exchanges.hpp"
#include "learning/exchange.hpp"

namespace farandole::adasum_test { namespace {

/// The definition: neighbours by pairs, then these by pairs, ...
Vector recursion(std::vector<Vector> vectors) {
  while (vectors.size() > 1) {
    std::vector<Vector> next;
    for (std::size_t i = 0; i < vectors.size(); i += 2) {
      const Vector& a = vectors[i];
      const Vector& b = vectors[i + 1];
      next.emplace_back((1 - a.dot(b) / (2 * a.squaredNorm())) * a + (1 - a.dot(b) / (2 * b.squaredNorm())) * b);
    }
    vectors = std::move(next);
  }
  return vectors.front();
}

template <class... Vectors>
std::vector<Vector> list(const Vectors&... vectors) {
  std::vector<Vector> result;
  (result.emplace_back(vectors), ...);
  return result;
}

std::vector<Vector> combined(std::vector<Vector> vectors) {
  adasum(adasum_allreduce(static_cast<int>(vectors.size())), 1, vectors);
  return vectors;
}

TEST(Adasum, AddsUpWhatIsOrthogonalAndAveragesWhatIsParallel) {
  const Vector x = Vector::Unit(5, 0);
  const Vector y = Vector::Unit(5, 3);
  for (const Vector& got : combined(list(x, 3 * y))) EXPECT_LT((got - (x + 3 * y)).norm(), 1e-12);
  for (const Vector& got : combined(list(2 * x, 2 * x, 2 * x, 2 * x))) EXPECT_LT((got - 2 * x).norm(), 1e-12);
}

TEST(Adasum, TakesAGradientOfNothingAsItIs) {
  const Vector x = Vector::Unit(3, 1);
  for (const Vector& got : combined(list(Vector::Zero(3), x))) EXPECT_EQ(got, x);
}

TEST(Adasum, SumsUpNodesFirst) {
  Shape shape(4);
  shape.ranks_per_node = 2;
  std::vector<Vector> vectors;
  for (int rank = 0; rank < 4; ++rank) vectors.emplace_back(Vector::LinSpaced(7, rank, 3.0 * rank + 1));
  const Vector expected = recursion(list(vectors[0] + vectors[1], vectors[2] + vectors[3]));
  adasum(hierarchical_adasum_allreduce(shape), 2, vectors);
  for (const Vector& got : vectors) EXPECT_LT((got - expected).norm(), 1e-12 * expected.norm());
}

RC_GTEST_PROP(Adasum, OverItsScheduleIsTheRecursionOnEveryRank, ()) {
  const int ranks = 1 << *rc::gen::inRange(0, 5);
  const int length = *rc::gen::inRange(1, 40);
  std::vector<Vector> vectors;
  for (int rank = 0; rank < ranks; ++rank) {
    Vector values(length);
    for (double& value : values) value = *rc::gen::inRange(1, 1000) * 1e-2;
    vectors.push_back(values);
  }
  const Vector expected = recursion(vectors);
  for (const Vector& got : combined(vectors)) RC_ASSERT((got - expected).norm() <= 1e-10 * (1 + expected.norm()));
}

}}  // namespace farandole::adasum_test
