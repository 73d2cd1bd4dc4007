// The levels of detail agree: every algorithm over few and many ranks, round numbers and odd ones, on one switch, under
// leaves and in nodes of eight, against the distances of simulate/fidelity.hpp. Where messages are eager (short
// ones are, and rounds then overlap on links, which only `message` sees) the faster levels may be early by more.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/fidelity.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::levels_test { namespace {

constexpr double least_where_eager = 0.5;

/// Nodes of eight devices that are joined by something ten times as fast as a node's NIC.
Platform nodes_of_eight(int ranks) {
  Platform platform = test::nodes_of((ranks + 7) / 8, 8, 120_GBps, 12_GBps, 2_us);
  platform.network.paths = [](int, int) { return Paths{{}}; };
  platform.network.alike_after = 1;
  platform.transport.intra_node_latency = 3_us;
  platform.transport.inter_node_latency = 3_us;
  return platform;
}

struct Where {
  const char* name;
  int ranks_per_node;
  Platform (*of)(int ranks);
};
constexpr Where everywhere[] = {
    {"one switch", 1, [](int ranks) { return test::star(ranks, 25_Gbps, 2_us); }},
    {"leaves of four, 2:1", 1, [](int ranks) { return test::leaf_spine((ranks + 3) / 4, 4, 1, 25_Gbps, 50_Gbps); }},
    {"nodes of eight", 8, nodes_of_eight},
};

void expect_agreement(const Algorithm& row, int ranks, const Where& where, Bytes size, Bytes rendezvous_from) {
  Shape shape(ranks);
  shape.ranks_per_node = std::min(ranks, where.ranks_per_node);
  const Schedule schedule = row.build(shape);
  Platform platform = where.of(ranks);
  platform.transport.message.rendezvous_from = rendezvous_from;
  const RoutedSchedule routed(schedule, platform, test::in_order(ranks));
  const auto time = [&](Fidelity fidelity) {
    return latest(make_collective_clock(fidelity, routed)->completion_times(size, all_at(ranks, 0_s)));
  };
  const Seconds message = time(Fidelity::message);
  if (message == 0_s) return;  // nothing to send
  const bool may_be_eager = rendezvous_from > 1_B;
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow}) {
    LevelBounds bounds = bounds_to_message(name(fidelity));
    if (may_be_eager) bounds.least = least_where_eager;
    EXPECT_PRED2([](const LevelBounds& a, double ratio) { return a.covers(ratio); }, bounds, time(fidelity) / message)
        << name(row.operation) << " " << row.name << ", " << ranks << " ranks, " << where.name << ", " << size.si()
        << " bytes, " << name(fidelity);
  }
}

RC_GTEST_PROP(Levels, AgreeOnAnyAlgorithmOverAnyNumberOfRanks, ()) {
  const auto row = *rc::gen::inRange<std::size_t>(0, algorithms().size());
  const int ranks = *rc::gen::inRange(2, 34);
  const Where& where = everywhere[*rc::gen::inRange(0, 3)];
  const Bytes size(*rc::gen::element(1e3, 1e5, 4e6, 1e8));
  expect_agreement(algorithms()[row], ranks, where, size, *rc::gen::element(1_B, 64_KiB));
}

class SlowLevels : public testing::TestWithParam<std::tuple<int, double>> {};

TEST_P(SlowLevels, AgreeOnEveryAlgorithmOverManyNumbersOfRanks) {
  const auto& [where, size] = GetParam();
  for (const Algorithm& row : algorithms()) {
    for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 19, 20, 22, 24, 25, 31, 32, 33, 64, 65, 100}) {
      expect_agreement(row, ranks, everywhere[where], Bytes(size), size > 1e6 ? 1_B : 64_KiB);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SlowEverywhere, SlowLevels,
                         testing::Combine(testing::Range(0, 3), testing::Values(1e5, 0x1p26)));

}}  // namespace farandole::levels_test
