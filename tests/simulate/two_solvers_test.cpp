// SimGrid and our own solver, two programs by different people, asked the same: every flow ends at the same moment, and
// so does every rank of a collective.
#include <random>

#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "simulate/folding/folded_message_clock.hpp"
#include "simulate/message_clock.hpp"
#include "simulate/random_kit.hpp"
#include "simulate/recurrence_clock.hpp"
#include "support/flows.hpp"

namespace farandole::two_solvers_test { namespace {

using support::Ends;
using support::Flow;
using test::draw;
using test::Random;

/// Up to 60 flows over up to 12 links, many of the same capacity, size or start: what is to be shared changes all the
/// time. In one of three some links are far narrower than others, so that flows are held to rates of their own.
struct Drawn {
  explicit Drawn(Random& random) {
    const bool is_round = draw(random, 0, 1) == 1;
    const bool are_held = draw(random, 0, 2) == 0;
    const bool are_split = draw(random, 0, 2) == 0;
    links.resize(static_cast<std::size_t>(draw(random, 2, 12)));
    for (FluidLink& link : links) {
      link.capacity = BytesPerSecond(is_round ? 1e8 * draw(random, 1, 3) : 1e8 + draw(random, 0, 300000000));
      if (are_held && draw(random, 0, 2) == 0) link.capacity *= 0.02;
    }
    flows.resize(static_cast<std::size_t>(draw(random, 2, 60)));
    for (Flow& flow : flows) {
      for (int hops = draw(random, 1, 5); hops > 0; --hops) {
        flow.links.push_back(draw(random, 0, static_cast<int>(links.size()) - 1));
      }
      flow.latency = Seconds(1e-6 * draw(random, 0, 3));
      flow.size = is_round ? Bytes(1e6 * draw(random, 1, 3)) : Bytes(draw(random, 1, 3000000));
      flow.start = Seconds(1e-4 * draw(random, 0, 60));
      if (are_split) flow.paths = std::array{1, 2, 3, 4}[static_cast<std::size_t>(draw(random, 0, 3))];
    }
  }
  std::vector<FluidLink> links;
  std::vector<Flow> flows;
};

void compare_flows(std::uint64_t first, std::uint64_t last) {
  if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    Random random(seed);
    const Drawn drawn(random);
    const Ends theirs = support::ends_of<FluidNetwork>(drawn.links, drawn.flows, NetworkSolver::simgrid);
    const Ends ours = support::ends_of<FluidNetwork>(drawn.links, drawn.flows, NetworkSolver::own);
    for (std::size_t flow = 0; flow < ours.size(); ++flow) {
      ASSERT_NEAR(ours[flow] / theirs[flow], 1, 1e-9) << "flow " << flow << " of seed " << seed;
    }
  }
}

TEST(TwoSolvers, AgreeOnWhenFlowsEndOn3000NetworksDrawnAtRandom) {
  compare_flows(1, 3000);
}

TEST(SlowTwoSolvers, AgreeOnWhenFlowsEndOn50000NetworksDrawnAtRandom) {
  compare_flows(3001, 53000);
}

/// Without the bounds of a real collective: some of those drawn are none.
RankTimes ends_of(const test::Case& drawn, Fidelity fidelity, ClockOptions options) {
  if (fidelity == Fidelity::message)
    return FoldedMessageClock(drawn.routed, options).completion_times(drawn.size, drawn.start);
  return RecurrenceClock(drawn.routed, Sharing::simulated, options).completion_times(drawn.size, drawn.start);
}

TEST(TwoSolvers, AgreeOnCollectivesDrawnAtRandomAtFlowAndMessageFoldedOrNot) {
  if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const test::Case drawn = test::draw_case(random);
    for (const Fidelity fidelity : {Fidelity::flow, Fidelity::message}) {
      for (const FoldingPolicy folding : {FoldingPolicy::where_exact, FoldingPolicy::never}) {
        const RankTimes theirs = ends_of(drawn, fidelity, {folding, NetworkSolver::simgrid});
        const RankTimes ours = ends_of(drawn, fidelity, {folding, NetworkSolver::own});
        EXPECT_LT(((ours - theirs).abs() / theirs.max(1e-12)).maxCoeff(), 1e-9)
            << "seed " << seed << " at " << name(fidelity);
      }
    }
  }
}

