// farandole cost: what it says of a run is what its options give by hand; years are the same work, in the same
// proportion.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::cost_command_test { namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* scenario = R"({"name": "job", "workload": {"model": "resnet50", "batch_per_rank": 64},
  "platform": {"topology": "dgx-h100", "ranks": 16}, "strategy": {"kind": "ddp"},
  "run": {"samples": 128000000, "epochs": 1}, "measure": {"iterations": 2, "warmup": 1}})";
constexpr double hours_of_a_year = 8760;

class Cost : public testing::Test {
 protected:
  Cost() { place.write("s.json", scenario); }

  Json asked(const std::string& options) {
    const test::Finished done = place.farandole("cost s.json --format json " + options);
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  }
  double cost(const std::string& options, const char* of) {
    return asked(options).at("offers").at(0).at(of).at("cost");
  }

  const test::Workplace place;
};

TEST_F(Cost, OfARunIsWhatItsOptionGivesByHand) {
  const Json answer = asked("--utilisation '50 %'");
  ASSERT_GE(answer.at("offers").size(), 4U);
  for (const Json& offer : answer.at("offers")) {
    const test::Finished done = place.farandole(
        "run s.json --format json --quiet --set '/economics=" + offer.at("set").at("/economics").dump() + "'");
    ASSERT_EQ(done.status, 0) << done.err;
    const Json by_hand = Json::parse(done.out).at("points").at(0).at("economics");
    EXPECT_NEAR(offer.at("run").at("cost").get<double>() / by_hand.at("cost_per_run").get<double>(), 1, 1e-9);
    EXPECT_NEAR(offer.at("run").at("joules").get<double>() / by_hand.at("joules_per_run").get<double>(), 1, 1e-9);
  }
}

TEST_F(Cost, SaysWhereOffersAreInAnotherCurrency) {
  const std::string both = "cost s.json --offer lambda-h100-on-demand --price '16 EUR/h'";
  EXPECT_THAT(place.farandole(both).out, HasSubstr("--exchange '0.92 EUR/USD'"));
  EXPECT_THAT(place.farandole(both + " --exchange '0.92 EUR/USD'").out, Not(HasSubstr("are not compared")));
}

TEST_F(Cost, IsLinearInThePrice) {
  for (const char* of : {"run", "years"}) {
    const double once = cost("--price '10 USD/h' --offer lambda-h100-on-demand --set /name=a", of);
    EXPECT_GT(once, 0);
    const Json twice = asked("--price '20 USD/h' --offer lambda-h100-on-demand");
    for (const Json& offer : twice.at("offers")) {
      if (offer.at("offer") != "own-price") continue;
      EXPECT_NEAR(offer.at(of).at("cost").get<double>(), 2 * once, 1e-9 * once);
    }
  }
}

TEST_F(Cost, OfYearsIsTheWorkOfTheNodesInUseForThatShareOfThem) {
  const Json answer = asked("--price '10 USD/h' --offer lambda-h100-on-demand --years 2 --utilisation '25 %'");
  for (const Json& offer : answer.at("offers")) {
    const double hours = offer.at("run").at("hours").get<double>() * answer.at("runs").get<double>();
    EXPECT_NEAR(hours, 2 * hours_of_a_year * 0.25, 1e-6) << "nothing interrupts these";
    EXPECT_NEAR(offer.at("years").at("cost").get<double>(), hours * 2 * offer.at("cost_per_node_hour").get<double>(),
                1e-3)
        << "two nodes";
  }
}

TEST_F(Cost, CountsEnergyAndCarbonInTheSameProportion) {
  const Json usual = asked("--offer lambda-h100-on-demand");
  const Json half = asked("--offer lambda-h100-on-demand --co2 '218 g/kWh'");
  const double kwh = usual.at("offers").at(0).at("run").at("joules").get<double>() / 3.6e6;
  EXPECT_NEAR(usual.at("offers").at(0).at("run").at("grams_co2").get<double>(), kwh * 436, 1e-6 * kwh);
  EXPECT_NEAR(half.at("offers").at(0).at("run").at("grams_co2").get<double>(), kwh * 218, 1e-6 * kwh);
}

TEST_F(Cost, OfMachinesOfOnesOwnCountsTheirIdlePower) {
  const auto joules = [&](const std::string& share) {
    const Json answer = asked("--offer dgx-h100-bought --utilisation '" + share + "'");
    return answer.at("offers").at(0).at("years").at("joules").get<double>() / answer.at("runs").get<double>();
  };
  EXPECT_GT(joules("30 %"), joules("60 %"));
  const Json full = asked("--offer dgx-h100-bought --utilisation '100 %'").at("offers").at(0);
  EXPECT_NEAR(joules("100 %") / full.at("run").at("joules").get<double>(), 1, 1e-9);
}

