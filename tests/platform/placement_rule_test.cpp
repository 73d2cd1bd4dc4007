#include <set>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "platform/placement.hpp"
#include "platform/samples.hpp"

namespace farandole::placement_rule_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const NodeLayout machine{4, 12, 3};  // twelve nodes of four devices in groups of three

std::vector<int> devices_of(const std::string& rule, int ranks, const NodeLayout& layout = machine) {
  return place(read_placement_rule(sample(rule).root()), ranks, {}, layout, anywhere()).device_of_rank;
}

std::string refusal(const std::string& rule, int ranks = 4) {
  return message_of([&] { devices_of(rule, ranks); });
}

TEST(PlacementRule, BySlotFillsNodeAfterNodeAndByNodeDealsToTheNodesInTurn) {
  EXPECT_THAT(devices_of("\"by_slot\"", 6), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(devices_of("\"by_node\"", 6), ElementsAre(0, 4, 1, 5, 2, 6));
  EXPECT_THAT(devices_of("{\"ranks_per_node\": 2}", 5), ElementsAre(0, 1, 4, 5, 8));
}

TEST(PlacementRule, ByDeviceTakesTheDevicesOfANodeInTheOrderListed) {
  EXPECT_THAT(devices_of(R"({"order": "by_device", "devices": [0, 2, 3, 1]})", 6), ElementsAre(0, 2, 3, 1, 4, 6));
  EXPECT_THAT(devices_of(R"({"order": "by_device", "devices": [3, 1]})", 3), ElementsAre(3, 1, 7));
  EXPECT_THAT(devices_of(R"({"order": "by_node", "devices": [3, 1]})", 3), ElementsAre(3, 7, 1));
}

TEST(PlacementRule, ContiguousNodesStartWhereTheRuleSays) {
  EXPECT_THAT(devices_of(R"({"nodes": "contiguous", "first_node": 5, "ranks_per_node": 1})", 3),
              ElementsAre(20, 24, 28));
}

TEST(PlacementRule, ListedNodesAreTakenInTheOrderOfTheList) {
  EXPECT_THAT(devices_of(R"({"nodes": [7, 0, 3], "ranks_per_node": 1})", 3), ElementsAre(28, 0, 12));
  EXPECT_THAT(devices_of(R"({"nodes": [7, 0, 3], "ranks_per_node": 1})", 2), ElementsAre(28, 0));
  EXPECT_THAT(refusal(R"({"nodes": [7, 0, 7]})"), HasSubstr("expected each node once"));
  EXPECT_THAT(refusal(R"({"nodes": [1], "first_node": 2})"), HasSubstr("a first node only of contiguous ones"));
  EXPECT_THAT(message_of([] { devices_of(R"({"nodes": [7, 0], "ranks_per_node": 1})", 3); }),
              HasSubstr("expected a list of at least 3 nodes"));
}

TEST(PlacementRule, ByGroupGoesToEveryGroupBeforeItComesBack) {
  // Groups begin at nodes 0, 3, 6 and 9.
  EXPECT_THAT(devices_of(R"({"nodes": "by_group", "ranks_per_node": 1})", 6), ElementsAre(0, 12, 24, 36, 4, 16));
}

TEST(PlacementRule, ALastGroupThatIsNotFullIsPassedOver) {
  EXPECT_THAT(devices_of("\"by_group\"", 4, {1, 4, 3}), ElementsAre(0, 3, 1, 2));
}

TEST(PlacementRule, RandomNodesAreTheSameForTheSameSeed) {
  const std::string rule = R"({"nodes": "random", "seed": 7, "ranks_per_node": 1})";
  EXPECT_EQ(devices_of(rule, 5), devices_of(rule, 5));
  EXPECT_NE(devices_of(rule, 5), devices_of(R"({"nodes": "random", "seed": 8, "ranks_per_node": 1})", 5));
  // mt19937_64 gives 2469588189546311528, 2516265689700432462, ... for seed 1 everywhere; modulo 12, 11, 10 and 9 they
  // choose these nodes.
  EXPECT_THAT(devices_of(R"({"nodes": "random", "seed": 1, "ranks_per_node": 1})", 4), ElementsAre(32, 8, 4, 12));
}

TEST(PlacementRule, RandomNodesOfAnOpenTopologyAreThoseNeededInRandomOrder) {
  auto devices = devices_of("\"random\"", 64, {1, std::nullopt, 0});
  EXPECT_FALSE(std::ranges::is_sorted(devices));
  std::ranges::sort(devices);
  for (int rank = 0; rank < 64; ++rank) EXPECT_EQ(devices[static_cast<std::size_t>(rank)], rank);
}

TEST(PlacementRule, CountsTheNodesThatCarryRanksNotThoseBelowThem) {
  const auto rule = read_placement_rule(sample(R"({"first_node": 10, "ranks_per_node": 1})").root());
  EXPECT_EQ(place(rule, 2, {}, machine, anywhere()).nodes_used, 2);
}

RC_GTEST_PROP(PlacementRuleProperty, RandomNodesAreDistinctAndOfTheMachine, ()) {
  const int nodes = *rc::gen::inRange(1, 200);
  const int used = *rc::gen::inRange(1, nodes + 1);
  PlacementRule rule;
  rule.nodes = PlacementRule::Nodes::random;
  rule.seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto devices = place(rule, used, {}, {1, nodes, 0}, anywhere()).device_of_rank;
  const std::set<int> distinct(devices.begin(), devices.end());
  RC_ASSERT(static_cast<int>(distinct.size()) == used);
  RC_ASSERT(*distinct.begin() >= 0);
  RC_ASSERT(*distinct.rbegin() < nodes);
}

RC_GTEST_PROP(PlacementRuleProperty, ByGroupLoadsGroupsEvenlyUntilTheyAreFull, ()) {
  const int nodes = *rc::gen::inRange(1, 60);
  const int group = *rc::gen::inRange(1, 9);
  const int used = *rc::gen::inRange(1, nodes + 1);
  PlacementRule rule;
  rule.nodes = PlacementRule::Nodes::by_group;
  std::vector<int> load(static_cast<std::size_t>((nodes + group - 1) / group), 0);
  for (const int device : place(rule, used, {}, {1, nodes, group}, anywhere()).device_of_rank) {
    ++load[static_cast<std::size_t>(device / group)];
  }
  const int most = *std::ranges::max_element(load);
  for (std::size_t g = 0; g < load.size(); ++g) {
    const int size = std::min(group, nodes - static_cast<int>(g) * group);
    RC_ASSERT(load[g] >= most - 1 || load[g] == size);
  }
}

// Before there is a host for each of them.
TEST(PlacementRule, RefusesMoreRanksThanAnyMachineHasDevices) {
  EXPECT_THAT(message_of([] {
                place(PlacementRule{}, 1'000'000'000, {}, {1, std::nullopt, 0}, anywhere());
              }),
              HasSubstr("expected at most 4,194,304 ranks, got 1,000,000,000"));
  EXPECT_THAT(refusal(R"({"first_node": 2147483647})"),
              HasSubstr("/first_node: expected an integer from 0 to 4,194,304"));
  PlacementRule far;
  far.first_node = 4'000'000;
  EXPECT_THAT(message_of([&] {
                place(far, 8, {}, {8, std::nullopt, 0}, anywhere());
              }),
              HasSubstr("4,194,304 devices up to the last node used"));
}

TEST(PlacementRule, RefusesWhatMakesNoSenseInClearWords) {
  EXPECT_THAT(refusal("\"by_slt\""), HasSubstr("did you mean \"by_slot\"?"));
  EXPECT_THAT(refusal("\"by_device\""), HasSubstr("by_device with its list"));
  EXPECT_THAT(refusal(R"({"order": "by_device"})"), HasSubstr("a list of \"devices\" beside by_device"));
  EXPECT_THAT(refusal(R"({"nodes": "randm"})"), HasSubstr("did you mean \"random\"?"));
  EXPECT_THAT(refusal(R"({"devices": [0, 0]})"), HasSubstr("each device once"));
  EXPECT_THAT(refusal(R"({"devices": [4]})"), HasSubstr("devices below the 4 of a node, got 4"));
  EXPECT_THAT(refusal(R"({"nodes": "random", "first_node": 2})"), HasSubstr("a first node only of contiguous ones"));
  EXPECT_THAT(refusal(R"({"first_node": 11, "ranks_per_node": 2})"),
              HasSubstr("at most 2 ranks, 2 on each of the 1 nodes from node 11 on, got 4 ranks on 2"));
  EXPECT_THAT(refusal("\"random\"", 49), HasSubstr("at most 48 ranks, 4 on each of the 12 nodes, got 49 ranks on 13"));
  EXPECT_THAT(refusal(R"({"ranks_per_node": 5})"), HasSubstr("at most 4 ranks on a node"));
  EXPECT_THAT(message_of([] { devices_of("\"by_group\"", 2, {1, 4, 0}); }), HasSubstr("nodes are in groups"));
}

}}  // namespace farandole::placement_rule_test
