// What a FluidNetwork promises, against times computed by hand. a is a latency, M a size, B a capacity.
#include "simulate/fluid_network.hpp"

#include <cmath>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/flows.hpp"

namespace farandole::fluid_network_test { namespace {

using support::Ends;
using support::ends_of;
using support::Flow;

class FluidNetworkOf : public testing::TestWithParam<NetworkSolver> {
 protected:
  static Ends play(const std::vector<FluidLink>& links, const std::vector<Flow>& flows) {
    return ends_of<FluidNetwork>(links, flows, GetParam());
  }
};

INSTANTIATE_TEST_SUITE_P(Solvers, FluidNetworkOf, testing::ValuesIn(support::solvers()),
                         [](const auto& solver) { return support::name_of(solver.param); });

MATCHER_P(CloseTo, expected, "") {
  *result_listener << "off by " << arg / expected - 1;
  return std::abs(arg / expected - 1) <= 1e-12;
}

TEST_P(FluidNetworkOf, AFlowAloneTakesItsLatencyAndItsSizeOverTheSmallestCapacity) {
  EXPECT_THAT(play({{1_GBps}, {100_MBps}, {2_GBps}}, {{{0, 1, 2}, 3_us, 1_MB}}),
              testing::ElementsAre(CloseTo(3e-6 + 1e6 / 1e8)));
}

TEST_P(FluidNetworkOf, SizesFromAByteToAGigabyteTakeTheirSizeOverTheCapacity) {
  for (double size = 1; size <= 1e9; size *= 10) {
    EXPECT_THAT(play({{25_Gbps}}, {{{0}, 2_us, Bytes(size)}}), testing::ElementsAre(CloseTo(2e-6 + size / 3.125e9)));
  }
}

TEST_P(FluidNetworkOf, ByteByByteAndAGigabyteAtOnceKeepTheirTimes) {
  // B / 2 each; the small one ends at 2 / B, the big one at (1e9 + 1) / B.
  EXPECT_THAT(play({{1_GBps}}, {{{0}, 0_s, 1_B}, {{0}, 0_s, 1_GB}}),
              testing::ElementsAre(CloseTo(2 / 1e9), CloseTo((1e9 + 1) / 1e9)));
}

TEST_P(FluidNetworkOf, TwoFlowsHalveALinkAndTheSurvivorGetsItWhole) {
  // M1 = 1e6, M2 = 3e6: t1 = M1 / (B / 2), t2 = (M1 + M2) / B.
  EXPECT_THAT(play({{1_GBps}}, {{{0}, 0_s, 1_MB}, {{0}, 0_s, 3_MB}}),
              testing::ElementsAre(CloseTo(2e6 / 1e9), CloseTo(4e6 / 1e9)));
}

TEST_P(FluidNetworkOf, AFlowOverTwoLinksGetsTheSmallerShareAndLeavesTheRest) {
  // B0 = 3e9 with f0, f1, f2; B1 = 5e8 with f2: r2 = 5e8, r0 = r1 = (3e9 - 5e8) / 2 = 1.25e9.
  EXPECT_THAT(play({{3_GBps}, {500_MBps}}, {{{0}, 0_s, 1250_MB}, {{0}, 0_s, 1250_MB}, {{0, 1}, 0_s, 500_MB}}),
              testing::Each(CloseTo(1.0)));
}

TEST_P(FluidNetworkOf, ALongFlowSharesEachOfItsLinksWithAShortOne) {
  // The line of n links: r_long = r_short = B / 2; then the long one, M = 3e6, has its last M - 1e6 at B.
  EXPECT_THAT(play({{1_GBps}, {1_GBps}, {1_GBps}},
                   {{{0}, 0_s, 1_MB}, {{1}, 0_s, 1_MB}, {{2}, 0_s, 1_MB}, {{0, 1, 2}, 0_s, 3_MB}}),
              testing::ElementsAre(CloseTo(2e-3), CloseTo(2e-3), CloseTo(2e-3), CloseTo(2e-3 + 2e6 / 1e9)));
}

TEST_P(FluidNetworkOf, ALinkListedTwiceCarriesTheFlowTwice) {
  // 2 r = B.
  EXPECT_THAT(play({{1_GBps}}, {{{0, 0}, 0_s, 1_MB}}), testing::ElementsAre(CloseTo(2e6 / 1e9)));
  // r1 = r2 = r, 2 r + r = B; when f2 (1e6) ends, f1 has 1e6 left at B / 2.
  EXPECT_THAT(play({{1_GBps}}, {{{0, 0}, 0_s, 2_MB}, {{0}, 0_s, 1_MB}}),
              testing::ElementsAre(CloseTo(3e6 / 1e9 + 1e6 / 5e8), CloseTo(3e6 / 1e9)));
}

TEST_P(FluidNetworkOf, ALateFlowTakesItsShareFromWhenItHasPaidItsLatency) {
  // f2 sends from 1 ms + 1 ms on: f1 (4e6) has 2e6 left then, t1 = 2 ms + 2 * 2e6 / B; f2 (3e6) 1e6 left, t2 = 7 ms.
  EXPECT_THAT(play({{1_GBps}}, {{{0}, 0_s, 4_MB}, {{0}, 1_ms, 3_MB, 1_ms}}),
              testing::ElementsAre(CloseTo(2e-3 + 4e6 / 1e9), CloseTo(7e-3)));
}

TEST_P(FluidNetworkOf, ACallComesAtItsTimeAndInTheOrderOfCalling) {
  FluidNetwork network(std::vector<FluidLink>{}, 1, GetParam());
  std::vector<std::pair<int, double>> calls;
  network.call_at(2_s, 1);
  network.call_at(1_s, 2);
  network.call_at(2_s, 3);
  network.run([&](int tag) {
    calls.emplace_back(tag, network.now().si());
    if (tag == 2) network.call_at(network.now(), 4);
  });
  EXPECT_THAT(calls, testing::ElementsAre(testing::Pair(2, 1.0), testing::Pair(4, 1.0), testing::Pair(1, 2.0),
                                          testing::Pair(3, 2.0)));
}

TEST_P(FluidNetworkOf, TimeStandsAtTheLastEndAfterARunAndGoesOnInTheNext) {
  FluidNetwork network(std::vector<FluidLink>{{1_GBps}}, 1, GetParam());
  const int route = network.add_route(std::vector<int>{0});
  const auto ignore = [](int) {};
  network.run(ignore);
  EXPECT_EQ(network.now(), 0_s);
  network.start(route, 1_us, 3_MB, 0);
  network.run(ignore);
  EXPECT_THAT(network.now().si(), CloseTo(1e-6 + 3e-3));
  network.start(route, 1_us, 3_MB, 0);
  network.run(ignore);
  EXPECT_THAT(network.now().si(), CloseTo(2e-6 + 6e-3));
}

TEST_P(FluidNetworkOf, ARingMessageByMessageTakesItsClosedForm) {
  // Rank i sends round k + 1 when it has sent and received round k: 2 (n - 1) (a + M / (n B)) for M divisible by n.
  const int n = 64;
  const double chunk = 1e8 / n;
  const Bytes bytes(chunk);
  const std::vector<FluidLink> links(2 * n, {25_Gbps});
  FluidNetwork network(links, 1, GetParam());
  std::vector<int> routes;
  for (int i = 0; i < n; ++i) routes.push_back(network.add_route(std::vector<int>{i, n + (i + 1) % n}));
  std::vector<int> missing(n, 2);
  std::vector<int> rounds(n, 2 * (n - 1));
  int messages = 0;
  const auto count_for = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (--missing[r] > 0) return;
    missing[r] += 2;
    if (--rounds[r] > 0) network.start(routes[r], 2_us, bytes, rank);
  };
  for (int i = 0; i < n; ++i) network.start(routes[static_cast<std::size_t>(i)], 2_us, bytes, i);
  network.run([&](int rank) {
    ++messages;
    count_for(rank);
    count_for((rank + 1) % n);
  });
  EXPECT_EQ(messages, 2 * (n - 1) * n);
  EXPECT_THAT(network.now().si(), CloseTo(2 * (n - 1) * (2e-6 + chunk / 3.125e9)));
}

TEST(FluidNetwork, NetworksFollowOneAnotherButDoNotMeet) {
  if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
  const std::vector<FluidLink> links = {{1_GBps}};
  for (int i = 0; i < 100; ++i) {
    const FluidNetwork network(links, 1, NetworkSolver::simgrid);
    EXPECT_THROW(FluidNetwork second(links, 1, NetworkSolver::simgrid), std::logic_error);
    EXPECT_NO_THROW(FluidNetwork(links, 1, NetworkSolver::own));
  }
}

TEST_P(FluidNetworkOf, WhatTheCallbackThrowsLeavesTheRunAndHarmsNothing) {
  {
    FluidNetwork network(std::vector<FluidLink>{{1_GBps}}, 1, GetParam());
    const int route = network.add_route(std::vector<int>{0});
    for (int i = 0; i < 4; ++i) network.start(route, 1_us, Bytes(1000 * (i + 1)), i);
    network.call_at(1_s, 9);
    int calls = 0;
    const auto fail = [&](int) {
      ++calls;
      throw std::runtime_error("mine");
    };
    EXPECT_THROW(network.run(fail), std::runtime_error);
    EXPECT_EQ(calls, 1);
  }
  EXPECT_THAT(play({{1_GBps}}, {{{0}, 0_s, 1_MB}}), testing::ElementsAre(CloseTo(1e-3)));
}

TEST_P(FluidNetworkOf, ANetworkMayBeDroppedBeforeItHasRun) {
  {
    FluidNetwork network(std::vector<FluidLink>{{1_GBps}}, 1, GetParam());
    network.start(network.add_route(std::vector<int>{0}), 0_s, 1_MB, 0);
  }
  EXPECT_THAT(play({{1_GBps}}, {{{0}, 0_s, 1_MB}}), testing::ElementsAre(CloseTo(1e-3)));
}

TEST_P(FluidNetworkOf, WhatCannotBeIsRefused) {
  for (const double capacity : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(FluidNetwork(std::vector<FluidLink>{{BytesPerSecond(capacity)}}, 1, GetParam()), std::invalid_argument)
        << capacity;
  }
  FluidNetwork network(std::vector<FluidLink>{{1_GBps}}, 1, GetParam());
  const int route = network.add_route(std::vector<int>{0});
  EXPECT_THROW(network.add_route({}), std::invalid_argument);
  EXPECT_THROW(network.add_route(std::vector<int>{0, 1}), std::invalid_argument);
  EXPECT_THROW(network.add_route(std::vector<int>{-1}), std::invalid_argument);
  EXPECT_THROW(network.start(route + 1, 0_s, 1_B, 0), std::invalid_argument);
  EXPECT_THROW(network.start(-1, 0_s, 1_B, 0), std::invalid_argument);
  EXPECT_THROW(network.start(route, Seconds(-1), 1_B, 0), std::invalid_argument);
  EXPECT_THROW(network.start(route, Seconds(std::nan("")), 1_B, 0), std::invalid_argument);
  network.start(route, 0_s, 1_B, 0);
  network.run([&](int) {
    EXPECT_THROW(network.call_at(0_s, 0), std::logic_error);
    EXPECT_THROW(network.run([](int) {}), std::logic_error);
  });
}

}}  // namespace farandole::fluid_network_test
