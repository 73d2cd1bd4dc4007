// One test for everything that SimGrid 3.32 gets wrong by itself; without its cure each of them fails.
// In the comments, capacities are in bytes per second, a is a latency, M a size, B a capacity.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <exception>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/fluid_network.hpp"
#include "support/flows.hpp"

namespace farandole::fluid_network_cures_test { namespace {

using support::Ends;
using support::ends_of;
using support::Flow;

constexpr double kRounding = 1e-14;

/// Our own solver is held to the same.
class FluidNetworkCuresOf : public testing::TestWithParam<NetworkSolver> {};

INSTANTIATE_TEST_SUITE_P(Solvers, FluidNetworkCuresOf, testing::ValuesIn(support::solvers()),
                         [](const auto& solver) { return support::name_of(solver.param); });

MATCHER_P(CloseTo, expected, "") {
  *result_listener << "off by " << arg / expected - 1;
  return std::abs(arg / expected - 1) <= kRounding;
}

// SimGrid's lazy solver lets flows that have paid their latency at the same moment run through a full link.
TEST_P(FluidNetworkCuresOf, FlowsThatStartTogetherNeverCarryMoreThanALinkHas) {
  const std::vector<FluidLink> links = {{1_GBps}, {100_MBps}};
  // Shares: f2 = f3 = 1e8 / 2, f1 = 1e9 - 1e8. Ends: a + 9e8 / 9e8 = a + 5e7 / 5e7 = a + 1.
  const Ends ends = ends_of<FluidNetwork>(
      links, {{{0}, 1_us, Bytes(9e8)}, {{0, 1}, 1_us, Bytes(5e7)}, {{0, 1}, 1_us, Bytes(5e7)}}, GetParam());
  EXPECT_THAT(ends, testing::Each(CloseTo(1.000001)));
}

// SimGrid weights a share by 1 / latency: these two would get 9/10 and 1/10.
TEST_P(FluidNetworkCuresOf, LatencyDoesNotWeightTheShares) {
  // Both send at B / 2 from 9 us on; by then the first has sent B * 8 us alone.
  // M1 = M2 = 1e6, B = 1e9: the first ends at 9 us + (M1 - 8e-6 B) / (B / 2), the second at 9 us + (M1 + M2) / B - 8
  // us.
  const Ends ends =
      ends_of<FluidNetwork>(std::vector<FluidLink>{{1_GBps}}, {{{0}, 1_us, 1_MB}, {{0}, 9_us, 1_MB}}, GetParam());
  EXPECT_THAT(ends, testing::ElementsAre(CloseTo(9e-6 + (1e6 - 8e3) / 5e8), CloseTo(1e-6 + 2e6 / 1e9)));
}

// SimGrid merges times within 1e-9 s.
TEST_P(FluidNetworkCuresOf, EventsCloserThanANanosecondStayApart) {
  // One float after another over 100 GB/s, and three bytes after three bytes over another such link: the k-th ends are
  // at k * 4 / 1e11 s and k * 3 / 1e11 s, some of them 10 ps apart.
  FluidNetwork network(std::vector<FluidLink>{{100_GBps}, {100_GBps}}, 1, GetParam());
  const std::vector<int> routes = {network.add_route(std::vector<int>{0}), network.add_route(std::vector<int>{1})};
  const std::vector<double> sizes = {4, 3};
  std::vector<int> ended = {0, 0};
  for (const std::size_t i : {0U, 1U}) network.start(routes[i], 0_s, Bytes(sizes[i]), static_cast<int>(i));
  network.run([&](int tag) {
    const auto i = static_cast<std::size_t>(tag);
    EXPECT_NEAR(network.now().si() / (++ended[i] * sizes[i] / 1e11), 1, 1e-12) << ended[i] << " of " << sizes[i];
    if (ended[i] < 1000) network.start(routes[i], 0_s, Bytes(sizes[i]), tag);
  });
  EXPECT_EQ(ended, (std::vector<int>{1000, 1000}));
}

TEST_P(FluidNetworkCuresOf, FlowsThatEndFemtosecondsApartEndAtTheirOwnTimes) {
  // Separate links, M / B = 1000 / 1e14 s and 1001 / 1e14 s: 10 fs apart.
  const std::vector<FluidLink> links(2, {BytesPerSecond(1e14)});
  const Ends ends = ends_of<FluidNetwork>(links, {{{0}, 0_s, Bytes(1000)}, {{1}, 0_s, Bytes(1001)}}, GetParam());
  EXPECT_THAT(ends, testing::ElementsAre(CloseTo(1000 / 1e14), CloseTo(1001 / 1e14)));
}

TEST_P(FluidNetworkCuresOf, SharesAreRightHoweverLongTheyLast) {
  // Three flows on one link: the ends are at 3 M1 / B, (M1 + 2 M2) / B, (M1 + M2 + M3) / B.
  for (const double scale : {1.0, 1e3, 1e6, 1e9}) {
    const double rate = 1e6 / 3;
    const Ends ends = ends_of<FluidNetwork>(
        std::vector<FluidLink>{{BytesPerSecond(rate)}},
        {{{0}, 0_s, Bytes(7e5 * scale)}, {{0}, 0_s, Bytes(1e6 * scale)}, {{0}, 0_s, Bytes(2e6 * scale)}}, GetParam());
    EXPECT_THAT(ends, testing::ElementsAre(CloseTo(2.1e6 * scale / rate), CloseTo(2.7e6 * scale / rate),
                                           CloseTo(3.7e6 * scale / rate)));
  }
}

// SimGrid frees a comm that is not held beyond its own completion; the address sanitizer sees it.
TEST_P(FluidNetworkCuresOf, AFlowMayStartTheNextWhereverItsOwnEndIsReported) {
  FluidNetwork network(std::vector<FluidLink>{{1_GBps}, {1_GBps}}, 1, GetParam());
  const std::vector<int> routes = {network.add_route(std::vector<int>{0}), network.add_route(std::vector<int>{1, 0})};
  int left = 1000;
  network.start(routes[0], 0_s, 1_MB, 0);
  network.start(routes[1], 1_us, 1_MB, 1);
  network.run([&](int tag) {
    for (const int next : {tag, 1 - tag}) {
      if (left-- > 0) network.start(routes[static_cast<std::size_t>(next)], next == 0 ? 0_s : 1_us, 1_KiB, next);
    }
  });
  EXPECT_LE(left, 0);
}

// SimGrid drops the fraction of a byte, and never starts a flow of none.
TEST_P(FluidNetworkCuresOf, OnlyWholeBytesAreAccepted) {
  FluidNetwork network(std::vector<FluidLink>{{1_GBps}}, 1, GetParam());
  const int route = network.add_route(std::vector<int>{0});
  for (const double size : {0.0, -1.0, 0.5, 1.5, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_THROW(network.start(route, 0_s, Bytes(size), 0), std::invalid_argument) << size;
  }
  int ended = 0;
  network.run([&](int) { ++ended; });
  EXPECT_EQ(ended, 0);
}

// SimGrid's defaults take 3 % of the bandwidth, multiply the latency by 13, and let acknowledgements take 5 % of the
// way back and a TCP window of 4 MiB limit the rate to 4 MiB / (2 a).
TEST_P(FluidNetworkCuresOf, NothingOfAWideAreaNetworkIsLeft) {
  // There and back at once, a = 0.1 s, B = 1e11: a + 1e10 / B = 0.2 s.
  const std::vector<FluidLink> links = {{100_GBps}, {100_GBps}};
  const Ends ends = ends_of<FluidNetwork>(links, {{{0, 1}, 100_ms, 10_GB}, {{1, 0}, 100_ms, 10_GB}}, GetParam());
  EXPECT_THAT(ends, testing::Each(CloseTo(0.1 + 2e10 / 1e11)));  // both share both links
  const Ends opposite = ends_of<FluidNetwork>(links, {{{0}, 100_ms, 10_GB}, {{1}, 100_ms, 10_GB}}, GetParam());
  EXPECT_THAT(opposite, testing::Each(CloseTo(0.2)));
}

TEST_P(FluidNetworkCuresOf, AFlowOverMoreLinksIsNotOutweighed) {
  // weight-S, 20537 by default, is to give the second flow, over one more slow link, 2 % less; M / (B / 2) for both.
  const std::vector<FluidLink> links = {{1_MBps}, {BytesPerSecond(1.1e6)}};
  const Ends ends = ends_of<FluidNetwork>(links, {{{0}, 0_s, 1_MB}, {{0, 1}, 0_s, 1_MB}}, GetParam());
  EXPECT_THAT(ends, testing::Each(CloseTo(2.0)));
}

// SimGrid takes a link of which less than 1e-5 is left for full, and aborts when a flow gets nothing.
TEST_P(FluidNetworkCuresOf, AHundredThousandFlowsOnALinkLeaveTheLastOneItsShare) {
  // 120,000 flows over links 0 and 1 share link 1, B1 = (1 - 9.5e-6) B0; the last has the rest of link 0, 9.5e-6 B0.
  const std::vector<FluidLink> links = {{1_GBps}, {BytesPerSecond(1e9 - 9500)}};
  std::vector<Flow> flows(120000, {{0, 1}, 0_s, 1_MB});
  flows.push_back({{0}, 0_s, Bytes(9500)});
  const Ends ends = ends_of<FluidNetwork>(links, flows, GetParam());
  EXPECT_NEAR(ends.back(), 1, 1e-6);  // the rest is what 120,000 subtractions leave of it
  EXPECT_NEAR(ends.front() / (120000 * 1e6 / (1e9 - 9500)), 1, 1e-9);
}

std::vector<double> uneven_ends(NetworkSolver solver) {
  const std::vector<FluidLink> links = {{BytesPerSecond(1e9 / 3)}, {BytesPerSecond(1e9 / 7)}};
  return ends_of<FluidNetwork>(links, {{{0}, 1_us, Bytes(12345)}, {{0, 1}, 3_us, Bytes(777)}, {{1, 1}, 2_us, Bytes(9)}},
                               solver);
}

// SimGrid's clock runs on from engine to engine, so the last digits would depend on what ran before.
TEST_P(FluidNetworkCuresOf, ANetworkGivesTheSameTimesToTheLastBitWhateverRanBefore) {
  const std::vector<double> first = uneven_ends(GetParam());
  for (int i = 0; i < 300; ++i) {
    ends_of<FluidNetwork>(std::vector<FluidLink>{{3_Bps}}, {{{0}, 1_us, Bytes(1e6 + i)}}, GetParam());
    ASSERT_EQ(uneven_ends(GetParam()), first) << "after " << i;
  }
}

TEST_P(FluidNetworkCuresOf, ARestartedNetworkGivesTheSameTimesToTheLastBit) {
  FluidNetwork network(std::vector<FluidLink>{{BytesPerSecond(1e9 / 3)}, {BytesPerSecond(1e9 / 7)}}, 1, GetParam());
  const std::vector<int> routes = {network.add_route(std::vector<int>{0}), network.add_route(std::vector<int>{0, 1})};
  const auto ends = [&] {
    std::vector<double> all;
    network.start(routes[0], 1_us, Bytes(12345), 0);
    network.start(routes[1], 3_us, Bytes(777), 1);
    network.run([&](int) { all.push_back(network.now().si()); });
    return all;
  };
  const std::vector<double> first = ends();
  for (const double size : {1.0, 1e6, 1e12}) {
    network.start(routes[0], 1_us, Bytes(size), 0);
    EXPECT_THROW(network.restart(), std::logic_error);
    network.run([](int) {});
    network.restart();
    EXPECT_EQ(network.now(), 0_s);
    EXPECT_EQ(ends(), first) << "after " << size;
    network.restart();
  }
}

double seconds_of_cpu() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double cpu_of_a_thousand_flows() {
  const double before = seconds_of_cpu();
  ends_of<FluidNetwork>(std::vector<FluidLink>{{1_GBps}}, std::vector<Flow>(1000, {{0}, 1_us, 1_MB}),
                        NetworkSolver::as_it_pays);
  return seconds_of_cpu() - before;
}

// Every engine of SimGrid leaves a callback behind that all later flows call: after 1000 they took 30 times as long.
TEST(FluidNetworkCures, ANetworkIsAsFastAfterAThousandOthers) {
  double first = 1;
  for (int i = 0; i < 10; ++i) first = std::min(first, cpu_of_a_thousand_flows());
  for (int i = 0; i < 1000; ++i)
    ends_of<FluidNetwork>(std::vector<FluidLink>{{1_GBps}}, {{{0}, 0_s, 1_B}}, NetworkSolver::as_it_pays);
  double last = 1;
  for (int i = 0; i < 10; ++i) last = std::min(last, cpu_of_a_thousand_flows());
  EXPECT_LT(last, 5 * first);
}

TEST_P(FluidNetworkCuresOf, NothingIsPrinted) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  uneven_ends(GetParam());
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

void on_interrupt(int) {}

TEST(FluidNetworkCures, CtrlCAndTerminateStayWithTheProgram) {
  const auto before = std::signal(SIGINT, on_interrupt);
  const auto terminate = std::get_terminate();
  const FluidNetwork network(std::vector<FluidLink>{{1_GBps}});
  EXPECT_EQ(std::signal(SIGINT, before), on_interrupt);
  EXPECT_EQ(std::get_terminate(), terminate);
}

TEST(FluidNetworkCures, TheSettingsThatMatterAreNamedWithTheVersion) {
  if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
  const auto settings = simgrid_settings();
  for (const char* key :
       {"version", "network/model", "network/optim", "network/crosstraffic", "network/TCP-gamma", "network/weight-S",
        "network/bandwidth-factor", "network/latency-factor", "maxmin/precision", "surf/precision"}) {
    EXPECT_TRUE(settings.contains(key)) << key;
  }
  EXPECT_THAT(settings.at("version"), testing::StartsWith("3."));
}

}}  // namespace farandole::fluid_network_cures_test
