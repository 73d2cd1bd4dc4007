// Links that are slower, in use by others, or failed.
#include "platform/condition.hpp"

#include <set>

#include <gmock/gmock.h>

#include "config/document.hpp"
#include "platform/bisection.hpp"
#include "platform/networks.hpp"

namespace farandole::condition_test { namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string with_condition(std::string file, const std::string& condition) {
  file.insert(file.rfind('}'), R"(, "condition": )" + condition);
  return file;
}

/// Four nodes under two leaves, two spines; NICs of 10 GB/s, cables of 8 GB/s.
std::string two_leaves(const std::string& condition, const std::string& routing = "ecmp") {
  const std::string network =
      R"({"nodes_per_leaf": 2, "spines": 2, "link": {"rate": "8 GB/s"}, "routing": ")" + routing + "\"}";
  return with_condition(network_file("leaf_spine", "4", 10, network), condition);
}

BytesPerSecond capacity(const Platform& platform, const std::string& name) {
  return std::ranges::find(platform.links, name, &Link::name)->capacity;
}

std::string refusal(const std::string& condition) {
  return message_of([&] { built(two_leaves(condition)); });
}

TEST(Patterns, NameALinkByItsNameOrByItsBeginningUpToASlash) {
  EXPECT_TRUE(is_named_by("node3/nic0/up", "node3/nic0/up"));
  EXPECT_TRUE(is_named_by("node3", "node3/nic0/up"));
  EXPECT_TRUE(is_named_by("node3/nic0", "node3/nic0/up"));
  EXPECT_FALSE(is_named_by("node3", "node30/nic0/up"));
  EXPECT_FALSE(is_named_by("nic0", "node3/nic0/up"));
}

TEST(Patterns, HaveAStarForAnything) {
  EXPECT_TRUE(is_named_by("*/nic1/up", "node3/nic1/up"));
  EXPECT_TRUE(is_named_by("leaf*-spine1", "leaf12-spine1/down"));
  EXPECT_TRUE(is_named_by("*", "anything/at/all"));
  EXPECT_FALSE(is_named_by("leaf*-spine1", "leaf12-spine10/down"));
  EXPECT_FALSE(is_named_by("*/up", "node3/nic1/down"));
}

TEST(Condition, LeavesOfADegradedLinkTheShareThatItSays) {
  const Platform platform = built(two_leaves(R"({"degraded": {"leaf0-spine1": "25 %", "node3/nic0/up": "50 %"}})"));
  EXPECT_EQ(capacity(platform, "leaf0-spine1/up"), 2_GBps);
  EXPECT_EQ(capacity(platform, "leaf0-spine1/down"), 2_GBps);
  EXPECT_EQ(capacity(platform, "leaf0-spine0/up"), 8_GBps);
  EXPECT_EQ(capacity(platform, "node3/nic0/up"), 5_GBps);
  EXPECT_EQ(capacity(platform, "node3/nic0/down"), 10_GBps);
}

TEST(Condition, TakesBackgroundOffWhatIsLeft) {
  const Platform platform =
      built(two_leaves(R"({"background": {"leaf*": "1 GB/s", "leaf0-*": "1 GB/s", "leaf0-spine1/up": "8 Gbit/s"},
                           "degraded": {"leaf0-spine1/up": "50 %"}})"));
  EXPECT_EQ(capacity(platform, "leaf1-spine0/up"), 7_GBps);
  EXPECT_EQ(capacity(platform, "leaf0-spine1/up"), 1_GBps);  // 8 / 2 - 1 - 1 - 1
}

TEST(Condition, GivesLinksACurveOfWhatConvergingFlowsLeave) {
  const Platform platform = built(
      two_leaves(R"({"congestion": {"*/nic0/down": [{"flows": 4, "left": "80 %"}, {"flows": 16, "left": "50 %"}]}})"));
  const auto curve = std::ranges::find(platform.links, "node1/nic0/down", &Link::name)->congestion;
  ASSERT_NE(curve, nullptr);
  EXPECT_DOUBLE_EQ(curve->left(10), 0.65);
  EXPECT_EQ(std::ranges::find(platform.links, "node1/nic0/up", &Link::name)->congestion, nullptr);
  const auto refused = [](const std::string& points) { return refusal(R"({"congestion": {"*": )" + points + "}}"); };
  EXPECT_THAT(refused("[]"), HasSubstr("at least one point"));
  EXPECT_THAT(refused(R"([{"flows": 1, "left": "80 %"}])"), HasSubstr("/congestion/*/0/flows: expected"));
  EXPECT_THAT(refused(R"([{"flows": 4, "left": "80 %"}, {"flows": 3, "left": "70 %"}])"), HasSubstr("more flows than"));
  EXPECT_THAT(refused(R"([{"flows": 4, "left": "80 %"}, {"flows": 8, "left": "90 %"}])"), HasSubstr("no more than is"));
}

TEST(Condition, SendsAllOverTheSpineThatIsLeft) {
  for (const std::string routing : {"ecmp", "d_mod_k", "spread"}) {
    const Platform platform = built(two_leaves(R"({"failed": ["leaf0-spine0"]})", routing));
    for (int from : {0, 1}) {
      for (int to : {2, 3}) {
        EXPECT_THAT(names_of(platform, platform.route(from, to)),
                    testing::ElementsAre("node" + std::to_string(from) + "/nic0/up", "leaf0-spine1/up",
                                         "leaf1-spine1/down", "node" + std::to_string(to) + "/nic0/down"));
        EXPECT_EQ(platform.route(from, to).paths, 1);
      }
    }
  }
}

