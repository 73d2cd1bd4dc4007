#include "platform/placement.hpp"

#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "platform/samples.hpp"

namespace farandole::placement_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Placement, FillsHostAfterHostInTheOrderGiven) {
  const auto placement = place_by_slot(5, {{"a", 2}, {"b", 1}, {"c", 4}}, 4, anywhere());
  EXPECT_THAT(placement.device_of_rank, ElementsAre(0, 1, 4, 8, 9));
  EXPECT_EQ(placement.nodes_used, 3);
}

TEST(Placement, WithoutHostsTakesWholeNodesAndAsManyAsNeeded) {
  const auto placement = place_by_slot(6, {}, 4, anywhere());
  EXPECT_THAT(placement.device_of_rank, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(placement.nodes_used, 2);
}

TEST(Placement, LeavesDevicesIdleWhereANodeGetsFewerRanksThanItHas) {
  const auto placement = place_by_slot(5, hosts_for(5, 2), 4, anywhere());
  EXPECT_THAT(placement.device_of_rank, ElementsAre(0, 1, 4, 5, 8));
  EXPECT_EQ(placement.nodes_used, 3);
}

TEST(Placement, ByNodeDealsRanksToHostsInTurnAndPassesFullOnes) {
  const auto placement = place_by_node(6, {{"a", 1}, {"b", 3}, {"c", 2}}, 4, anywhere());
  EXPECT_THAT(placement.device_of_rank, ElementsAre(0, 4, 8, 5, 9, 6));
  EXPECT_EQ(placement.nodes_used, 3);
}

TEST(Placement, RefusesMoreRanksThanSlots) {
  EXPECT_THAT(message_of([] {
                place_by_slot(9, {{"a", 4}, {"b", 4}}, 4, anywhere());
              }),
              HasSubstr("expected at most 8 ranks, one per slot of the hosts, got 9"));
}

TEST(Placement, RefusesMoreRanksOnANodeThanItHasDevices) {
  EXPECT_THAT(message_of([] {
                place_by_slot(2, {{"a", 4}, {"b", 5}}, 4, anywhere());
              }),
              HasSubstr("expected at most 4 ranks on a node, one per device, got 5 on b"));
}

TEST(Placement, RefusesNumbersThatMakeNoSense) {
  for (const int ranks : {0, -3, 2147483647}) {
    EXPECT_NE(message_of([&] { place_by_slot(ranks, {}, 4, anywhere()); }), "(no error)");
    EXPECT_NE(message_of([&] { place_by_node(ranks, {}, 4, anywhere()); }), "(no error)");
  }
  EXPECT_NE(message_of([] { place_by_slot(1, {{"a", 0}}, 4, anywhere()); }), "(no error)");
}

struct Case {
  int devices;
  std::vector<Host> hosts;
  int ranks;
};

Case any_case() {
  Case result{*rc::gen::inRange(1, 9), {}, 0};
  int slots = 0;
  for (const int here : *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 9)))) {
    result.hosts.push_back({"h" + std::to_string(result.hosts.size()), std::min(here, result.devices)});
    slots += result.hosts.back().slots;
  }
  result.ranks = *rc::gen::inRange(1, slots + 1);
  return result;
}

void expect_within_slots(const Case& given, const Placement& placement) {
  RC_ASSERT(static_cast<int>(placement.device_of_rank.size()) == given.ranks);
  const std::set<int> devices(placement.device_of_rank.begin(), placement.device_of_rank.end());
  RC_ASSERT(devices.size() == placement.device_of_rank.size());
  for (const int device : devices) {
    const auto node = static_cast<std::size_t>(device / given.devices);
    RC_ASSERT(node < given.hosts.size());
    RC_ASSERT(device % given.devices < given.hosts[node].slots);
  }
  RC_ASSERT(placement.nodes_used == *devices.rbegin() / given.devices + 1);
}

TEST(Placement, SaysHowManyRanksFillEachNode) {
  EXPECT_EQ((Placement{{0, 1, 2, 3, 4}, 2}.ranks_per_node(4)), 4);
  EXPECT_EQ((Placement{{8, 9, 0, 1, 4}, 3}.ranks_per_node(4)), 2);
  EXPECT_EQ((Placement{{0, 4, 1, 5}, 2}.ranks_per_node(4)), 1);
  EXPECT_EQ((Placement{{0, 1, 4, 8, 9}, 3}.ranks_per_node(4)), 1);
  EXPECT_EQ((Placement{{8, 9, 0, 1, 4}, 3}.nodes_needed(4)), 3);
}

RC_GTEST_PROP(PlacementProperty, BySlotEachDeviceCarriesAtMostOneRankAndSlotsFillInOrder, ()) {
  const Case given = any_case();
  const auto placement = place_by_slot(given.ranks, given.hosts, given.devices, anywhere());
  expect_within_slots(given, placement);
  RC_ASSERT(std::ranges::is_sorted(placement.device_of_rank));
  // Every host before the last used one is full: device_of_rank[r] is slot r of the hosts' slots in order.
  int before = 0;
  for (int node = 0; node + 1 < placement.nodes_used; ++node)
    before += given.hosts[static_cast<std::size_t>(node)].slots;
  RC_ASSERT(placement.device_of_rank.back() == (placement.nodes_used - 1) * given.devices + given.ranks - before - 1);
}

RC_GTEST_PROP(PlacementProperty, ByNodeEachDeviceCarriesAtMostOneRankAndHostsDifferByOneUnlessFull, ()) {
  const Case given = any_case();
  const auto placement = place_by_node(given.ranks, given.hosts, given.devices, anywhere());
  expect_within_slots(given, placement);
  std::vector<int> loads(given.hosts.size(), 0);
  for (const int device : placement.device_of_rank) ++loads[static_cast<std::size_t>(device / given.devices)];
  const int most = *std::ranges::max_element(loads);
  for (std::size_t node = 0; node < loads.size(); ++node) {
    RC_ASSERT(loads[node] >= most - 1 || loads[node] == given.hosts[node].slots);
  }
}

RC_GTEST_PROP(PlacementProperty, AllSlotsFilledIsTheSameSetOfDevicesEitherWay, ()) {
  Case given = any_case();
  given.ranks = std::accumulate(given.hosts.begin(), given.hosts.end(), 0,
                                [](int sum, const Host& host) { return sum + host.slots; });
  auto by_slot = place_by_slot(given.ranks, given.hosts, given.devices, anywhere()).device_of_rank;
  auto by_node = place_by_node(given.ranks, given.hosts, given.devices, anywhere()).device_of_rank;
  std::ranges::sort(by_node);
  RC_ASSERT(by_slot == by_node);
}

/// The same number on every node, one block after the other; 1 where it is not so.
TEST(Placement, HasSoManyRanksOfANodeOneAfterTheOther) {
  const auto together = [](std::vector<int> devices) {
    Placement placement;
    placement.device_of_rank = std::move(devices);
    return placement.ranks_per_node(8);
  };
  EXPECT_EQ(together({0}), 1);
  EXPECT_EQ(together({0, 8}), 1);
  EXPECT_EQ(together({0, 1, 8, 9}), 2);
  EXPECT_EQ(together({16, 17, 18, 0, 1, 2}), 3);
  EXPECT_EQ(together({0, 8, 1, 9}), 1);
  EXPECT_EQ(together({0, 1, 8, 16}), 1);
  EXPECT_EQ(together({0, 1, 2, 8, 9}), 3);  // the last node may have fewer
}

}}  // namespace farandole::placement_test
