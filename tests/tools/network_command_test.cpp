// farandole network: the rate that it names is the least that reaches what was asked for, and anybody can run it.
#include <cmath>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::network_command_test { namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* scenario = R"({"name": "vgg", "workload": {"model": "vgg16", "batch_per_rank": 64},
  "platform": {"topology": "roce25-4xp100", "ranks": 16}, "strategy": {"kind": "ddp"},
  "measure": {"iterations": 3, "warmup": 1}})";

class Network : public testing::Test {
 protected:
  Network() { place.write("s.json", scenario); }

  Json asked(const std::string& options) {
    const test::Finished done = place.farandole("network s.json --format json " + options);
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  }
  double efficiency(const Json& set, const std::string& options) {
    std::string line = "run s.json --format json --quiet " + options;
    for (const auto& [pointer, value] : set.items()) line += " --set '" + pointer + "=" + value.dump() + "'";
    return Json::parse(place.farandole(line).out).at("points").at(0).at("scaling_efficiency");
  }

  const test::Workplace place;
};

TEST_F(Network, NamesARateThatReachesTheTargetAndTwoPercentLessDoesNot) {
  const Json answer = asked("--target '80 %' --target '90 %'");
  for (const Json& target : answer.at("answers")) {
    const double rate = target.at("least_nic_bits_per_second");
    EXPECT_GE(efficiency(target.at("set"), ""), target.at("efficiency").get<double>());
    const std::string less = std::to_string(rate / 1.021 / 1e9) + " Gbit/s";
    EXPECT_LT(efficiency({{"/platform/override", {{"/node/nic/rate", less}}}}, ""),
              target.at("efficiency").get<double>());
  }
}

TEST_F(Network, OfAMeasuredJobGivesWhatItsSettingsGiveByHand) {
  const std::string measured = R"(--set '/workload/measured=[{"ranks": 16, "iteration_seconds": 0.7}]')";
  const Json answer = asked("--target '80 %' " + measured);
  ASSERT_GT(answer.at("rates").size(), 3U);
  for (const Json& rate : answer.at("rates")) {
    const double by_hand = efficiency(rate.at("set"), measured);
    EXPECT_NEAR(rate.at("point").at("scaling_efficiency").get<double>(), by_hand, 1e-9);
  }
}

TEST_F(Network, ReachesNoLessWithFasterNics) {
  double before = 0;
  const Json answer = asked("--target '90 %'");
  ASSERT_GT(answer.at("rates").size(), 3U);
  for (const Json& rate : answer.at("rates")) {
    const double efficiency = rate.at("point").at("scaling_efficiency");
    EXPECT_GE(efficiency, before * 0.98) << rate.at("nic_bits_per_second");
    before = efficiency;
  }
}

TEST_F(Network, AsksForMoreWhereMoreIsWanted) {
  const Json answers = asked("").at("answers");
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_LE(answers.at(0).at("least_nic_bits_per_second"), answers.at(1).at("least_nic_bits_per_second"));
  for (const Json& answer : answers) {
    const Json rate = answer.at("least_nic_bits_per_second");
    if (rate.is_null()) continue;
    EXPECT_LE(answer.at("band").at(0), rate);
    const Json most = answer.at("band").at(1);
    EXPECT_TRUE(most.is_null() || most >= rate) << most;
  }
}

TEST_F(Network, ScalesTheLinksBetweenSwitchesWithTheNics) {
  const Json answer = asked("--target '50 %' --set /platform/topology=thetagpu --set /platform/ranks=32");
  for (const Json& rate : answer.at("rates")) {
    const Json set = rate.at("set").at("/platform/override");
    EXPECT_EQ(set.at("/network/link/rate"), set.at("/node/nic/rate")) << "both 200 Gbit/s in the file";
  }
}

TEST_F(Network, PutsTheSameDevicesWithOtherNicsAndInOtherMachinesBesideIt) {
  const std::string on_h100 =
      "--set platform.topology=hgx-h100 --set platform.ranks=16 --set workload.model=gpt2_small";
  const Json others = asked("--target '50 %' " + on_h100).at("others");
  std::vector<std::pair<std::string, int>> names;
  for (const Json& other : others) {
    names.emplace_back(other.at("machine"), other.at("nics_per_node"));
    EXPECT_NEAR(other.at("point").at("scaling_efficiency").get<double>(), efficiency(other.at("set"), on_h100), 1e-9);
  }
  using testing::Pair;
  EXPECT_THAT(names, testing::IsSupersetOf({Pair("hgx-h100", 1), Pair("hgx-h100", 2), Pair("hgx-h100", 4)}));
  EXPECT_THAT(names, testing::IsSupersetOf({Pair("dgx-h100", 8), Pair("gcp-a3-mega", 8)}));
  EXPECT_THAT(names, testing::Not(testing::Contains(Pair("hgx-h100", 8)))) << "as it stands";
  EXPECT_LE(others.at(0).at("point").at("scaling_efficiency"), others.at(2).at("point").at("scaling_efficiency"));
}

