// What holds on every kind of network: all pairs are routed along cables that exist, none twice; bisection is what its
// definition says.
#include "platform/networks.hpp"

#include <set>

#include <gmock/gmock.h>

#include "config/schema.hpp"
#include "platform/bisection.hpp"

namespace farandole {
namespace {

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

TEST_P(EveryKind, IsWhatTheSchemaSays) {
  Random random(4);
  const auto schema = source_folder() / "sim/config/schemas/topology.schema.json";
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

}  // namespace
}  // namespace farandole
