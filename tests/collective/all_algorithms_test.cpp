// Every row of the catalogue, proved symbolically and on numbers.
#include <ostream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "collective/proof.hpp"
#include "collective/specification.hpp"

namespace farandole {

void PrintTo(const Algorithm& row, std::ostream* out) {
  *out << name(row.operation) << " " << row.name;
}

}  // namespace farandole

namespace farandole::all_algorithms_test { namespace {

constexpr std::uint64_t seed = 20170815;

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

std::string row_name(const testing::TestParamInfo<Algorithm>& info) {
  return name(info.param.operation) + "_" + info.param.name;
}

std::vector<Algorithm> rows() {
  return {algorithms().begin(), algorithms().end()};
}

TEST_P(EveryAlgorithm, IsProvedForOneToThirtyThreeRanks) {
  for (int n = 1; n <= 33; ++n) EXPECT_EQ(disprove(GetParam().build(n)), std::nullopt) << n << " ranks";
}

TEST_P(EveryAlgorithm, IsRightOnNumbersForSizesThatDoNotDivideEvenly) {
  for (int n = 1; n <= 33; n += n < 9 ? 1 : 4) {
    for (const int size : {0, 1, 7, 97}) {
      EXPECT_EQ(disprove_numerically(GetParam().build(n), size, seed), std::nullopt) << n << " ranks, size " << size;
    }
  }
}

TEST_P(EveryAlgorithm, IsProvedForEveryRootOfUpToNineRanks) {
  for (int n = 2; n <= 9; ++n) {
    for (int root = 1; root < n; ++root) {
      const Schedule schedule = GetParam().build({n, root});
      EXPECT_EQ(schedule.root, root);
      EXPECT_EQ(disprove(schedule), std::nullopt) << n << " ranks, root " << root;
      EXPECT_EQ(disprove_numerically(schedule, 23, seed), std::nullopt) << n << " ranks, root " << root;
    }
  }
}

TEST_P(EveryAlgorithm, IsProvedForEveryNodeSizeAndSegmentCount) {
  for (int n = 2; n <= 13; ++n) {
    for (int k = 1; k <= n + 1; ++k) {
      Shape shape(n);
      shape.ranks_per_node = k;
      shape.segments = k;
      EXPECT_EQ(disprove(GetParam().build(shape)), std::nullopt) << n << " ranks, " << k << " per node";
    }
  }
}

TEST_P(EveryAlgorithm, OfOneRankSendsNothing) {
  EXPECT_TRUE(GetParam().build(1).phases.empty());
}

TEST_P(EveryAlgorithm, NamesItsOperationAndItself) {
  const Schedule schedule = GetParam().build(6);
  EXPECT_EQ(schedule.operation, GetParam().operation);
  EXPECT_EQ(schedule.algorithm, GetParam().name);
}

TEST_P(EveryAlgorithm, HasAtMostAFewTransfersPerRankInEveryPhase) {
  const int n = 1000;
  for (const Phase& phase : GetParam().build(n).phases) {
    EXPECT_LE(phase.transfers.size(), 4U * n) << phase.name;
    EXPECT_LE(phase.bundle.size(), static_cast<std::size_t>(n)) << phase.name;
  }
}

/// A schedule that misses any one transfer must be refused: each is needed, or the algorithm sends too much.
TEST_P(EveryAlgorithm, IsRefusedWithoutAnyOneOfItsTransfers) {
  for (const int n : {4, 7}) {
    const Schedule whole = GetParam().build(n);
    for (std::size_t p = 0; p < whole.phases.size(); ++p) {
      // Ranks that passed blocks on in the scatter get them once more, as in MPICH.
      if (whole.algorithm == "scatter_doubling" && whole.phases[p].name != "scatter") continue;
      for (std::size_t t = 0; t < whole.phases[p].transfers.size(); ++t) {
        // The ring of a broadcast feeds its root too, which needs nothing.
        if (whole.operation == Operation::broadcast && whole.phases[p].transfers[t].to == whole.root) continue;
        Schedule broken = whole;
        broken.phases[p].transfers.erase(broken.phases[p].transfers.begin() + static_cast<std::ptrdiff_t>(t));
        const auto fault = disprove(broken);
        ASSERT_TRUE(fault) << n << " ranks, phase " << p << ", transfer " << t;
        EXPECT_NE(fault->find("chunk "), std::string::npos) << *fault;
        EXPECT_NE(fault->find("rank "), std::string::npos) << *fault;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Collective, EveryAlgorithm, testing::ValuesIn(rows()), row_name);

std::vector<double> random_weights(const Algorithm& row, int n) {
  const bool is_alltoall = row.operation == Operation::alltoall;
  const auto count = static_cast<std::size_t>(is_alltoall ? n * n : n);
  auto weights = *rc::gen::container<std::vector<double>>(
      count, rc::gen::map(rc::gen::inRange(0, 20), [](int w) { return static_cast<double>(w); }));
  weights.front() += 1;
  return weights;
}

bool has_unequal_contributions(Operation operation) {
  return operation == Operation::allgather || operation == Operation::alltoall || operation == Operation::gather ||
         operation == Operation::scatter || operation == Operation::reduce_scatter;
}

RC_GTEST_PROP(AnyAlgorithm, IsRightForRandomRanksSizesRootsNodesAndSegments, ()) {
  const Algorithm row = *rc::gen::elementOf(rows());
  Shape shape(*rc::gen::inRange(1, 24));
  shape.root = *rc::gen::inRange(0, shape.ranks);
  shape.ranks_per_node = *rc::gen::inRange(1, 9);
  shape.segments = *rc::gen::inRange(0, 6);
  if (has_unequal_contributions(row.operation) && *rc::gen::arbitrary<bool>()) {
    shape.weights = random_weights(row, shape.ranks);
  }
  const Schedule schedule = row.build(shape);
  RC_ASSERT(disprove(schedule) == std::nullopt);
  RC_ASSERT(disprove_numerically(schedule, *rc::gen::inRange(0, 300), *rc::gen::arbitrary<std::uint64_t>()) ==
            std::nullopt);
}

TEST(Algorithms, AreFoundByOperationAndName) {
  for (const Algorithm& row : algorithms()) EXPECT_EQ(find_algorithm(row.operation, row.name), &row);
  EXPECT_EQ(find_algorithm(Operation::alltoall, "ring"), nullptr);
  for (const std::string& operation : operation_names()) {
    EXPECT_FALSE(algorithm_names(*find_operation(operation)).empty()) << operation;
  }
}

TEST(Algorithms, RefuseWeightsThatDoNotFit) {
  Shape shape(4);
  shape.weights = {1, 2, 3};
  EXPECT_THROW(find_algorithm(Operation::allgather, "ring")->build(shape), std::invalid_argument);
  EXPECT_THROW(find_algorithm(Operation::allreduce, "ring")->build(shape), std::invalid_argument);
}

}}  // namespace farandole::all_algorithms_test
