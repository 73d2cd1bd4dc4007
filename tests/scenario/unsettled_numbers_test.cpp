// Numbers that nothing has settled: which they are, and what they do to a band.
#include "scenario/unsettled_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/model_error.hpp"
#include "scenario/scenario_kit.hpp"
#include "timeline/difference.hpp"

namespace farandole::unsettled_numbers_test { namespace {

using test::Change;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

constexpr const char* prior =
    R"("priors": {"/node/nic/host_rate": {"between": ["2 GB/s", "20 GB/s"], "source": "a test"},
                  "/node/nic/latency": {"between": ["1 us", "40 us"], "source": "a test"}})";
constexpr const char* posterior =
    R"("calibration": {"date": "today", "source": ["runs.csv"], "parameters": [
         {"name": "rate", "pointer": "/node/nic/host_rate", "value": "5 GB/s", "between": "4 GB/s .. 9 GB/s"},
         {"name": "launch", "pointer": "/transport/launch", "value": "8 us", "standard_error": "1e-06 s"}]})";

/// A machine whose file ends with `more`, removed with its folder.
class Machine {
 public:
  explicit Machine(const std::string& more) {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(testing::TempDir()) / (std::string("machine-") + test->name() + std::to_string(made_++));
    std::filesystem::create_directories(folder_);
    std::ofstream(file()) << R"({"name": "machine", "summary": "of a test", "kind": "star", "nodes": "as needed",
      "node": {"devices": 1, "device": "p100",
               "nic": {"rate": "25 Gbit/s", "latency": "2 us", "host_rate": "5 GB/s"}})"
                          << (more.empty() ? "" : ", ") << more << "}";
  }
  ~Machine() { std::filesystem::remove_all(folder_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "machine.json"; }

 private:
  static inline int made_ = 0;
  std::filesystem::path folder_;
};

/// VGG-16, which communication bounds; compute is given, so that no other source is open but the simulator's error.
std::vector<Change> on(const Machine& machine, const std::vector<Change>& more = {}) {
  std::vector<Change> changes{
      {"/workload", R"({"model": "vgg16", "batch_per_rank": 32, "device_steps": [{"batch": 32, "time": "200 ms"}]})"},
      {"/platform", R"({"topology": ")" + machine.file().string() + R"(", "ranks": 4})"}};
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

TrainingPoint point_on(const Machine& machine, const std::vector<Change>& more = {}) {
  return test::run(on(machine, more)).points.front();
}

std::vector<UnsettledNumber> numbers_on(const Machine& machine, const std::vector<Change>& more = {}) {
  const Document document = test::changed(on(machine, more));
  const Catalogue catalogue;
  read_scenario(document.root(), catalogue);
  return unsettled_numbers(document, catalogue);
}

auto is(const std::string& pointer, const std::string& low, const std::string& high) {
  return testing::AllOf(Field(&UnsettledNumber::pointer, pointer),
                        Field(&UnsettledNumber::ends, ElementsAre(low, high)));
}

TEST(UnsettledNumbers, OfAMachineAreWhatRunsLeftOfThemElseWhatIsBelieved) {
  EXPECT_TRUE(numbers_on(Machine("")).empty());
  EXPECT_THAT(numbers_on(Machine(prior)),
              ElementsAre(is("/node/nic/host_rate", "2 GB/s", "20 GB/s"), is("/node/nic/latency", "1 us", "40 us")));
  EXPECT_THAT(numbers_on(Machine(std::string(posterior) + ", " + prior)),
              ElementsAre(is("/node/nic/host_rate", "4 GB/s", "9 GB/s"), is("/node/nic/latency", "1 us", "40 us")));
}

TEST(UnsettledNumbers, AreThoseThatTheScenarioDoesNotSetItself) {
  const Machine machine(prior);
  const auto left = numbers_on(machine, {{"/platform/override", R"({"/node/nic/host_rate": "6 GB/s"})"}});
  EXPECT_THAT(left, ElementsAre(is("/node/nic/latency", "1 us", "40 us")));
  EXPECT_TRUE(numbers_on(machine, {{"/platform/override", R"({"/node/nic": {"rate": "10 Gbit/s"}})"}}).empty());
}

constexpr const char* spread =
    R"("priors": {"/variability/device_spread": {"between": ["0.5 %", "4 %"], "source": "a test"}},
       "variability": {"device_spread": "1.5 %", "step_jitter": "0 %", "source": "a test"})";

TEST(UnsettledNumbers, OfVariabilityAreSettledByAnEffectThatSaysOtherwise) {
  const Machine machine(spread);
  EXPECT_THAT(numbers_on(machine), ElementsAre(is("/variability/device_spread", "0.5 %", "4 %")));
  EXPECT_TRUE(numbers_on(machine, {{"/effects", R"({"device_spread": "1 %"})"}}).empty());
  EXPECT_EQ(numbers_on(machine, {{"/effects", R"({"step_jitter": "1 %"})"}}).size(), 1U);
}

