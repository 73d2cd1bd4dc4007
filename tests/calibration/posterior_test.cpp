// What runs of training say of a platform's numbers: recovered from simulated data, kept where they say nothing.
#include "calibration/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/source_folder.hpp"

namespace farandole::test::posterior_test { namespace {

using Eigen::VectorXd;
using testing::HasSubstr;

const std::filesystem::path folder = test::source_folder();

Unknown unknown(const std::string& pointer, ParameterKind kind, double median, double factor) {
  return {{pointer, pointer, kind}, std::log(median), std::log(factor) / to_ninth_decile, "this test"};
}

/// Times a + b / x, which are as simple as a step that a network holds up.
std::vector<Unknown> two_unknowns() {
  return {unknown("/transport/launch", ParameterKind::time, 1, 2),
          unknown("/node/nic/host_rate", ParameterKind::time_per_byte, 1, 3)};
}

VectorXd times_of(const VectorXd& logs) {
  VectorXd times(3);
  times << std::exp(logs[0]) + 0.2 * std::exp(logs[1]), 0.3 * std::exp(logs[0]) + std::exp(logs[1]), std::exp(logs[0]);
  return times;
}

/// Standard normal numbers that are the same on every machine.
class Normal {
 public:
  double operator()() {
    const auto uniform = [this] { return (static_cast<double>(engine_()) + 0.5) / 4294967296.0; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * M_PI * uniform());
  }

