#include "platform/topologies/dragonfly.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>

#include "platform/bisection.hpp"
#include "platform/networks.hpp"

namespace farandole::dragonfly_test { namespace {

using testing::HasSubstr;
using testing::Pair;

/// Aries: 6 chassis of 16 routers of 4 nodes a group; rates of WP-Aries01-1112.
std::string aries(int groups, const std::string& more) {
  return network_file("dragonfly", std::to_string(groups * 384), 10,
                      fmt::format(R"({{"groups": {}, "chassis_per_group": 6, "routers_per_chassis": 16,
    "nodes_per_router": 4, "router_ports": 44, "rank1": {{"link": {{"rate": "5.25 GB/s"}}}},
    "rank2": {{"link": {{"rate": "5.25 GB/s"}}, "cables": 3}},
    "rank3": {{"link": {{"rate": "4.7 GB/s"}}, "cables_per_router": 10}}{}}})",
                                  groups, more));
}

TEST(Dragonfly, HasTheCablesOfAries) {
  const auto platform = built(aries(4, ""));
  std::map<int, int> cables;  // by rank, told apart by what they join
  for (const Cable& cable : platform.network.cables) {
    const bool same_group = cable.from / 96 == cable.to / 96;
    const bool same_chassis = cable.from / 16 == cable.to / 16;
    cables[!same_group ? 3 : same_chassis ? 1 : 2] += cable.count;
  }
  // Routers of a group: 96. Ends: 15 of rank 1, 5 x 3 of rank 2; between groups 960 / 3 = 320 each pair.
  EXPECT_EQ(cables[1], 4 * 96 * 15 / 2);
  EXPECT_EQ(cables[2], 4 * 96 * 15 / 2);
  EXPECT_EQ(cables[3], 6 * 320);
}

TEST(Dragonfly, SpreadsOpticalLinksOverAllRoutersOfAGroup) {
  const auto platform = built(aries(12, ""));
  std::map<int, int> ends;
  for (const Cable& cable : platform.network.cables) {
    if (cable.from / 96 == cable.to / 96) continue;
    ++ends[cable.from];
    ++ends[cable.to];
  }
  EXPECT_EQ(ends.size(), 12U * 96);
  // 960 / 11 = 87 links to each other group, 957 in all: 9 or 10 at every router.
  for (const auto& [router, count] : ends) EXPECT_TRUE(count == 9 || count == 10);
}

TEST(Dragonfly, HasTheBisectionOfAGroupOfAries) {
  // Between 3 and 3 chassis: 9 pairs x 16 slots x 3 links x 5.25 GB/s = 2,268 GB/s, each direction; 192 NICs of 10 GB/s
  // limit less. Cut by slots it would be 8 x 8 pairs x 6 chassis x 5.25 GB/s = 2,016 GB/s: the white paper's 4,032 both
  // directions together. NICs: 192 x 10 = 1,920 GB/s.
  EXPECT_DOUBLE_EQ(bisection(built(aries(1, ""))).value().si(), 1.92e12);
  std::string fast = aries(1, "");
  fast.replace(fast.find("\"10 GB/s\""), 9, "\"20 GB/s\"");
  EXPECT_NEAR(bisection(built(fast)).value().si(), 2.016e12, 1);
}

TEST(Dragonfly, AdaptiveSplitsOverTwoShortestAndTwoOtherWays) {
  const auto platform = built(aries(4, ""));
  const Paths paths = platform.network.paths(0, 1000);
  ASSERT_EQ(paths.size(), 4U);
  // At most 2 hops within each of two groups and 1 between them; by a third group 2 + 1 + 4 + 1 + 2.
  for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(paths[i].size(), 5U);
  for (std::size_t i = 2; i < 4; ++i) EXPECT_LE(paths[i].size(), 10U);
  const auto optical = [&](const Path& path) {
    return std::ranges::count_if(
        path, [&](int link) { return platform.links[static_cast<std::size_t>(link)].wire == 4.7_GBps; });
  };
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(optical(paths[i]), 1);
  for (std::size_t i = 2; i < 4; ++i) EXPECT_EQ(optical(paths[i]), 2);
}

TEST(Dragonfly, TakesBothCornersBetweenChassisOfAGroup) {
  const auto platform = built(aries(1, R"(, "minimal_paths": 2, "non_minimal_paths": 1)"));
  const Paths paths = platform.network.paths(0, 4 * 17);  // chassis 0 slot 0 to chassis 1 slot 1
  EXPECT_EQ(paths[0].size(), 2U);
  EXPECT_EQ(paths[1].size(), 2U);
  EXPECT_NE(paths[0], paths[1]);
}

/// What all ways of a kind take of a link, as a share of what is sent.
std::map<std::string, double> shares(const Platform& platform, const Route& route) {
  std::map<std::string, double> shares;
  for (const std::string& name : names_of(platform, route)) shares[name] += 1.0 / route.paths;
  return shares;
}

