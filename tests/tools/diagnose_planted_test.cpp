// farandole diagnose, asked as its user does: a step is measured, then whatever it asks for, until it asks no more.
// What was planted is found, and a healthy job is called so.
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::diagnose_planted_test { namespace {

using Json = nlohmann::json;

struct Kind {
  std::string of;
  int ranks = 0;
  auto operator<=>(const Kind&) const = default;
};
using Measured = std::map<Kind, double>;  // seconds

constexpr int ranks = 16;
constexpr std::size_t most_asked = 6;
const Kind first_of_all{"step", ranks};

class Job {
 public:
  explicit Job(const std::string& scenario) { place_.write("s.json", scenario); }

  Json asked(const Measured& measured) const {
    std::string line = "diagnose s.json --format json";
    for (const auto& [kind, seconds] : measured) line += option(kind, seconds);
    const test::Finished done = place_.farandole(line);
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  }

  /// By hand, what a measurement gives with a suspect as bad as that.
  double planted(const std::string& suspect, const std::string& severity, const Kind& kind) {
    const Json& all = with(kind);
    std::size_t place = 0;
    while (kind_of(all.at("measured").at(place)) != kind) ++place;
    for (const Json& one : all.at("suspects")) {
      for (const Json& bad : one.at("severities")) {
        if (one.at("name") == suspect && bad.at("severity") == severity) return bad.at("predicted_seconds").at(place);
      }
    }
    return all.at("measured").at(place).at("expected_seconds");
  }

  template <class Time>
  Json followed(const Time& time) {
    Measured measured{{first_of_all, time(first_of_all)}};
    Json answer = asked(measured);
    while (answer.at("next").is_object() && measured.size() <= most_asked) {
      const Kind next = kind_of(answer.at("next"));
      EXPECT_FALSE(measured.contains(next)) << "is known, and asked for again: " << next.of;
      measured[next] = time(next);
      answer = asked(measured);
    }
    return answer;
  }

  /// Of devices that are all of that speed.
  double step(int on, double speed) const {
    std::string all = "0";
    for (int rank = 1; rank < on; ++rank) all += "," + std::to_string(rank);
    const test::Finished done =
        place_.farandole("run s.json --quiet --format json --set /platform/ranks=" + std::to_string(on) +
                         " --set '/effects/other_devices=[{\"ranks\": [" + all + "], \"speed\": \"" +
                         std::to_string(100 * speed) + " %\"}]'");
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out).at("points").at(0).at("iteration_seconds");
  }

  const Json& with(const Kind& kind) {
    Json& known = known_[kind];
    if (known.is_null()) known = asked({{first_of_all, 1.0}, {kind, 1.0}});
    return known;
  }

 private:
  static Kind kind_of(const Json& one) { return {one.at("of"), one.at("ranks")}; }

  static std::string option(const Kind& kind, double seconds) {
    const std::string time = std::to_string(seconds * 1e3) + " ms";
    const std::string rate = std::to_string(1024.0 * 1024 * 1024 / seconds / 1e9) + " GB/s'";
    if (kind.of == "step") return " --measured '" + time + " on " + std::to_string(kind.ranks) + "'";
    if (kind.of == "allreduce") return " --allreduce '256 MiB in " + time + " on " + std::to_string(kind.ranks) + "'";
    if (kind.of == "kernels") return " --kernels '" + time + "'";
    if (kind.of == "nic_write") return " --nic '" + rate;
    if (kind.of == "host_copy") return " --copy '" + rate;
    return " --synthetic '" + time + "'";
  }

  const test::Workplace place_;
  std::map<Kind, Json> known_;
};

const std::vector<std::string> jobs{
    R"({"name": "vgg", "workload": {"model": "vgg16", "batch_per_rank": 64},
        "platform": {"topology": "roce25-4xp100", "ranks": 16}, "strategy": {"kind": "ddp"},
        "measure": {"iterations": 2, "warmup": 1}})",
    // Whose own step on one node was measured.
    R"({"name": "resnet", "workload": {"model": "resnet50", "batch_per_rank": 128, "precision": "bf16",
          "measured": [{"ranks": 8, "batch_per_rank": 128, "iteration_seconds": 0.034}]},
        "platform": {"topology": "hgx-h100", "ranks": 16}, "strategy": {"kind": "ddp"},
        "measure": {"iterations": 1, "warmup": 0}})"};

class DiagnosePlanted : public testing::TestWithParam<std::string> {};

// Of every suspect, each severity counting as much: first in 80 %, among three in 95 %.
TEST_P(DiagnosePlanted, IsFoundByWhatItAsksFor) {
  Job job(GetParam());
  const Json suspects = job.with(first_of_all).at("suspects");
  double is_first = 0;
  double is_among_three = 0;
  for (const Json& suspect : suspects) {
    const Json& severities = suspect.at("severities");
    for (const Json& one : severities) {
      const Json answer =
          job.followed([&](const Kind& kind) { return job.planted(suspect.at("name"), one.at("severity"), kind); });
      const double weight = 1.0 / static_cast<double>(severities.size());
      for (std::size_t place = 0; place < 3; ++place) {
        if (answer.at("suspects").at(place).at("name") != suspect.at("name")) continue;
        is_among_three += weight;
        if (place == 0) is_first += weight;
      }
    }
  }
  const auto count = static_cast<double>(suspects.size());
  EXPECT_GE(count, 9);
  EXPECT_GE(is_first / count, 0.8 - 1e-9);
  EXPECT_GE(is_among_three / count, 0.95);
}

// Compute times err by one factor, a Student's t of 5 degrees of freedom as wide as their interval says: steps are
// those of devices so much slower. All else errs by itself.
TEST_P(DiagnosePlanted, IsNothingInNineOfTenHealthyJobs) {
  Job job(GetParam());
  const Json band = job.with({"kernels", ranks}).at("measured").at(1).at("band");
  const double scale = std::log(band.at(1).get<double>() / band.at(0).get<double>()) / 2 / 1.476;
  const std::map<std::string, double> own{{"step", .01},     {"step_on_synthetic_data", .01},
                                          {"kernels", .03},  {"allreduce", .11},
                                          {"nic_write", .1}, {"host_copy", .1}};
  std::mt19937 random(20261201);
  std::student_t_distribution<double> error(5);
  constexpr int draws = 20;
  int called_so = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const double longer = std::exp(scale * error(random));
    const Json answer = job.followed([&](const Kind& kind) {
      const double healthy = job.planted("healthy", "", kind);
      const bool is_step = kind.of.starts_with("step");
      return std::exp(own.at(kind.of) * error(random)) *
             (is_step ? job.step(kind.ranks, 1 / longer) : healthy * (kind.of == "kernels" ? longer : 1));
    });
    called_so += answer.at("suspects").at(0).at("name") == "healthy" ? 1 : 0;
  }
  EXPECT_GE(called_so, draws * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Jobs, DiagnosePlanted, testing::ValuesIn(jobs));

}}  // namespace farandole::diagnose_planted_test