TEST(TwoSolvers, TheOwnOneTakesOverWhereMessagesAreTooManyUnlessSomebodySaysOtherwise) {
  using enum NetworkSolver;
  const NetworkSolver usual = has_simgrid() ? simgrid : own;
  EXPECT_EQ(solver_for(as_it_pays, most_for_simgrid), usual);
  EXPECT_EQ(solver_for(as_it_pays, most_for_simgrid + 1), own);
  EXPECT_EQ(solver_for(as_it_pays, 0, most_at_once_for_simgrid + 1), own);
  EXPECT_EQ(solver_for(as_it_pays, 0, 0, most_links_for_simgrid), usual);
  EXPECT_EQ(solver_for(as_it_pays, 0, 0, most_links_for_simgrid + 1), own);
  EXPECT_EQ(solver_for(simgrid, most_for_simgrid + 1, 0, most_links_for_simgrid + 1), simgrid);
  EXPECT_EQ(solver_for(own, 1), own);
}

TEST(TwoSolvers, AClockCountsTheMessagesOfAllItsCollectives) {
  if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
  // An alltoall of 250 ranks has 62,250 messages, two have more than 100,000.
  const RoutedSchedule routed(find_algorithm(Operation::alltoall, "pairwise")->build(Shape(250)),
                              test::star(250, 25_Gbps, 2_us), test::in_order(250));
  const RankTimes start = all_at(250, 0_s);
  MessageClock both(routed);
  MessageClock theirs(routed, NetworkSolver::simgrid);
  for (const auto& [bytes, left] : {std::pair(250e3, false), {500e3, true}, {750e3, true}}) {
    const auto [ends, provenance] = both.answer(Bytes(bytes), start);
    EXPECT_EQ(provenance.used_builtin_solver, left) << bytes;
    theirs.release_network();
    if (!left) both.release_network();
    EXPECT_LT(((ends - theirs.completion_times(Bytes(bytes), start)).abs() / ends).maxCoeff(), 1e-9) << bytes;
    theirs.release_network();
  }
}

/// A network of all links of a machine takes longer to make than a few messages to send.
TEST(TwoSolvers, AClocksNetworkHasTheLinksThatItsMessagesCross) {
  const Platform large = test::star(100'000, 25_Gbps, 2_us);
  const RoutedSchedule few(find_algorithm(Operation::allreduce, "ring")->build(Shape(3)), large, test::in_order(3));
  const RoutedSchedule small(find_algorithm(Operation::allreduce, "ring")->build(Shape(3)),
                             test::star(3, 25_Gbps, 2_us), test::in_order(3));
  MessageClock among_many(few);
  const auto [ends, provenance] = among_many.answer(3e6_B, all_at(3, 0_s));
  EXPECT_FALSE(provenance.used_builtin_solver);
  among_many.release_network();
  EXPECT_LT((ends - MessageClock(small).completion_times(3e6_B, all_at(3, 0_s))).abs().maxCoeff(), 1e-12);
}

TEST(TwoSolvers, AClockSaysWhenTheOwnOneTookSimGridsPlaceUnasked) {
  if (!has_simgrid()) GTEST_SKIP() << "built without SimGrid";
  // An alltoall of 330 ranks, every message sent: 330 * 329 = 108,570. Of 300: 89,700.
  for (const auto& [ranks, left] : {std::pair(300, false), {330, true}}) {
    const RoutedSchedule routed(find_algorithm(Operation::alltoall, "pairwise")->build(Shape(ranks)),
                                test::star(ranks, 25_Gbps, 2_us), test::in_order(ranks));
    const RankTimes start = all_at(ranks, 0_s);
    const auto clock = make_collective_clock(Fidelity::message, routed, FoldingPolicy::never);
    const auto [ends, provenance] = clock->answer(Bytes(1000.0 * ranks), start);
    EXPECT_EQ(provenance.used_builtin_solver, left) << ranks;
    const auto told = make_collective_clock(Fidelity::message, routed, {FoldingPolicy::never, NetworkSolver::own});
    const Answer by_own = told->answer(Bytes(1000.0 * ranks), start);
    EXPECT_LT((by_own.ends / ends - 1).abs().maxCoeff(), 1e-9);
    EXPECT_FALSE(by_own.provenance.used_builtin_solver) << "somebody said so";
  }
}

TEST(TwoSolvers, AreNamedBesideResults) {
  EXPECT_EQ(network_settings(NetworkSolver::own), (std::map<std::string, std::string>{{"network", "own"}}));
  EXPECT_EQ(network_settings(NetworkSolver::as_it_pays).contains("simgrid.version"), has_simgrid());
  EXPECT_EQ(network_settings(NetworkSolver::simgrid).at("network"), "simgrid");
}

}}  // namespace farandole::two_solvers_test