TEST(Dragonfly, PacketsChooseBetweenAllShortestWaysAndAllOthers) {
  const auto platform = built(aries(4, ""));
  // Router 0 to router 17, another chassis and slot: half by either corner.
  const RouteChoice within = platform.choices(0, 4 * 17);
  EXPECT_THAT(shares(platform, within.minimal),
              testing::UnorderedElementsAre(
                  Pair("node0/nic0/up", 1), Pair("group0/chassis0/router0-group0/chassis0/router1/up", 0.5),
                  Pair("group0/chassis0/router1-group0/chassis1/router1/up", 0.5),
                  Pair("group0/chassis0/router0-group0/chassis1/router0/up", 0.5),
                  Pair("group0/chassis1/router0-group0/chassis1/router1/up", 0.5), Pair("group0/rank1", 1),
                  Pair("group0/rank2", 1), Pair("node68/nic0/down", 1)));
  EXPECT_THAT(shares(platform, within.other),
              testing::UnorderedElementsAre(Pair("node0/nic0/up", 1), Pair("group0/rank1", 2), Pair("group0/rank2", 2),
                                            Pair("node68/nic0/down", 1)));
  const RouteChoice between = platform.choices(0, 1000);
  EXPECT_THAT(shares(platform, between.minimal),
              testing::IsSupersetOf({Pair("group0/to2", 1), Pair("group0/out", 1), Pair("group2/in", 1),
                                     Pair("rank3", 1), Pair("group0/rank1", 1), Pair("group2/rank2", 1)}));
  EXPECT_THAT(shares(platform, between.other),
              testing::IsSupersetOf({Pair("group0/out", 1), Pair("group2/in", 1), Pair("rank3", 2),
                                     Pair("transit/rank1", 2), Pair("group0/rank1", 1), Pair("group2/rank2", 1)}));
  EXPECT_EQ(shares(platform, between.other).count("group0/to2"), 0U);
  // One way only, without a corner: within a chassis, and to the same slot of another.
  EXPECT_EQ(platform.choices(0, 4 * 1).minimal.paths, 1);
  EXPECT_EQ(platform.choices(0, 4 * 16).minimal.paths, 1);
  // Nodes of one router have nothing to choose.
  EXPECT_EQ(platform.choices(0, 3).other.paths, 0);
}

BytesPerSecond capacity_of(const Platform& platform, const std::string& name) {
  return std::ranges::find(platform.links, name, &Link::name)->capacity;
}

/// A walk to a router drawn at random leaves the slot 15 of 16 times, and the chassis 5 of 6.
TEST(Dragonfly, BundlesHaveWhatTheirLinksHaveTogether) {
  const auto platform = built(aries(4, ""));
  EXPECT_NEAR(capacity_of(platform, "group1/rank1").si(), 96 * 15 * 5.25e9 / (15.0 / 16), 1);
  EXPECT_NEAR(capacity_of(platform, "group1/rank2").si(), 96 * 5 * 3 * 5.25e9 / (5.0 / 6), 1);
  EXPECT_NEAR(capacity_of(platform, "group1/to3").si(), 320 * 4.7e9, 1);
  EXPECT_NEAR(capacity_of(platform, "group1/out").si(), 960 * 4.7e9, 1);
  EXPECT_NEAR(capacity_of(platform, "group1/in").si(), 960 * 4.7e9, 1);
  EXPECT_NEAR(capacity_of(platform, "rank3").si(), 4 * 960 * 4.7e9, 1);
}

TEST(Dragonfly, AFailedCableIsOneLessInItsBundlesAndOnNoWay) {
  std::string text = aries(4, "");
  const std::string condition =
      R"(, "condition": {"failed": ["group0/chassis0/router0-group0/chassis0/router1", "group1/*-group3/*"]}})";
  text.replace(text.rfind('}'), 1, condition);
  const auto platform = built(text);
  EXPECT_NEAR(capacity_of(platform, "group0/rank1").si(), (96 * 15 - 2) * 5.25e9 / (15.0 / 16), 1);
  EXPECT_NEAR(capacity_of(platform, "group1/out").si(), 640 * 4.7e9, 1);
  const RouteChoice within = platform.choices(0, 4);  // goes round about
  EXPECT_EQ(within.other.paths, 0);
  EXPECT_THAT(shares(platform, within.minimal),
              testing::UnorderedElementsAre(Pair("node0/nic0/up", 1), Pair("group0/rank1", 2), Pair("group0/rank2", 2),
                                            Pair("node4/nic0/down", 1)));
  const RouteChoice between = platform.choices(384, 3 * 384);
  EXPECT_EQ(between.other.paths, 0);
  EXPECT_EQ(shares(platform, between.minimal).count("group1/to3"), 0U);
}

TEST(Dragonfly, MinimalIsOneShortestWayAndValiantOneThatIsNot) {
  EXPECT_EQ(built(aries(3, R"(, "routing": "minimal")")).network.paths(0, 800).size(), 1U);
  const auto valiant = built(aries(3, R"(, "routing": "valiant")"));
  const auto paths = valiant.network.paths(0, 800);
  ASSERT_EQ(paths.size(), 1U);
  std::set<int> groups;
  for (const Cable& cable : valiant.network.cables) {
    if (std::ranges::find(paths[0], cable.there) == paths[0].end() &&
        std::ranges::find(paths[0], cable.back) == paths[0].end()) {
      continue;
    }
    groups.insert({cable.from / 96, cable.to / 96});
  }
  EXPECT_EQ(groups.size(), 3U);
}

TEST(Dragonfly, RefusesGroupsThatItsRoutersCannotReach) {
  EXPECT_EQ(message_of([] { topology_of(aries(241, "")); }), "(no error)");
  const auto text = network_file("dragonfly", "1", 1,
                                 R"({"groups": 4, "routers_per_chassis": 1, "nodes_per_router": 1,
                                     "rank3": {"link": {"rate": "1 GB/s"}, "cables_per_router": 2}})");
  EXPECT_THAT(
      message_of([&] { topology_of(text); }),
      HasSubstr("/network/rank3/cables_per_router: expected cables from every group to 3 others, got 2 of a group"));
}

}}  // namespace farandole::dragonfly_test
