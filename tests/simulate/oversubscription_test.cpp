// Oversubscription of a leaf-spine, held against the closed form of its most loaded link.
//
// Four leaves of four nodes on NICs of 10 GB/s; one spine, to which every leaf has a link of 40 GB/s divided by the
// oversubscription. No latency anywhere.
#include <array>
#include <map>

#include <gtest/gtest.h>

#include "platform/samples.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::oversubscription_test { namespace {

using test::in_order;

constexpr int nodes = 16;
constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};

Platform oversubscribed(int times) {
  const std::string network =
      R"({"nodes_per_leaf": 4, "spines": 1, "link": {"rate": ")" + std::to_string(40 / times) + R"( GB/s"}})";
  const std::string text = R"({"name": "n", "summary": "s", "kind": "leaf_spine", "nodes": 16,
                               "node": {"device": "d", "nic": {"rate": "10 GB/s"}}, "network": )" +
                           network + "}";
  return build(topology_of(text), nodes, anywhere());
}

/// Rank r on a node of leaf r mod 4.
Placement leaf_after_leaf_in_turn() {
  Placement placement = in_order(nodes);
  for (int rank = 0; rank < nodes; ++rank) {
    placement.device_of_rank[static_cast<std::size_t>(rank)] = rank % 4 * 4 + rank / 4;
  }
  return placement;
}

/// Holds the time at every fidelity.
void expect_time(const Schedule& schedule, const Platform& platform, const Placement& placement, Bytes size,
                 double expected) {
  for (const Fidelity fidelity : all_fidelities) {
    const auto clock = make_collective_clock(fidelity, RoutedSchedule(schedule, platform, placement));
    const Seconds time = latest(clock->completion_times(size, all_at(schedule.ranks, 0_s)));
    EXPECT_NEAR(time.si() / expected, 1, 1e-9) << schedule.algorithm << ", " << name(fidelity);
  }
}

Seconds time_of_ring(const Platform& platform, const Placement& placement) {
  const auto clock = make_collective_clock(Fidelity::message, {ring_allreduce(nodes), platform, placement});
  return latest(clock->completion_times(160_MB, all_at(nodes, 0_s)));
}

/// Transfers of one round of a ring that cross the spine.
int crossings(const Platform& platform, const Placement& placement) {
  int count = 0;
  for (std::size_t rank = 0; rank < nodes; ++rank) {
    const Route route = platform.route(placement.device_of_rank[rank], placement.device_of_rank[(rank + 1) % nodes]);
    count += route.links.size() > 2 ? 1 : 0;
  }
  return count;
}

TEST(Oversubscription, DoesNotTouchARingThatGoesLeafByLeaf) {
  // 2 (n-1) rounds of S / n over NICs of 10 GB/s; a leaf's link carries one transfer each way, and has at least 10.
  for (const int times : {1, 2, 4}) {
    const Platform platform = oversubscribed(times);
    EXPECT_EQ(crossings(platform, in_order(nodes)), 4);  // once out of every leaf, once into it
    expect_time(ring_allreduce(nodes), platform, in_order(nodes), 160_MB, 30 * 10e6 / 10e9);
  }
}

TEST(Oversubscription, OfTwoLeavesIsCrossedByARingTwiceOnceInEachDirection) {
  const Platform platform = oversubscribed(4);
  std::map<int, int> flows;
  for (int rank = 0; rank < 8; ++rank) {
    for (const int link : platform.route(rank, (rank + 1) % 8).links) {
      if (link >= platform.first_network_link()) ++flows[link];
    }
  }
  EXPECT_EQ(flows.size(), 4U);  // up and down of each leaf
  for (const auto& [link, count] : flows) EXPECT_EQ(count, 1) << link;
}

TEST(Oversubscription, SlowsDownARingThatLeavesItsLeafAtEveryStep) {
  // Four transfers on every leaf's link: each gets min(10, 40 / times / 4) GB/s.
  for (const int times : {1, 2, 4}) {
    const Platform platform = oversubscribed(times);
    EXPECT_EQ(crossings(platform, leaf_after_leaf_in_turn()), nodes);
    expect_time(ring_allreduce(nodes), platform, leaf_after_leaf_in_turn(), 160_MB, 30 * 10e6 * times / 10e9);
  }
}

TEST(Oversubscription, SlowsDownARingInRandomOrder) {
  const Platform platform = oversubscribed(4);
  const Seconds best = time_of_ring(platform, in_order(nodes));
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    test::Random random(seed);
    const Placement placement = test::shuffled(random, nodes, nodes);
    EXPECT_GT(crossings(platform, placement), 4);
    EXPECT_GT(time_of_ring(platform, placement), 1.5 * best);
  }
}

TEST(Oversubscription, LimitsAnAlltoallByTheLeafsLinkOnceThatIsSlowerThanItsNics) {
  // All at once, s to each: a NIC sends 15 s at 10 GB/s, a leaf 4 x 12 s at 40 / times GB/s.
  const Schedule alltoall = find_algorithm(Operation::alltoall, "direct")->build(Shape(nodes));
  for (const int times : {1, 2, 4}) {
    const double slowest = std::max(15 / 10e9, 48 * times / 40e9);
    expect_time(alltoall, oversubscribed(times), in_order(nodes), 16_MB, 1e6 * slowest);
  }
}

TEST(Oversubscription, LimitsParameterServersByTheLinkOfTheirLeaf) {
  // Four servers fill leaf 0 and have a quarter of the data each; twelve workers push to each and pull from it:
  // 48 quarters through the leaf's link each way, 12 through a NIC.
  Shape shape(nodes);
  shape.servers = 4;
  const Schedule servers = find_algorithm(Operation::parameter_server, "dedicated")->build(shape);
  for (const int times : {1, 2, 4}) {
    const double slowest = std::max(12 / 10e9, 48 * times / 40e9);
    expect_time(servers, oversubscribed(times), in_order(nodes), 16_MB, 2 * 4e6 * slowest);
  }
}

}}  // namespace farandole::oversubscription_test
