// The places at which MPI libraries change their algorithm.
#include "simulate/library/mpi_decision.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "simulate/releases_kit.hpp"

namespace farandole::mpi_decision_test { namespace {

/// A total of which a rank's block, where the library counts that, is `counted`.
Bytes total(Operation operation, int ranks, double counted) {
  const bool counts_a_block = operation == Operation::allgather || operation == Operation::alltoall;
  return Bytes(counts_a_block ? counted * ranks : counted);
}

std::string chosen(Operation operation, int ranks, double counted) {
  return test::openmpi_choice(operation, ranks, total(operation, ranks, counted));
}

constexpr std::array operations{Operation::allreduce, Operation::alltoall, Operation::allgather,
                                Operation::broadcast, Operation::reduce,   Operation::reduce_scatter};

/// Open MPI's limits, and where a rank has an element of four bytes, are even; those of its tables are powers of two:
/// between 2^k - 2 and 2^k - 1 nothing changes, nor between 2^k and 2^k + 1.
TEST(OpenMpiDecisions, ChangeAtPowersOfTwoBytes) {
  for (const Operation operation : operations) {
    for (int ranks = 2; ranks <= 2100; ranks += ranks < 130 ? 1 : 61) {
      for (int k = 2; k <= 24; ++k) {
        const double limit = std::exp2(k);
        EXPECT_EQ(chosen(operation, ranks, limit), chosen(operation, ranks, limit + 1)) << ranks << " ranks, " << limit;
        EXPECT_EQ(chosen(operation, ranks, limit - 1), chosen(operation, ranks, limit - 2))
            << ranks << " ranks, " << limit;
      }
    }
  }
}

/// From three ranks on rows end before powers of two. Of others than these three operations it depends on the number
/// of ranks, too, which algorithm can work.
TEST(OpenMpiDecisions, ChangeAtPowersOfTwoRanks) {
  for (const Operation operation : {Operation::alltoall, Operation::broadcast, Operation::reduce_scatter}) {
    for (int ranks = 4; ranks <= 4096; ranks *= 2) {
      for (int k = 0; k <= 24; ++k) {
        const double size = std::exp2(k);
        EXPECT_EQ(chosen(operation, ranks, size), chosen(operation, ranks + 1, size)) << ranks << " ranks, " << size;
        const int fewer = std::max(ranks - 2, 3);
        EXPECT_EQ(chosen(operation, ranks - 1, size), chosen(operation, fewer, size)) << ranks << " ranks, " << size;
      }
    }
  }
}

/// Without what an algorithm becomes on other numbers of ranks than powers of two.
std::string on_powers_of_two(Operation operation, const std::string& algorithm) {
  if (algorithm == "doubling_halving_split") return "doubling_halving";
  return operation == Operation::allgather && algorithm == "bruck" ? "recursive_doubling" : algorithm;
}

/// Of all operations, where every rank has some elements: with fewer, algorithms hand on to others.
TEST(OpenMpiDecisions, OfLargeSizesChangeAtPowersOfTwoRanksWhateverTheOperation) {
  for (const Operation operation : operations) {
    for (int ranks = 4; ranks <= 4096; ranks *= 2) {
      for (int k = 0; k <= 16; ++k) {
        const double size = std::exp2(k) * (operation == Operation::allgather ? 1 : 8 * ranks);
        const auto at = [&](int n) { return on_powers_of_two(operation, chosen(operation, n, size)); };
        EXPECT_EQ(at(ranks), at(ranks + 1)) << name(operation) << ' ' << ranks << " ranks, " << size;
      }
    }
  }
}

/// The last rows begin at 4096 ranks at the latest.
TEST(OpenMpiDecisions, OfMoreThan4096RanksAreAllTheSame) {
  for (const Operation operation : operations) {
    for (int k = 0; k <= 16; ++k) {
      const double size = std::exp2(k) * (operation == Operation::allgather ? 1 : 8 * 8192);
      EXPECT_EQ(chosen(operation, 4096, size), chosen(operation, 8192, size)) << name(operation) << ' ' << size;
    }
  }
}

}}  // namespace farandole::mpi_decision_test
