// Messages between two ranks, measured on ranks in memory.
#include <gtest/gtest.h>

#include "backend/bench.hpp"
#include "backend/memory_ranks.hpp"

namespace farandole::pair_bench_test { namespace {

std::vector<MeasuredPoint> measured(PairOperation operation, int ranks, int peer) {
  std::vector<MeasuredPoint> points;
  test::on_every_rank(ranks, [&](MemoryEndpoint& endpoint) {
    test::MemorySession session(endpoint);
    auto own = bench(session, "memory", {operation, {Bytes(8), 4_KiB}, peer, 1, 3});
    if (endpoint.rank() == 0) points = std::move(own);
  });
  return points;
}

TEST(PairBench, SendsThereAndBackAndChecksWhatCame) {
  for (const PairOperation operation : {PairOperation::pingpong, PairOperation::exchange}) {
    const auto points = measured(operation, 3, 2);
    ASSERT_EQ(points.size(), 2U);
    for (const MeasuredPoint& point : points) {
      EXPECT_EQ(point.collective.operation, name(operation));
      EXPECT_EQ(point.collective.ranks, 2);
      EXPECT_EQ(point.nodes, 1);
      EXPECT_EQ(point.wrong, 0);
      EXPECT_EQ(point.repetitions.size(), 3U);
      EXPECT_DOUBLE_EQ(point.collective.algorithm_bandwidth.si(),
                       point.collective.bytes.si() / point.collective.time.si());
    }
  }
}

TEST(PairBench, KnowsItsNames) {
  EXPECT_EQ(find_pair_operation("pingpong"), PairOperation::pingpong);
  EXPECT_EQ(find_pair_operation("exchange"), PairOperation::exchange);
  EXPECT_FALSE(find_pair_operation("allreduce"));
}

}}  // namespace farandole::pair_bench_test
