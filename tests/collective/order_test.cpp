// In which order algorithms of powers of two go to near and far ranks, and what of it passes between nodes.
#include <algorithm>
#include <bit>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"

namespace farandole::order_test { namespace {

Schedule built(Operation operation, const char* name, const Shape& shape) {
  return find_algorithm(operation, name)->build(shape);
}

/// How far the transfers of each phase go, where all go equally far; else -1.
std::vector<int> distances(const Schedule& schedule) {
  std::vector<int> result;
  for (const Phase& phase : schedule.phases) {
    const int first = std::abs(phase.transfers.front().from - phase.transfers.front().to);
    const bool alike = std::ranges::all_of(
        phase.transfers, [&](const Transfer& each) { return std::abs(each.from - each.to) == first; });
    result.push_back(alike ? first : -1);
  }
  return result;
}

/// The share of the array that a rank sends altogether, and that leaves a node of k ranks: the most of any.
double most_sent(const Schedule& schedule, int k = 0) {
  std::map<int, double> sent;
  for (const Phase& phase : schedule.phases) {
    for (const Transfer& each : phase.transfers) {
      if (k == 0) sent[each.from] += each.count;
      if (k > 0 && each.from / k != each.to / k) sent[each.from / k] += each.count;
    }
  }
  double most = 0;
  for (const auto& [who, count] : sent) most = std::max(most, count);
  return most / static_cast<double>(schedule.chunks);
}

int drawn_power(int least, int most) {
  return 1 << *rc::gen::inRange(least, most + 1);
}

RC_GTEST_PROP(Rabenseifner, InEitherOrderSendsTwiceTheDataButItsShareInTwiceLogRounds, ()) {
  // 2 log2 n rounds, 2 (n-1)/n M out of every rank.
  const int n = drawn_power(1, 10);
  for (const char* order : {"halving_doubling", "doubling_halving", "doubling_halving_split"}) {
    const Schedule schedule = built(Operation::allreduce, order, n);
    RC_ASSERT(rounds(schedule) == 2 * std::countr_zero(static_cast<unsigned>(n)));
    RC_ASSERT(std::abs(most_sent(schedule) - 2.0 * (n - 1) / n) < 1e-12);
  }
}

RC_GTEST_PROP(Rabenseifner, SendsThroughANodesLinkKTimesLessIfItsLargestHalvesGoToTheNearest, ()) {
  // Of n ranks, k on a node, out of each node: 2 k M (1 - k/n) at halving distance, 2 M (1 - k/n) at doubling.
  const int k = drawn_power(0, 4);
  const int n = k * drawn_power(0, 5);
  const double doubling = 2 * (1 - static_cast<double>(k) / n);
  RC_ASSERT(std::abs(most_sent(built(Operation::allreduce, "halving_doubling", n), k) - k * doubling) < 1e-12);
  RC_ASSERT(std::abs(most_sent(built(Operation::allreduce, "doubling_halving", n), k) - doubling) < 1e-12);
}

TEST(Rabenseifner, GoesToTheFarthestFirstOrToTheNearestAsItsNameSays) {
  EXPECT_EQ(distances(built(Operation::allreduce, "halving_doubling", 16)), (std::vector{8, 4, 2, 1, 1, 2, 4, 8}));
  EXPECT_EQ(distances(built(Operation::allreduce, "doubling_halving", 16)), (std::vector{1, 2, 4, 8, 8, 4, 2, 1}));
  EXPECT_EQ(distances(built(Operation::reduce, "doubling_gather", 16)), (std::vector{1, 2, 4, 8, 8, 4, 2, 1}));
  EXPECT_EQ(distances(built(Operation::reduce_scatter, "recursive_halving", 16)), (std::vector{8, 4, 2, 1}));
}

/// What MPIR_Allreduce_intra_reduce_scatter_allgather sends at each mask of its reduce-scatter: first block and count.
struct Sent {
  int to;
  int first;
  int count;
};
std::vector<Sent> sent_by_mpich(int newrank, int pof2, int rem) {
  std::vector<Sent> result;
  int send_idx = 0;
  int recv_idx = 0;
  int last_idx = pof2;
  for (int mask = 1; mask < pof2;) {
    const int newdst = newrank ^ mask;
    const int dst = newdst < rem ? newdst * 2 + 1 : newdst + rem;
    if (newrank < newdst) {
      send_idx = recv_idx + pof2 / (mask * 2);
      result.push_back({dst, send_idx, last_idx - send_idx});
    } else {
      recv_idx = send_idx + pof2 / (mask * 2);
      result.push_back({dst, send_idx, recv_idx - send_idx});
    }
    send_idx = recv_idx;
    mask <<= 1;
    if (mask < pof2) last_idx = recv_idx + pof2 / mask;
  }
  return result;
}

RC_GTEST_PROP(DoublingHalving, SendsTheBlocksThatMpichsLoopSends, ()) {
  const int n = *rc::gen::inRange(2, 70);
  const int pof2 = static_cast<int>(std::bit_floor(static_cast<unsigned>(n)));
  const int rem = n - pof2;
  const Schedule schedule = built(Operation::allreduce, "doubling_halving", n);
  for (int rank = 0; rank < n; ++rank) {
    if (rank < 2 * rem && rank % 2 == 0) continue;
    std::size_t phase = rem > 0 ? 1 : 0;
    for (const Sent& expected : sent_by_mpich(rank < 2 * rem ? rank / 2 : rank - rem, pof2, rem)) {
      for (const Transfer& each : schedule.phases.at(phase).transfers) {
        if (each.from != rank) continue;
        RC_ASSERT(each.to == expected.to);
        RC_ASSERT(each.chunk == expected.first);
        RC_ASSERT(each.count == expected.count);
      }
      ++phase;
    }
  }
}

TEST(DoublingHalving, OfOtherNumbersThanPowersOfTwoFoldsAsItsLibraryDoes) {
  // MPICH: even ranks below 2 (n - p) hand all over to odd ones, and get the sum back: 2 rounds more.
  const Schedule mpich = built(Operation::allreduce, "doubling_halving", 6);
  ASSERT_EQ(rounds(mpich), 2 * 2 + 2);
  EXPECT_EQ(mpich.phases[0].transfers.size(), 2U);
  EXPECT_EQ(mpich.phases[0].transfers[1].from, 2);
  EXPECT_EQ(mpich.phases[0].transfers[1].to, 3);
  EXPECT_EQ(mpich.phases[0].transfers[1].count, mpich.chunks);
  // Open MPI: pairs exchange halves, then odd ranks hand their half over to even ones: 3 rounds more.
  const Schedule open_mpi = built(Operation::allreduce, "doubling_halving_split", 6);
  ASSERT_EQ(rounds(open_mpi), 2 * 2 + 3);
  EXPECT_EQ(open_mpi.phases[0].transfers.size(), 4U);
  for (const Transfer& each : open_mpi.phases[0].transfers) EXPECT_EQ(2 * each.count, open_mpi.chunks);
  for (const Transfer& each : open_mpi.phases[1].transfers) EXPECT_EQ(each.from, each.to + 1);
  for (const Transfer& each : open_mpi.phases.back().transfers) EXPECT_EQ(each.from + 1, each.to);
}

RC_GTEST_PROP(BinomialBroadcast, HasTheTreeOfMpichOrOfOpenMpi, ()) {
  // From the root on: MPICH's parent has the lowest bit cleared, Open MPI's (build_bmtree) the highest.
  const int n = *rc::gen::inRange(2, 200);
  const int root = *rc::gen::inRange(0, n);
  for (const char* order : {"binomial", "binomial_nearest_first"}) {
    const Schedule schedule = built(Operation::broadcast, order, {n, root});
    RC_ASSERT(rounds(schedule) == std::bit_width(static_cast<unsigned>(n - 1)));
    for (const Phase& phase : schedule.phases) {
      for (const Transfer& each : phase.transfers) {
        const auto member = static_cast<unsigned>((each.to - root + n) % n);
        const unsigned bit = order == std::string("binomial") ? member & -member : std::bit_floor(member);
        RC_ASSERT((each.from - root + n) % n == static_cast<int>(member - bit));
      }
    }
  }
}

RC_GTEST_PROP(BinomialBroadcast, CrossesBetweenNodesOncePerNodeOrOncePerRank, ()) {
  // n ranks, k on a node: n/k - 1 messages between nodes, farthest first; n - k, nearest first.
  const int k = drawn_power(0, 4);
  const int n = k * drawn_power(0, 5);
  const auto crossing = [&](const char* order) {
    int count = 0;
    for (const Phase& phase : built(Operation::broadcast, order, n).phases) {
      for (const Transfer& each : phase.transfers) count += each.from / k != each.to / k ? 1 : 0;
    }
    return count;
  };
  RC_ASSERT(crossing("binomial") == n / k - 1);
  RC_ASSERT(crossing("binomial_nearest_first") == n - k);
}

TEST(BinomialBroadcast, GoesToTheFarthestOrToTheNearestFirst) {
  EXPECT_EQ(distances(built(Operation::broadcast, "binomial", 16)), (std::vector{8, 4, 2, 1}));
  EXPECT_EQ(distances(built(Operation::broadcast, "binomial_nearest_first", 16)), (std::vector{1, 2, 4, 8}));
  EXPECT_EQ(distances(built(Operation::reduce, "binomial", 16)), (std::vector{1, 2, 4, 8}));
  EXPECT_EQ(distances(built(Operation::reduce, "binomial_farthest_first", 16)), (std::vector{8, 4, 2, 1}));
}

RC_GTEST_PROP(Butterfly, SendsAnArrayInARoundMoreThanItHasHalves, ()) {
  // log2 n halvings of (n-1)/n M, then a block to the rank whose number has the bits reversed.
  const int n = drawn_power(2, 10);
  const Schedule schedule = built(Operation::reduce_scatter, "butterfly", n);
  RC_ASSERT(rounds(schedule) == std::countr_zero(static_cast<unsigned>(n)) + 1);
  RC_ASSERT(std::abs(most_sent(schedule) - 1) < 1e-12);
}

}}  // namespace farandole::order_test