/// A node's price x its NICs' share x nodes; a point costs what more NICs do over what they bring.
TEST_F(Network, SaysWhatAPointOfEfficiencyCostsWhereAPriceIsKnown) {
  const std::string on_h100 =
      "--target '50 %' --set platform.topology=hgx-h100 --set platform.ranks=32 --set workload.model=gpt2_small ";
  const auto priced = [&](const std::string& options) { return asked(on_h100 + options).at("prices"); };
  const Json own = priced("--network-price '40000 EUR'");
  EXPECT_EQ(own.at("currency"), "EUR");
  const Json& rows = own.at("rows");
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t row = 0; row < 4; ++row) {
    const double nics = rows.at(row).at("nics_per_node");
    EXPECT_EQ(nics, std::exp2(row));
    EXPECT_NEAR(rows.at(row).at("price").get<double>(), 40000 * 4 * nics / 8, 1e-6);
    const Json& point = rows.at(row).at("price_per_point");
    const double more =
        row < 3 ? rows.at(row + 1).at("efficiency").get<double>() - rows.at(row).at("efficiency").get<double>() : 0;
    ASSERT_EQ(point.is_null(), more <= 0);
    if (more > 0) {
      EXPECT_NEAR(point.get<double>(), 40000 * 4 * nics / 8 / (100 * more), 1e-3);
    }
  }
  const Json bought = priced("--set '/economics={\"offer\": \"dgx-h100-bought\"}'");
  EXPECT_NEAR(bought.at("rows").at(3).at("price").get<double>(), 270000 * 0.15 * 4, 1e-6);
  EXPECT_FALSE(asked(on_h100).contains("prices"));
  EXPECT_THAT(
      place.farandole("network s.json --network-price 40000").err,
      HasSubstr("farandole: --network-price: expected an amount of money such as \"40000 USD\", got \"40000\""));
}

TEST_F(Network, RefusesWhatHasNone) {
  EXPECT_THAT(place.farandole("network s.json --set /platform/ranks=4").err, HasSubstr("a job on several nodes"));
  EXPECT_EQ(place.farandole("network s.json --set /platform/ranks=4").status, 2);
  EXPECT_THAT(place.farandole("network s.json --target '100 %'").err, HasSubstr("--target: expected a share"));
  EXPECT_THAT(place.farandole("network s.json --format csv").err, HasSubstr("--format: expected table or json"));
}

TEST_F(Network, SaysThatNicsAreNotEnoughWhereATargetIsOutOfTheirReach) {
  const char* const words = "Faster NICs do not bring the rest";
  EXPECT_THAT(place.farandole("network s.json --target '99.9 %'").out, HasSubstr(words));
  EXPECT_THAT(place.farandole("network s.json --target '20 %'").out, testing::Not(HasSubstr(words)));
}

TEST_F(Network, AnswersInTheFormOfItsSchemaAndOnAPage) {
  EXPECT_EQ(place.farandole("network s.json --format json --output a.json --html a.html").status, 0);
  EXPECT_EQ(place.farandole("check a.json").out, "a.json: network_answer, ok\n");
  std::string text = test::contents(place.folder() / "a.json");
  place.write("b.json", text.replace(text.find("\"rates\""), 7, "\"rtaes\""));
  EXPECT_THAT(place.farandole("check b.json").err, HasSubstr("rates"));
  EXPECT_THAT(test::contents(place.folder() / "a.html"), HasSubstr("Rates that were tried"));
}

TEST_F(Network, OfNodesWithoutSwitchesIsThinnedWhereTheJobGoes) {
  const Json none = Json::object();
  const Json thin{{"/platform/override",
                   {{"/kind", "leaf_spine"},
                    {"/network",
                     {{"nodes_per_leaf", 2},
                      {"oversubscription", 16},
                      {"routing", "spread"},
                      {"link", {{"rate", "1.5625 Gbit/s"}}}}}}}};
  const double by_hand = efficiency(thin, "");
  EXPECT_LT(by_hand, efficiency(none, "") - .1);  // a sixteenth of the NICs' rate between leaves
  const Json answer = asked("--target '" + std::to_string(100 * (by_hand + .02)) + " %'");
  EXPECT_LT(answer.at("answers").at(0).at("oversubscription").get<double>(), 16);
}

/// What gathers within a node takes as much of its devices however many NICs that has.
TEST_F(Network, WithFewerNicsIsNotFasterWhereGroupsStayInNodes) {
  place.write("hybrid.json",
              R"({"name": "hybrid", "workload": {"model": "gpt2_large", "batch_per_rank": 4, "precision": "fp16"},
    "platform": {"topology": "mi300x-8", "ranks": 32}, "measure": {"iterations": 2, "warmup": 1},
    "strategy": {"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 8}})");
  const Json answer = Json::parse(place.farandole("network hybrid.json --format json").out);
  double fewer = 0;
  for (const Json& other : answer.at("others")) {
    if (other.at("machine") != "mi300x-8") continue;
    const double efficiency = other.at("point").at("scaling_efficiency");
    EXPECT_GT(efficiency, fewer) << other.at("nics_per_node");
    fewer = efficiency;
  }
  EXPECT_GT(fewer, 0);
  EXPECT_GT(answer.at("own").at("scaling_efficiency").get<double>(), fewer);
}

TEST_F(Network, SaysWhatItAssumes) {
  const std::string text = place.farandole("network s.json").out;
  EXPECT_THAT(text, HasSubstr("of what devices could do"));
  EXPECT_THAT(text, HasSubstr("leaves of 2 nodes under spines are assumed"));  // half of the job's: it leaves them
  EXPECT_THAT(text, HasSubstr("--set '/platform/override={\"/node/nic/rate\":"));
}

}}  // namespace farandole::network_command_test