TEST_F(Cost, SaysWhichPricesAreOlderThanSixMonths) {
  const std::string then = place.farandole("cost s.json --offer aws-p5-capacity-block --on 2025-06").out;
  EXPECT_THAT(then, Not(HasSubstr("older than six months")));
  EXPECT_THAT(place.farandole("cost s.json --offer aws-p5-capacity-block --on 2025-07").out,
              HasSubstr("2024-12 (older than six months)"));
}

TEST_F(Cost, TakesAnotherCurrency) {
  const double dollars = cost("--offer lambda-h100-on-demand", "run");
  const Json euros = asked("--offer lambda-h100-on-demand --exchange '0.5 EUR/USD'").at("offers").at(0);
  EXPECT_EQ(euros.at("currency"), "EUR");
  EXPECT_NEAR(euros.at("run").at("cost").get<double>(), dollars / 2, 1e-9 * dollars);
}

TEST_F(Cost, ComparesPricesOfOneCurrencyOnly) {
  const Json offers = asked("--price '100000 JPY/h'").at("offers");
  ASSERT_GE(offers.size(), 3U);
  EXPECT_EQ(offers.at(0).at("currency"), "JPY") << "one's own price first, though the number is larger";
  for (std::size_t next = 2; next < offers.size(); ++next)
    EXPECT_LE(offers.at(next - 1).at("years").at("cost").get<double>(),
              offers.at(next).at("years").at("cost").get<double>());
}

TEST_F(Cost, AnswersInTheFormOfItsSchemaAndOnAPage) {
  EXPECT_EQ(place.farandole("cost s.json --format json --output a.json --html a.html --markdown a.md").status, 0);
  EXPECT_EQ(place.farandole("check a.json").out, "a.json: cost_answer, ok\n");
  std::string text = test::contents(place.folder() / "a.json");
  place.write("b.json", text.replace(text.find("\"has_minimum\""), 13, "\"has_minimmu\""));
  EXPECT_THAT(place.farandole("check b.json").err, HasSubstr("has_minimum"));
  EXPECT_THAT(test::contents(place.folder() / "a.html"), HasSubstr("The same work over years"));
  EXPECT_THAT(test::contents(place.folder() / "a.md"), HasSubstr("| lambda-h100-on-demand |"));
}

TEST_F(Cost, OfAScenarioWithoutARunIsADayOfTraining) {
  test::Finished done = place.farandole("cost s.json --set /run=null");
  EXPECT_EQ(done.status, 2) << "null is no run";
  Json without = Json::parse(scenario);
  without.erase("run");
  place.write("day.json", without.dump());
  done = place.farandole("cost day.json --price '10 USD/h' --offer lambda-h100-on-demand");
  EXPECT_THAT(done.out, HasSubstr("a day of training costs 480.0 USD by own-price")) << done.err;
  EXPECT_THAT(done.out, HasSubstr("a day of training stands for it"));
}

TEST_F(Cost, RefusesWhatIsWrong) {
  const auto refused = [&](const std::string& options) {
    const test::Finished done = place.farandole("cost s.json " + options);
    EXPECT_EQ(done.status, 2) << options;
    return done.err;
  };
  EXPECT_THAT(refused("--offer lambda-h10-on-demand"), HasSubstr("--offer: expected an offer"));
  for (const char* price : {"'10 USD'", "20"}) {
    EXPECT_THAT(refused(std::string("--price ") + price),
                testing::StartsWith("farandole: --price: expected a price such as \"32.77 USD/h\""));
  }
  EXPECT_THAT(refused("--co2 '436 kg/kWh'"), HasSubstr("--co2: expected grams such as 436 g/kWh"));
  EXPECT_THAT(refused("--exchange '0.9 EUR'"), HasSubstr("--exchange: expected a rate such as 0.92 EUR/USD"));
  EXPECT_THAT(refused("--utilisation '0 %'"), HasSubstr("--utilisation: expected a share above 0 %"));
  for (const char* month : {"2025", "2026-13", "2026-00"}) {
    EXPECT_THAT(refused(std::string("--on ") + month), HasSubstr("--on: expected a month such as 2026-11"));
  }
  EXPECT_THAT(refused("--set /platform/topology=polaris --set /platform/ranks=8"),
              HasSubstr("--offer: expected an offer, or --price, as there is none of 4 a100 a node"));
}

}}  // namespace farandole::cost_command_test
