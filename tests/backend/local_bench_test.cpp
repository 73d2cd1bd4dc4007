// What ranks do alone with their data, measured and checked; and what they tell one another of their machines.
#include <gmock/gmock.h>

#include "backend/bench.hpp"
#include "backend/host_description.hpp"
#include "backend/memory_ranks.hpp"

namespace farandole::local_bench_test { namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<MeasuredPoint> measured(LocalOperation operation) {
  std::vector<MeasuredPoint> points;
  test::on_every_rank(2, [&](MemoryEndpoint& endpoint) {
    test::MemorySession session(endpoint);
    auto own = bench(session, "memory", LocalRequest{operation, {Bytes(8), 4_KiB}, 2, 3});
    if (endpoint.rank() == 0) points = std::move(own);
  });
  return points;
}

/// Five additions of one array of ones leave fives; a copy leaves ones.
TEST(LocalBench, AddsAndCopiesAndChecksTheResult) {
  for (const LocalOperation operation : {LocalOperation::add, LocalOperation::copy}) {
    const auto points = measured(operation);
    ASSERT_EQ(points.size(), 2U);
    for (const MeasuredPoint& point : points) {
      EXPECT_EQ(point.collective.operation, name(operation));
      EXPECT_EQ(point.wrong, 0);
      EXPECT_EQ(point.repetitions.size(), 3U);
      EXPECT_DOUBLE_EQ(point.collective.algorithm_bandwidth.si(),
                       point.collective.bytes.si() / point.collective.time.si());
    }
  }
}

TEST(LocalBench, KnowsItsNames) {
  EXPECT_EQ(find_local_operation("add"), LocalOperation::add);
  EXPECT_EQ(find_local_operation("copy"), LocalOperation::copy);
  EXPECT_FALSE(find_local_operation("move"));
}

TEST(HostPlace, AddsCopiesAndClears) {
  HostPlace place;
  const Room sums = place.allocate(3);
  EXPECT_THAT(sums.span(), Each(0.0F));
  const std::vector<float> numbers{1, 2, 3};
  place.upload(numbers, sums.span());
  place.add(numbers, sums.span());
  std::vector<float> result(3);
  place.download(sums.span(), result);
  EXPECT_THAT(result, ElementsAre(2.0F, 4.0F, 6.0F));
}

TEST(HostDescription, TellsEveryoneEverybodysText) {
  test::on_every_rank(3, [](Endpoint& endpoint) {
    const std::string own = "rank " + std::to_string(endpoint.rank()) + std::string(200, 'x');
    const auto texts = everyones_text(endpoint, own);
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(texts[static_cast<std::size_t>(rank)],
                ("rank " + std::to_string(rank) + std::string(200, 'x')).substr(0, 160));
    }
    EXPECT_THAT(nodes_by_host(endpoint), Each(0));
  });
}

}}  // namespace farandole::local_bench_test