TEST(Condition, SharesOutOverTheWaysThatAreLeft) {
  const std::string network = R"({"nodes_per_leaf": 2, "spines": 4, "link": {"rate": "8 GB/s"}, "routing": "spread"})";
  const std::string file = network_file("leaf_spine", "4", 10, network);
  EXPECT_EQ(built(file).route(0, 2).paths, 4);
  const Platform platform = built(with_condition(file, R"({"failed": ["leaf0-spine2", "leaf1-spine3"]})"));
  EXPECT_EQ(platform.route(0, 2).paths, 2);
  EXPECT_EQ(platform.route(0, 1).paths, 1);
  EXPECT_EQ(bisection(platform), enumerated_bisection(platform));
}

TEST(Condition, GoesTheOtherWayRoundATorus) {
  const std::string network = R"({"sizes": [5], "link": {"rate": "1 GB/s"}})";
  const Platform platform =
      built(with_condition(network_file("torus", "5", 10, network), R"({"failed": ["router(0)x"]})"));
  EXPECT_THAT(platform.network.paths(0, 1), testing::ElementsAre(SizeIs(4)));
  EXPECT_THAT(platform.network.paths(4, 0), testing::ElementsAre(SizeIs(1)));
  EXPECT_EQ(bisection(platform), 1_GBps);  // a line is cut by cutting one cable
}

TEST(Condition, IsRefusedWhereItSaysWhatCannotBe) {
  EXPECT_THAT(refusal(R"({"degraded": {"leaf7": "50 %"}})"), HasSubstr("expected a link that \"leaf7\""));
  EXPECT_THAT(refusal(R"({"degraded": {"leaf0": "0 %"}})"),
              HasSubstr("/condition/degraded/leaf0: expected a percentage above 0 %"));
  EXPECT_THAT(refusal(R"({"degraded": {"leaf0": "120 %"}})"), HasSubstr("up to 100 %"));
  EXPECT_THAT(refusal(R"({"background": {"leaf0-*": "8 GB/s"}})"),
              HasSubstr("expected less background than the 64 Gbit"));
  EXPECT_THAT(refusal(R"({"failed": ["node0"]})"), HasSubstr("expected a cable between switches that \"node0\""));
  EXPECT_THAT(refusal(R"({"failed": ["leaf0-*"]})"), HasSubstr("none from node 0 to node 2, with 2 failed cables"));
  EXPECT_THAT(refusal(R"({"faild": []})"), HasSubstr("did you mean \"failed\"?"));
}

TEST(Condition, IsWhatTheSchemaSays) {
  const auto schema = test::source_folder() / "sim/config/schemas/topology.schema.json";
  const auto verdict = [&](const std::string& condition) {
    return message_of([&] { check_schema(sample(two_leaves(condition)), schema); });
  };
  EXPECT_EQ(verdict(R"({"comment": "c", "source": "s", "degraded": {"comment": "c", "source": "s", "leaf0": "50 %"},
                        "background": {"leaf*": "1 GB/s"}, "failed": ["leaf0-spine0"],
                        "congestion": {"leaf*": [{"flows": 2, "left": "90 %"}]}})"),
            "(no error)");
  EXPECT_NE(verdict(R"({"faild": []})"), "(no error)");
  EXPECT_NE(verdict(R"({"background": {"leaf0": "50 %"}})"), "(no error)");
}

/// Whether the switches that NICs are plugged into are all reached from the first one's.
bool joins_all(const Network& network) {
  std::set<int> reached{network.switch_of_nic.front()};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const Cable& cable : network.cables) {
      if (reached.contains(cable.from) || reached.contains(cable.to)) reached.insert({cable.from, cable.to});
    }
  }
  return std::ranges::all_of(network.switch_of_nic, [&](int at) { return reached.contains(at); });
}

class FailedCable : public testing::TestWithParam<DrawnKind> {};

TEST_P(FailedCable, IsGoneRoundByAllPairsOrPartsTheNetwork) {
  int gone_round = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const std::string text = GetParam().draw(random, 16);
    const Platform whole = built(text);
    if (whole.network.cables.empty()) continue;
    const int victim = draw(random, 0, static_cast<int>(whole.network.cables.size()) - 1);
    const Cable cable = whole.network.cables[static_cast<std::size_t>(victim)];
    const std::string name = whole.links[static_cast<std::size_t>(cable.there)].name;
    const std::string file = with_condition(text, R"({"failed": [")" + name.substr(0, name.rfind('/')) + R"("]})");
    SCOPED_TRACE(file);
    Platform rest = whole;
    std::erase_if(rest.network.cables, [&](const Cable& other) { return other.there == cable.there; });
    const bool is_joined = joins_all(rest.network);
    EXPECT_EQ(message_of([&] { built(file); }).find("a way between all nodes") == std::string::npos, is_joined);
    if (!is_joined) continue;
    ++gone_round;
    expect_ways_between_all(built(file));
  }
  EXPECT_GE(gone_round, std::string(GetParam().name) == "star" ? 0 : 5);
}

INSTANTIATE_TEST_SUITE_P(Drawn, FailedCable, testing::ValuesIn(drawn_kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

}}  // namespace farandole::condition_test