TEST(UnsettledNumbers, OfEveryMachineWhoseDevicesDifferAreByHowMuch) {
  const Catalogue catalogue;
  int machines = 0;
  for (const std::string& name : catalogue.topologies()) {
    const Document file = Document::read(catalogue.root() / "topologies" / (name + ".json"));
    if (!file.find("/variability/device_spread")) continue;
    ++machines;
    EXPECT_TRUE(file.find("/priors/~1variability~1device_spread/source")) << name;
  }
  EXPECT_GT(machines, 30);
}

double log_high(const TrainingPoint& point) {
  return std::log(point.bands->iteration.high / point.iteration.si());
}

double log_low(const TrainingPoint& point) {
  return std::log(point.iteration.si() / point.bands->iteration.low);
}

double log_step_with(const Machine& machine, const char* override_) {
  return std::log(point_on(machine, {{"/platform/override", override_}}).iteration / point_on(machine).iteration);
}

// The logarithm of each end is sqrt(e^2 + sum of d_j^2), with e the simulator's own error and d_j what number j does to
// the step at its end.
TEST(UnsettledNumbers, WidenABandByWhatTheyDoToTheStepAtTheirEndsInSquares) {
  const Machine known("");
  const Machine unknown(prior);
  const TrainingPoint plain = point_on(known);
  const TrainingPoint wide = point_on(unknown);
  EXPECT_EQ(plain.iteration, wide.iteration);
  const double slow_rate = log_step_with(known, R"({"/node/nic/host_rate": "2 GB/s"})");
  const double fast_rate = log_step_with(known, R"({"/node/nic/host_rate": "20 GB/s"})");
  const double slow_latency = log_step_with(known, R"({"/node/nic/latency": "40 us"})");
  const double fast_latency = log_step_with(known, R"({"/node/nic/latency": "1 us"})");
  EXPECT_GT(slow_rate, 0.1);
  EXPECT_LT(fast_rate, -0.05);
  EXPECT_NEAR(log_high(wide), std::hypot(log_high(plain), slow_rate, slow_latency), 1e-9);
  EXPECT_NEAR(log_low(wide), std::hypot(log_low(plain), fast_rate, fast_latency), 1e-9);
  EXPECT_NEAR(wide.bands->scaling_efficiency.low * wide.bands->iteration.high,
              wide.scaling_efficiency * wide.iteration.si(), 1e-9);
}

// The slowest of n devices: the more there are, the more it matters by how much they differ.
TEST(UnsettledNumbers, OfDevicesThatDifferWidenABandWithTheNumberOfRanks) {
  const Machine machine(spread);
  const auto widened = [&](int ranks) {
    const std::vector<Change> so_many{{"/platform/ranks", std::to_string(ranks)}};
    const double without = log_high(
        point_on(machine, {{"/platform/ranks", std::to_string(ranks)}, {"/effects", R"({"device_spread": "1.5 %"})"}}));
    return log_high(point_on(machine, so_many)) - without;
  };
  EXPECT_GT(widened(2), 0);
  EXPECT_GT(widened(64), 1.5 * widened(2));
}

TEST(UnsettledNumbers, OfServersStandInTheScenario) {
  const Machine machine(
      R"("priors": {"/strategy/server_rate": {"between": ["100 MB/s", "1 GB/s"], "source": "a test"}})");
  const Change servers{"/strategy", R"({"kind": "parameter_server"})"};
  EXPECT_GT(log_high(point_on(machine, {servers})), 1.5 * log_high(point_on(Machine(""), {servers})));
  EXPECT_TRUE(numbers_on(machine, {servers, {"/strategy/server_rate", "\"1 GB/s\""}}).empty());
  EXPECT_EQ(log_high(point_on(machine)), log_high(point_on(Machine(""))));  // Horovod has none
}

TEST(UnsettledNumbers, AreNamedAmongTheSettingsAndLeaveOneRankAlone) {
  const Machine machine(prior);
  const Settings settings = test::run(on(machine)).settings;
  ASSERT_TRUE(settings.contains("unsettled"));
  EXPECT_THAT(settings.at("unsettled"), HasSubstr("/node/nic/host_rate 2 GB/s .. 20 GB/s"));
  EXPECT_FALSE(test::run(on(Machine(""))).settings.contains("unsettled"));
  const RunResult alone = test::run(on(machine, {{"/platform/ranks", "1"}}));
  EXPECT_FALSE(alone.settings.contains("unsettled"));
  EXPECT_FALSE(alone.points.front().bands);
}

TEST(UnsettledNumbers, WithoutTwoEndsAreRefusedWithTheirPlace) {
  const Machine machine(
      R"("calibration": {"date": "today", "source": [], "parameters": [
         {"name": "rate", "pointer": "/node/nic/host_rate", "value": "5 GB/s", "between": "about 5 GB/s"}]})");
  EXPECT_THAT(test::error_of(on(machine)), HasSubstr("/calibration/parameters/0/between: expected two ends"));
}

