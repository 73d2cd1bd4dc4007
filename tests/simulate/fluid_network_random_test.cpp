// Contended networks drawn at random: every end as progressive filling in long double has it, by SimGrid and by our own
// solver.
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "simulate/fluid_network.hpp"
#include "simulate/max_min_network.hpp"
#include "support/flows.hpp"
#include "support/max_min.hpp"

namespace farandole::fluid_network_random_test { namespace {

using Random = std::mt19937_64;

int draw(Random& random, int first, int last) {
  return std::uniform_int_distribution<int>(first, last)(random);
}

std::vector<FluidLink> draw_links(Random& random) {
  std::vector<FluidLink> links(static_cast<std::size_t>(draw(random, 2, 8)));
  // Few and round capacities: many links fill up at once, which is where solvers go wrong.
  for (FluidLink& link : links) link.capacity = BytesPerSecond(1e8 * draw(random, 1, 4));
  return links;
}

support::Flow draw_flow(Random& random, std::size_t links, bool together) {
  support::Flow flow;
  for (int i = draw(random, 1, 4); i > 0; --i) flow.links.push_back(draw(random, 0, static_cast<int>(links) - 1));
  flow.latency = together ? 1_us : Seconds(1e-6 * draw(random, 0, 3));
  flow.size = together ? Bytes(1e6 * draw(random, 1, 3)) : Bytes(draw(random, 1, 3000000));
  flow.start = together ? 0_s : Seconds(1e-4 * draw(random, 0, 60));
  return flow;
}

void expect_equal(const support::Ends& simulated, const support::Ends& exact, std::uint64_t seed) {
  ASSERT_EQ(simulated.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(simulated[i] / exact[i], 1, 1e-9) << "flow " << i << " of seed " << seed;
  }
}

void compare(std::uint64_t seed, bool together, bool split = false) {
  Random random(seed);
  const std::vector<FluidLink> links = draw_links(random);
  std::vector<support::Flow> flows(static_cast<std::size_t>(draw(random, 2, 24)));
  for (support::Flow& flow : flows) {
    flow = draw_flow(random, links.size(), together);
    if (split) flow.paths = std::array{1, 2, 3, 4, 6}[static_cast<std::size_t>(draw(random, 0, 4))];
  }
  const support::Ends exact = support::ends_of<support::MaxMinNetwork>(links, flows);
  for (const NetworkSolver solver : support::solvers()) {
    expect_equal(support::ends_of<FluidNetwork>(links, flows, solver), exact, seed);
  }
}

TEST(FluidNetworkAtRandom, FlowsThatStartTogetherEndAsProgressiveFillingHasIt) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) compare(seed, true);
}

TEST(FluidNetworkAtRandom, FlowsThatStartAtDifferentTimesEndAsProgressiveFillingHasIt) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) compare(seed, false);
}

TEST(FluidNetworkAtRandom, FlowsThatAreSplitOverPathsEndAsProgressiveFillingHasIt) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) compare(seed, seed % 2 == 0, true);
}

// Every flow starts the next one over its route, as the ranks of a collective do.
template <class Network, class... More>
support::Ends chained_ends(std::uint64_t seed, More... more) {
  Random random(seed);
  const std::vector<FluidLink> links = draw_links(random);
  Network network(links, 1, more...);
  const int senders = draw(random, 2, 12);
  const Bytes size(1e5 * draw(random, 1, 9));
  const bool uneven = draw(random, 0, 1) == 1;
  std::vector<int> routes;
  for (int i = 0; i < senders; ++i) routes.push_back(network.add_route(draw_flow(random, links.size(), true).links));
  const auto start = [&](int sender) {
    network.start(routes[static_cast<std::size_t>(sender)], Seconds(1e-6 * (1 + sender % 2)),
                  uneven ? size + Bytes(1000.0 * sender) : size, sender);
  };
  std::vector<int> rounds(static_cast<std::size_t>(senders), 10);
  std::vector<support::Ends> ends(static_cast<std::size_t>(senders));
  for (int i = 0; i < senders; ++i) start(i);
  network.run([&](int sender) {
    ends[static_cast<std::size_t>(sender)].push_back(network.now().si());
    if (--rounds[static_cast<std::size_t>(sender)] > 0) start(sender);
  });
  support::Ends all;
  for (const support::Ends& of_sender : ends) all.insert(all.end(), of_sender.begin(), of_sender.end());
  return all;
}

TEST(FluidNetworkAtRandom, ChainsOfFlowsEndAsProgressiveFillingHasIt) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const support::Ends exact = chained_ends<support::MaxMinNetwork>(seed);
    for (const NetworkSolver solver : support::solvers()) {
      expect_equal(chained_ends<FluidNetwork>(seed, solver), exact, seed);
    }
  }
}

TEST(OwnNetwork, SharesWhatIsLeftWhenALinkLosesCapacity) {
  // Two flows of 4 MB have 0.5 GB/s each; from 2 ms on 0.25: 1 MB is gone, 3 MB take 12 ms.
  MaxMinNetwork network;
  const int link = network.add_link(1_GBps, {});
  const int route = network.add_route(std::vector{link}, 1);
  network.start(route, 0_s, 4_MB, 0);
  network.start(route, 0_s, 4_MB, 1);
  network.call_at(Seconds(2e-3), 2);
  network.run([&](int tag) {
    if (tag == 2) return network.set_capacity(link, BytesPerSecond(0.5e9));
    EXPECT_NEAR(network.now().si(), 14e-3, 1e-12);
  });
}

TEST(OwnNetwork, GoesOnWhereItWasHalted) {
  MaxMinNetwork network;
  const int route = network.add_route(std::vector{network.add_link(1_GBps, {})}, 1);
  network.start(route, 0_s, 4_MB, 0);
  network.call_at(Seconds(1e-3), 1);
  std::vector<int> tags;
  network.run([&](int tag) {
    tags.push_back(tag);
    network.halt();
  });
  EXPECT_EQ(tags, std::vector{1});
  network.run([&](int tag) { tags.push_back(tag); });
  EXPECT_EQ(tags, (std::vector{1, 0}));
  EXPECT_NEAR(network.now().si(), 4e-3, 1e-15);
}

}}  // namespace farandole::fluid_network_random_test
