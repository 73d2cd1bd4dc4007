// The measuring loop, on ranks in memory.
#include "backend/bench.hpp"

#include <gmock/gmock.h>

#include "backend/memory_ranks.hpp"

namespace farandole::bench_test { namespace {

std::vector<MeasuredPoint> measured(const BenchRequest& request, int ranks) {
  std::vector<MeasuredPoint> points;
  test::on_every_rank(ranks, [&](MemoryEndpoint& endpoint) {
    test::MemorySession session(endpoint);
    auto own = bench(session, "memory", request);
    if (endpoint.rank() == 0) points = std::move(own);
  });
  return points;
}

BenchRequest small_request() {
  BenchRequest request;
  request.sizes = {Bytes(8), Bytes(4096)};
  request.warmup = 1;
  request.repetitions = 3;
  return request;
}

/// algorithm bandwidth = bytes / time; bus bandwidth of an allreduce = that times 2 (n-1)/n.
TEST(Bench, ReportsTheMedianOfItsRepetitionsAndTheBandwidthsOfNcclTests) {
  const auto request = bench_requests(Operation::allreduce, "ring", small_request()).at(0);
  const auto points = measured(request, 4);
  ASSERT_EQ(points.size(), 2U);
  for (const MeasuredPoint& point : points) {
    ASSERT_EQ(point.repetitions.size(), 3U);
    auto sorted = point.repetitions;
    std::ranges::sort(sorted);
    EXPECT_EQ(point.collective.time, sorted[1]);
    EXPECT_DOUBLE_EQ(point.collective.algorithm_bandwidth.si(), point.collective.bytes.si() / sorted[1].si());
    EXPECT_DOUBLE_EQ(point.collective.bus_bandwidth.si(), 1.5 * point.collective.algorithm_bandwidth.si());
    EXPECT_EQ(point.wrong, 0);
  }
}

TEST(Bench, OffersEveryAlgorithmOfTheCatalogueAndTheLibrarysOwn) {
  const auto requests = bench_requests(Operation::broadcast, "all", {});
  EXPECT_EQ(requests.size(), algorithm_names(Operation::broadcast).size() + 1);
  EXPECT_EQ(requests.back().algorithm, "library");
  EXPECT_TRUE(bench_requests(Operation::parameter_server, "library", {}).empty());
  EXPECT_TRUE(bench_requests(Operation::allreduce, "bruck", {}).empty());
}

TEST(Bench, CutsShardsIntoKeysOfTheAlgorithmsSize) {
  BenchRequest request = bench_requests(Operation::parameter_server, "dedicated_keys", small_request()).at(0);
  request.sizes = {1_MiB};
  EXPECT_EQ(measured(request, 3).at(0).wrong, 0);
}

}}  // namespace farandole::bench_test