WhatIf twice_the_network(const Machine& machine, const std::vector<Change>& more = {}) {
  RunOptions options;
  options.explain = true;
  const TrainingPoint point = test::run(on(machine, more), options).points.front();
  for (const WhatIf& what_if : point.explanation->what_ifs) {
    if (what_if.change == "network x2") return what_if;
  }
  throw std::logic_error("network x2 was not tried");
}

double log_gain_with(const Machine& machine, const char* override_) {
  const Change fast{"/platform/scale", R"({"rate": 2})"};
  const Change there{"/platform/override", override_};
  return std::log(point_on(machine, {there, fast}).samples_per_second / point_on(machine, {there}).samples_per_second);
}

/// Of Student's distribution with two degrees of freedom, eight in ten of which lie within `width` of its mean.
double probability_of_sign(double gain, double width) {
  const double units = std::abs(gain) / width * 1.8856;
  return std::min(0.95, 0.5 + units / (2 * std::sqrt(2 + units * units)));
}

double apart_in_network(const Machine& machine) {
  const TrainingPoint point = point_on(machine);
  return std::ranges::find(point.compared, "network", &ComparedSetting::of)->apart;
}

// sure = F(|g| / w), w^2 = s^2 + sum of m_j^2: g the logarithm of the gain, s what ratios of two networks are missed
// by, m_j the most by which g is smaller where number j is at an end, on both sides.
TEST(Sureness, IsOfTheDifferenceOfTwoRunsWithWhatNothingHasSettledOnBothSides) {
  const Machine known("");
  const WhatIf sure = twice_the_network(known);
  const double network = apart_in_network(known);
  const double gain = log_gain_with(known, "{}");
  EXPECT_GT(network, 0.01);
  EXPECT_NEAR(*sure.sure, probability_of_sign(gain, network), 1e-9);
  const auto most = [&](const char* low, const char* high) {
    return std::max({0.0, gain - log_gain_with(known, low), gain - log_gain_with(known, high)});
  };
  const double by_rate = most(R"({"/node/nic/host_rate": "2 GB/s"})", R"({"/node/nic/host_rate": "20 GB/s"})");
  const double by_latency = most(R"({"/node/nic/latency": "1 us"})", R"({"/node/nic/latency": "40 us"})");
  EXPECT_GT(by_rate, 0.01);
  const WhatIf less = twice_the_network(Machine(prior));
  EXPECT_NEAR(*less.sure, probability_of_sign(gain, std::hypot(network, by_rate, by_latency)), 1e-9);
}

// What-if = the change made by hand: the same gain, its band and how sure it is as between two points of a sweep.
TEST(Sureness, OfAChangeThatIsOfferedIsThatBetweenTwoPointsOfASweep) {
  const Machine machine(prior);
  const Change estimated{"/workload", R"({"model": "vgg16", "batch_per_rank": 32})"};
  for (const std::vector<Change>& more : {std::vector<Change>{}, std::vector<Change>{estimated}}) {
    const WhatIf offered = twice_the_network(machine, more);
    std::vector<Change> swept = more;
    swept.emplace_back("/platform/scale", R"({"latency": 1})");
    swept.emplace_back("/sweep", R"({"/platform/scale/rate": [1, 2]})");
    const std::vector<TrainingPoint> points = test::run(on(machine, swept)).points;
    const Difference by_hand = *difference(points.front(), points.back());
    const auto gained = [&](double factor) { return 100 * points.front().scaling_efficiency * (factor - 1); };
    EXPECT_NEAR(offered.efficiency_points, gained(by_hand.throughput), 1e-6);
    EXPECT_NEAR(offered.points_band->low, gained(by_hand.band.low), 1e-6);
    EXPECT_NEAR(offered.points_band->high, gained(by_hand.band.high), 1e-6);
    EXPECT_NEAR(*offered.sure, by_hand.sure, 1e-9);
  }
}

// What is estimated of one model on two devices is wrong alike; the spread is that of measured ratios.
TEST(Sureness, OfAnotherDeviceIsThatOfRatiosNotOfBothEstimates) {
  const Change estimated{"/workload", R"({"model": "vgg16", "batch_per_rank": 32})"};
  const Change none{"/platform/override", "{}"};
  const auto width = [&](const char* devices) {
    const Change swept{"/sweep", fmt::format(R"({{"/platform/override/~1node~1device": {}}})", devices)};
    const std::vector<TrainingPoint> points = test::run(on(Machine(""), {estimated, none, swept})).points;
    const Difference found = *difference(points.front(), points.back());
    return std::log(found.band.high / found.throughput);
  };
  const double relatives = width(R"(["h100", "h200"])");
  const double generations = width(R"(["p100", "v100"])");
  EXPECT_GT(relatives, 0.05);
  EXPECT_LT(relatives, 0.15);
  EXPECT_GT(generations, 2 * relatives);
}

TEST(Sureness, IsNotJudgedWithoutBands) {
  RunOptions options;
  options.explain = true;
  options.bands = false;
  for (const WhatIf& what_if : test::run(on(Machine("")), options).points.front().explanation->what_ifs) {
    EXPECT_FALSE(what_if.sure);
  }
}

}}  // namespace farandole::unsettled_numbers_test
