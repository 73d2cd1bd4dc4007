// Parameter servers at all fidelities against closed forms on a star.
//
// n ranks, s servers, w workers (n - s of them, or all n), each with M bytes; latency L, link rate B each way. A push
// or a pull ends when the busiest link has carried what it must: a server's, w shards of M / s (of itself none), or a
// worker's, M. So with everything in one message per shard
//   T = 2 (L + max(w / s, 1) M / B)        dedicated
//   T = 2 (L + (n - 1) / s M / B)          colocated
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/platform_kit.hpp"

namespace farandole::parameter_server_time_test { namespace {

using test::in_order;
using test::star;

constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};
constexpr double latency = 2e-6;
constexpr double rate = 1e9;
constexpr double size = 24e6;

Schedule built(const char* name, const Shape& shape) {
  return find_algorithm(Operation::parameter_server, name)->build(shape);
}

Shape shape_with(int ranks, int servers, int keys = 0) {
  Shape shape(ranks);
  shape.servers = servers;
  shape.segments = keys;
  return shape;
}

RankTimes finish(Fidelity fidelity, const Schedule& schedule, const RankTimes& start) {
  const Platform platform = star(schedule.ranks, BytesPerSecond(rate), Seconds(latency));
  return make_collective_clock(fidelity, RoutedSchedule(schedule, platform, in_order(schedule.ranks)))
      ->completion_times(Bytes(size), start);
}

/// At every fidelity.
void expect_time(const Schedule& schedule, double expected) {
  for (const Fidelity fidelity : all_fidelities) {
    const double time = finish(fidelity, schedule, all_at(schedule.ranks, 0_s)).maxCoeff();
    EXPECT_NEAR(time / expected, 1, 1e-9) << schedule.algorithm << ", " << schedule.ranks << " ranks, "
                                          << schedule.servers << " servers, " << name(fidelity);
  }
}

TEST(ParameterServerTime, OfOneServerIsAPushAndAPullOfEveryWorkersDataOverItsLink) {
  for (const int workers : {1, 2, 7, 16}) {
    expect_time(built("dedicated", shape_with(workers + 1, 1)), 2 * (latency + workers * size / rate));
  }
}

TEST(ParameterServerTime, OfSeveralDedicatedOnesIsSharedByThemUntilTheWorkersLinksAreFull) {
  for (const int servers : {2, 3, 4, 6, 8}) {
    for (const int workers : {2, 6, 12}) {
      const double share = std::max(static_cast<double>(workers) / servers, 1.0);
      expect_time(built("dedicated", shape_with(servers + workers, servers)), 2 * (latency + share * size / rate));
    }
  }
}

TEST(ParameterServerTime, OfAServerOnEveryRankIsThatOfADirectAllreduce) {
  // Every rank sends (n-1)/n of the data to the others as a worker, and as much as a server.
  for (const int n : {2, 3, 8, 12}) {
    expect_time(built("colocated", Shape(n)), 2 * (latency + (n - 1.0) / n * size / rate));
  }
}

TEST(ParameterServerTime, OfServersOnSomeRanksIsThatOfTheOtherRanksShardsOverAServersLink) {
  for (const int servers : {1, 2, 3, 4, 6}) {
    expect_time(built("colocated", shape_with(8, servers)), 2 * (latency + 7.0 / servers * size / rate));
  }
}

TEST(ParameterServerTime, InKeysUsesAServersLinkBothWaysAtOnce) {
  // T = (K + 1) (L + w / s M / (K B)): key k+1 comes in while key k goes out.
  for (const int keys : {2, 4, 12}) {
    expect_time(built("dedicated_keys", shape_with(10, 2, keys)), (keys + 1) * (latency + 4 * size / keys / rate));
  }
}

TEST(ParameterServerTime, InKeysOnEveryRankGainsNothingSinceLinksAreBusyBothWaysAnyway) {
  // T = (K + 1) L + 2 (n-1)/n M / B.
  expect_time(built("colocated", shape_with(6, 6, 4)), 5 * latency + 2 * 5.0 / 6 * size / rate);
}

TEST(ParameterServerTime, IsThatOfTheHottestShard) {
  // Shards of 3/4, 1/6 and 1/12: T = 2 (L + w 3/4 M / B).
  Shape shape = shape_with(9, 3);
  shape.shards = {{8, 1}, {2}, {0.5, 0.5}};
  expect_time(built("dedicated", shape), 2 * (latency + 6 * 0.75 * size / rate));
}

TEST(ParameterServerTime, OfAMessagePerTensorHasALatencyForEachTensorOfTheServer) {
  // Workers in step: T = 2 (tensors L + w M / B), one of the five being empty.
  Shape shape = shape_with(5, 1);
  shape.shards = {{8, 1, 0, 1, 2}};
  shape.message_per_tensor = true;
  expect_time(built("dedicated", shape), 2 * (4 * latency + 4 * size / rate));
}

TEST(ParameterServerTime, WaitsForTheLastWorker) {
  // The late worker pushes alone over the server's link; the flow levels count the others as if under way with it.
  RankTimes start = RankTimes::Zero(4);
  start[2] = 1;
  const Schedule schedule = built("dedicated", shape_with(4, 1));
  const double pull = latency + 3 * size / rate;
  EXPECT_NEAR(finish(Fidelity::message, schedule, start).maxCoeff(), 1 + latency + size / rate + pull, 1e-9);
  EXPECT_NEAR(finish(Fidelity::flow, schedule, start).maxCoeff(), 1 + pull + pull, 1e-9);
}

TEST(ParameterServerTime, IsTheSameFoldedAndNot) {
  for (const int keys : {0, 3}) {
    const RoutedSchedule routed(built("dedicated", shape_with(64, 1, keys)), star(64, BytesPerSecond(rate), 2_us),
                                in_order(64));
    for (const Fidelity fidelity : all_fidelities) {
      const auto timed = [&](FoldingPolicy policy) {
        const auto clock = make_collective_clock(fidelity, routed, policy);
        const Answer answer = clock->answer(Bytes(size), all_at(64, 0_s));
        EXPECT_EQ(answer.provenance.folded, policy == FoldingPolicy::where_exact) << name(fidelity);
        return answer.ends;
      };
      const RankTimes folded = timed(FoldingPolicy::where_exact);
      EXPECT_LT(((folded - timed(FoldingPolicy::never)) / folded).abs().maxCoeff(), 1e-12) << name(fidelity);
    }
  }
}

TEST(Bounds, OfParameterServersCountWhatTheyReceive) {
  const auto least = [](const char* name, int ranks, int servers) {
    const RoutedSchedule routed(built(name, shape_with(ranks, servers)), star(ranks, BytesPerSecond(rate), 2_us),
                                in_order(ranks));
    return bounds_of(routed).least_time(Bytes(size)).si();
  };
  EXPECT_NEAR(least("dedicated", 10, 2), 8.0 / 2 * size / rate, 1e-12);
  EXPECT_NEAR(least("colocated", 10, 2), 9.0 / 2 * size / rate, 1e-12);
  // With a server on every rank the average decides: 2 (n-1)/n.
  EXPECT_NEAR(least("colocated", 10, 10), 2 * 9.0 / 10 * size / rate, 1e-12);
}

RC_GTEST_PROP(ParameterServerTime, NeverBeatsItsBoundsHoweverItIsSetUp, ()) {
  const bool is_dedicated = *rc::gen::arbitrary<bool>();
  const int n = *rc::gen::inRange(2, 9);
  Shape shape = shape_with(n, *rc::gen::inRange(1, is_dedicated ? n : n + 1), *rc::gen::inRange(0, 4));
  if (*rc::gen::arbitrary<bool>()) {
    shape.shards.assign(static_cast<std::size_t>(shape.servers), {1, 5});
    // Some server has something: shares of nothing would leave the data nowhere.
    shape.shards.back() = {*rc::gen::inRange(shape.servers == 1 ? 1 : 0, 100) * 1.0};
    shape.message_per_tensor = shape.segments < 2 && *rc::gen::arbitrary<bool>();
  }
  const Schedule schedule = built(is_dedicated ? "dedicated" : "colocated", shape);
  RankTimes start(n);
  for (int rank = 0; rank < n; ++rank) start[rank] = *rc::gen::inRange(0, 100) * 1e-3;
  for (const Fidelity fidelity : all_fidelities) {
    RC_ASSERT((finish(fidelity, schedule, start) >= start).all());  // the clock throws where a bound is beaten
  }
}

}}  // namespace farandole::parameter_server_time_test
