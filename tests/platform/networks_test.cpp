// What holds on every kind of network: all pairs are routed along cables that exist, none twice; bisection is what its
// definition says.
#include "platform/networks.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>

#include "config/document.hpp"
#include "platform/bisection.hpp"

namespace farandole::networks_test { namespace {

class EveryKind : public testing::TestWithParam<DrawnKind> {};

TEST_P(EveryKind, RoutesAllPairsAlongItsCablesAndNoPathTakesALinkTwice) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const std::string text = GetParam().draw(random, 24);
    SCOPED_TRACE(text);
    const Platform platform = built(text);
    expect_ways_between_all(platform);
  }
}

TEST_P(EveryKind, ReportsTheLeastOfAllBalancedCutsAsItsBisection) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Random random(seed);
    const std::string text = GetParam().draw(random, 9);
    SCOPED_TRACE(text);
    const Platform platform = built(text);
    EXPECT_NEAR(bisection(platform).value() / enumerated_bisection(platform), 1, 1e-12);
  }
}

TEST_P(EveryKind, SendsAsMuchFromOneHalfToTheOtherAsBack) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Platform platform = built(GetParam().draw(random, 9));
    std::vector<bool> first(static_cast<std::size_t>(platform.nodes), false);
    for (int node = 0; node < platform.nodes / 2; ++node) {
      first[static_cast<std::size_t>(draw(random, 0, platform.nodes - 1))] = true;
    }
    std::vector<bool> rest = first;
    rest.flip();
    EXPECT_NEAR(greatest_flow(platform, first) / greatest_flow(platform, rest), 1, 1e-12);
  }
}

/// Where nodes that are moved on by so many are alike, one renumbering of the links takes every way to the moved one.
void expect_alike_after(const Platform& platform, int step) {
  std::map<int, int> moved;
  std::set<int> images;
  for (int from = 0; from < platform.nodes; ++from) {
    for (int to = 0; to < platform.nodes; ++to) {
      if (from == to) continue;
      const Paths before = platform.network.paths(from, to);
      const Paths after = platform.network.paths((from + step) % platform.nodes, (to + step) % platform.nodes);
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        ASSERT_EQ(before[i].size(), after[i].size());
        for (std::size_t j = 0; j < before[i].size(); ++j) {
          EXPECT_EQ(moved.try_emplace(before[i][j], after[i][j]).first->second, after[i][j]);
          images.insert(after[i][j]);
        }
      }
    }
  }
  EXPECT_EQ(images.size(), moved.size());
  for (const auto& [link, other] : moved) {
    EXPECT_EQ(platform.links[static_cast<std::size_t>(link)].capacity,
              platform.links[static_cast<std::size_t>(other)].capacity);
  }
}

TEST_P(EveryKind, IsTheSameForNodesThatAreMovedOnByAsManyAsItSays) {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Random random(seed);
    const std::string text = GetParam().draw(random, 24);
    SCOPED_TRACE(text);
    const Platform platform = built(text);
    if (platform.network.alike_after > 0) expect_alike_after(platform, platform.network.alike_after);
  }
}

TEST_P(EveryKind, IsWhatTheSchemaSays) {
  Random random(4);
  const auto schema = test::source_folder() / "sim/config/schemas/topology.schema.json";
  std::string text = GetParam().draw(random, 24);
  EXPECT_EQ(message_of([&] { check_schema(sample(text), schema); }), "(no error)") << text;
  text.insert(text.find(R"("network": {)") + 12, text.ends_with("{}}") ? R"("ruoting": 1)" : R"("ruoting": 1, )");
  EXPECT_NE(message_of([&] { check_schema(sample(text), schema); }), "(no error)") << text;
  EXPECT_NE(message_of([&] { built(text); }), "(no error)") << text;
}

TEST_P(EveryKind, NamesEveryLinkOnce) {
  Random random(3);
  const Platform platform = built(GetParam().draw(random, 24));
  std::set<std::string> names;
  for (const Link& link : platform.links) names.insert(link.name);
  EXPECT_EQ(names.size(), platform.links.size());
}

INSTANTIATE_TEST_SUITE_P(Drawn, EveryKind, testing::ValuesIn(drawn_kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

class SlowEveryKind : public EveryKind {};

TEST_P(SlowEveryKind, ReportsTheLeastOfAllBalancedCutsUpToSixteenNodes) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    const std::string text = GetParam().draw(random, 16);
    SCOPED_TRACE(text);
    const Platform platform = built(text);
    EXPECT_NEAR(bisection(platform).value() / enumerated_bisection(platform), 1, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Slow, SlowEveryKind, testing::ValuesIn(drawn_kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

/// A cut lets through what it does in its worse direction.
TEST(LeastPrefixCut, IsThatOfTheSlowerDirection) {
  for (const char* slower : {"up", "down"}) {
    std::string text = network_file("torus", "2", 9, R"({"sizes": [2], "link": {"rate": "4 GB/s"}})");
    text.insert(text.rfind('}'), fmt::format(R"(, "condition": {{"degraded": {{"router(0)x/{}": "25 %"}}}})", slower));
    EXPECT_EQ(least_prefix_cut(built(text), std::vector{0, 1}), 1_GBps) << slower;
    EXPECT_EQ(least_prefix_cut(built(text), std::vector{1, 0}), 1_GBps) << slower;
  }
}

}}  // namespace farandole::networks_test