 private:
  std::mt19937 engine_{1};
};

/// So many of n lie inside with a probability of 0.8 each; outside these ends it is less than one time in a hundred.
void expect_four_in_five(int inside, int n) {
  const double deviations = (inside - 0.8 * n) / std::sqrt(0.8 * 0.2 * n);
  EXPECT_LT(std::abs(deviations), 2.6) << inside << " of " << n;
}

TEST(Posterior, OfNumbersDrawnFromTheirPriorsHoldsThemEightTimesInTen) {
  const auto unknowns = two_unknowns();
  const VectorXd noise = VectorXd::Constant(3, 0.1);
  Normal normal;
  int inside = 0;
  constexpr int draws = 300;
  for (int draw = 0; draw < draws; ++draw) {
    VectorXd truth(2);
    for (int j = 0; j < 2; ++j) truth[j] = unknowns[j].centre + unknowns[j].width * normal();
    VectorXd measured = times_of(truth).array().log();
    for (int i = 0; i < 3; ++i) measured[i] += noise[i] * normal();
    const Posterior found = infer(
        unknowns, [&](const VectorXd& logs) -> VectorXd { return times_of(logs).array().log() - measured.array(); },
        noise);
    for (int j = 0; j < 2; ++j)
      inside += found.marginals[j].low <= truth[j] && truth[j] <= found.marginals[j].high ? 1 : 0;
  }
  expect_four_in_five(inside, 2 * draws);
}

/// Conjugate: one run that is the number itself has the precisions of prior and run added up.
TEST(Posterior, OfALinearMisfitIsTheWeightedMeanOfPriorAndRun) {
  const std::vector<Unknown> unknowns{unknown("/transport/launch", ParameterKind::time, 1, 2)};
  const double width = unknowns[0].width;
  const Posterior found = infer(
      unknowns, [](const VectorXd& logs) -> VectorXd { return (logs.array() - 0.5).matrix(); },
      VectorXd::Constant(1, 0.2));
  const double precision = 1 / (width * width) + 1 / 0.04;
  EXPECT_NEAR(found.at[0], 0.5 / 0.04 / precision, 1e-9);
  EXPECT_NEAR(found.covariance(0, 0), 1 / precision, 1e-9);
  EXPECT_EQ(found.marginals[0].shape, PosteriorShape::normal);
  EXPECT_EQ(found.marginals[0].identified, Identified::yes);
  EXPECT_NEAR(found.marginals[0].high - found.marginals[0].low, 2 * to_ninth_decile / std::sqrt(precision), 1e-9);
}

TEST(Posterior, OfANumberWithoutInformationIsItsPriorToTheLastDigit) {
  const auto unknowns = two_unknowns();
  const Posterior found = infer(
      unknowns, [](const VectorXd& logs) -> VectorXd { return VectorXd::Constant(2, logs[0] - 0.3); },
      VectorXd::Constant(2, 0.05));
  const double reach = to_ninth_decile * unknowns[1].width;
  EXPECT_EQ(found.marginals[1].identified, Identified::no);
  EXPECT_NEAR(found.at[1], unknowns[1].centre, 1e-6);
  EXPECT_NEAR(found.marginals[1].low, unknowns[1].centre - reach, 1e-6);
  EXPECT_NEAR(found.marginals[1].high, unknowns[1].centre + reach, 1e-6);
  EXPECT_EQ(found.marginals[0].identified, Identified::yes);
}

/// Beyond a threshold a faster path changes nothing, as where communication hides: the rows set one end only.
TEST(Posterior, OfAPlateauSaysThatItIsFlatAndHasItsQuantilesFromThePriorThere) {
  const std::vector<Unknown> unknowns{unknown("/node/nic/host_rate", ParameterKind::time_per_byte, 1, 4)};
  const Posterior found = infer(
      unknowns, [](const VectorXd& logs) -> VectorXd { return VectorXd::Constant(1, std::max(0.0, logs[0])); },
      VectorXd::Constant(1, 0.02));
  EXPECT_EQ(found.marginals[0].shape, PosteriorShape::open_below);
  EXPECT_LT(found.marginals[0].high, 0.1);                   // where the wall is
  const double tenth_of_half = -1.6449 * unknowns[0].width;  // of the half below it: Phi^-1(0.05)
  EXPECT_NEAR(found.marginals[0].low, tenth_of_half, 0.1 * unknowns[0].width);
}

TEST(Posterior, IsAsWideAsTheRunsAreFarApart) {
  const std::vector<Unknown> unknowns{unknown("/transport/launch", ParameterKind::time, 1, 20)};
  const auto of_spread = [&](double spread) {
    return infer(
        unknowns,
        [=](const VectorXd& logs) -> VectorXd {
          VectorXd misfit(4);
          misfit << logs[0] - spread, logs[0] + spread, logs[0] - spread, logs[0] + spread;
          return misfit;
        },
        VectorXd::Constant(4, 0.01));
  };
  EXPECT_EQ(of_spread(0.001).enlarged, 1);
  const Posterior apart = of_spread(0.1);
  EXPECT_NEAR(apart.enlarged, std::sqrt(4 * 100 / 3.0), 0.1);  // chi^2 over its degrees of freedom
}

/// Runs that say the same of a number share what they say; one that says nothing has no part in it.
TEST(Posterior, NamesTheRunsThatItFollowsFrom) {
  const std::vector<Unknown> unknowns{unknown("/transport/launch", ParameterKind::time, 1, 4)};
  const Posterior found = infer(
      unknowns,
      [](const VectorXd& logs) -> VectorXd {
        VectorXd misfit(3);
        misfit << logs[0], logs[0], 0;
        return misfit;
      },
      VectorXd::Constant(3, 0.1));
  EXPECT_NEAR(found.marginals[0].shares[0], 0.5, 1e-9);
  EXPECT_NEAR(found.marginals[0].shares[1], 0.5, 1e-9);
  EXPECT_EQ(found.marginals[0].shares[2], 0);
}

/// It is tried at both ends of its prior, and never again.
TEST(Posterior, OfANumberThatNoRunDependsOnIsItsPriorForTwoEvaluations) {
  std::vector<Unknown> unknowns{unknown("/transport/launch", ParameterKind::time, 1, 2)};
  const auto misfit = [](const VectorXd& logs) -> VectorXd { return VectorXd::Constant(2, logs[0] - 0.3); };
  const Posterior alone = infer(unknowns, misfit, VectorXd::Constant(2, 0.1));
  unknowns.push_back(unknown("/transport/control_latency", ParameterKind::time, 5, 3));
  const Posterior both = infer(unknowns, misfit, VectorXd::Constant(2, 0.1));
  EXPECT_EQ(both.evaluations, alone.evaluations + 2);
  EXPECT_NEAR(both.at[0], alone.at[0], 1e-12);
  EXPECT_EQ(both.at[1], unknowns[1].centre);
  EXPECT_EQ(both.marginals[1].identified, Identified::no);
  EXPECT_EQ(both.marginals[1].left, 1);
}

TEST(Priors, AreTheFilesOrItsNumbersWithinAFactorOfTwo) {
  Document file = Document::read(folder / "topologies/ethernet-25g.json");
  file.set("/variability", R"({"device_spread": "1 %", "source": "a test"})");
  file.set("/priors", R"({"/node/nic/host_rate": {"between": ["2 GB/s", "8 GB/s"], "source": "a test"}})");
  const std::vector<std::string> options{"/transport/inter_node_latency=10 us..40 us"};
  const auto unknowns = unknowns_of(file, options);
  const auto of = [&](const std::string& pointer) {
    return *std::ranges::find(unknowns, pointer, [](const Unknown& one) { return one.parameter.pointer; });
  };
  EXPECT_NEAR(std::exp(-of("/node/nic/host_rate").centre), 4e9, 1);  // sqrt(2 * 8)
  EXPECT_NEAR(of("/node/nic/host_rate").width * to_ninth_decile, std::log(2), 1e-12);
  EXPECT_NEAR(std::exp(of("/transport/inter_node_latency").centre), 20e-6, 1e-12);
  EXPECT_NEAR(std::exp(of("/variability/device_spread").centre), 0.01, 1e-12);
  EXPECT_NEAR(of("/variability/device_spread").width * to_ninth_decile, std::log(2), 1e-12);
}

std::string refusal_of_prior(const std::string& option) {
  try {
    unknowns_of(Document::read(folder / "topologies/ethernet-25g.json"), std::vector{option});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Priors, AreRefusedWhereTheyAreNone) {
  EXPECT_THAT(refusal_of_prior("/node/nic/host_rate"), HasSubstr("expected /POINTER=LOW..HIGH"));
  EXPECT_THAT(refusal_of_prior("/node/nic/host_rate=8 GB/s..2 GB/s"), HasSubstr("more of it"));
  EXPECT_THAT(refusal_of_prior("/node/nic/host_rate=2 us..8 GB/s"), HasSubstr("the same quantity"));
  EXPECT_THAT(refusal_of_prior("/node/nic/host_rate=0 GB/s..8 GB/s"), HasSubstr("above zero"));
  EXPECT_THAT(refusal_of_prior("/name=2 us..8 us"), HasSubstr("below /node"));
}

// With the simulator itself.

const char* const small = R"({"name": "small",
  "workload": {"model": "vgg16", "variant": "tf_cnn_benchmarks", "batch_per_rank": 64},
  "platform": {"topology": "roce25-4xp100", "ranks": 8},
  "strategy": {"kind": "ddp"}, "collectives": {"allreduce": "ring"},
  "effects": {"device_spread": "0 %", "step_jitter": "0 %"},
  "measure": {"iterations": 1, "warmup": 1, "fidelity": "analytic"}})";

/// Runs of 8 and 16 GPUs "measured" on `truth`, each off by its noise.
std::vector<TrainingRow> taken_on(const Document& truth, Normal& normal, double noise, const Catalogue& catalogue) {
  std::vector<TrainingRow> rows;
  for (const int ranks : {8, 16}) {
    Document scenario = Document::parse(small, "small.json");
    scenario.set("/platform/ranks", fmt::format("{}", ranks));
    const Seconds step = step_on(truth, scenario, catalogue) * std::exp(noise * normal());
    rows.push_back({"test", fmt::format("{} ranks", ranks), scenario, {"small.json", 1, ""}, step, noise, ""});
  }
  return rows;
}

TEST(PosteriorOfRuns, HoldsTheRateThatTheRunsWereSimulatedWithEightTimesInTen) {
  const Catalogue catalogue;
  const Document file = Document::read(folder / "topologies/roce25-4xp100.json");
  const std::vector<Unknown> unknowns{unknown("/node/nic/host_rate", ParameterKind::time_per_byte, 1 / 4e9, 3),
                                      unknown("/transport/control_latency", ParameterKind::time, 3e-6, 2)};
  Normal normal;
  int inside = 0;
  constexpr int draws = 60;
  for (int draw = 0; draw < draws; ++draw) {
    VectorXd truth(2);
    for (int j = 0; j < 2; ++j) truth[j] = unknowns[j].centre + unknowns[j].width * normal();
    const auto rows = taken_on(with(file, unknowns, truth), normal, 0.03, catalogue);
    const Posterior found = infer(unknowns, misfit_of(file, unknowns, rows, catalogue), VectorXd::Constant(2, 0.03));
    inside += found.marginals[0].low <= truth[0] && truth[0] <= found.marginals[0].high ? 1 : 0;
    EXPECT_EQ(found.marginals[1].identified, Identified::no);  // ddp negotiates nothing
    EXPECT_NEAR(found.at[1], unknowns[1].centre, 1e-6);
  }
  expect_four_in_five(inside, draws);
}

TEST(PosteriorOfRuns, ProposesTheRunThatTellsMostOfWhatIsNotIdentified) {
  const Catalogue catalogue;
  const Document file = Document::read(folder / "topologies/roce25-4xp100.json");
  const std::vector<Unknown> unknowns{unknown("/node/nic/host_rate", ParameterKind::time_per_byte, 1 / 4e9, 3),
                                      unknown("/transport/inter_node_latency", ParameterKind::time, 12e-6, 2)};
  Document scenario = Document::parse(small, "small.json");
  scenario.set("/workload/model", "inception_v3");  // hides what it communicates
  scenario.set("/platform/ranks", "8");
  const std::vector<TrainingRow> rows{{"test", "8 ranks", scenario, {}, step_on(file, scenario, catalogue), 0.04, ""}};
  const Posterior found = infer(unknowns, misfit_of(file, unknowns, rows, catalogue), VectorXd::Constant(1, 0.04));
  ASSERT_EQ(found.marginals[0].identified, Identified::no);
  const auto proposals = propose(file, unknowns, found, rows, catalogue);
  ASSERT_EQ(proposals.size(), 2);
  EXPECT_THAT(proposals[0].run, testing::AnyOf(HasSubstr("vgg16"), HasSubstr("64 MiB")));
  EXPECT_LT(proposals[0].left, 0.5);
  EXPECT_THAT(proposals[1].run, HasSubstr("64 KiB"));  // latency shows in what is small
}

}}  // namespace farandole::test::posterior_test
