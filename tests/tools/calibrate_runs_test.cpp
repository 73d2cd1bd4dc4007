// farandole calibrate on runs of training: what it prints, what it writes, what it refuses.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::calibrate_runs_test { namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string published = FARANDOLE_SOURCE_DIR "/scenarios/published/horovod-2017-16gpu.json";
const std::string mine = R"({"name": "mine", "workload": {"model": "vgg16", "batch_per_rank": 32},
  "platform": {"topology": "ethernet-25g", "override": {"/node/device": "v100"}, "ranks": 2},
  "strategy": {"kind": "ddp"}, "measure": {"iterations": 2, "warmup": 1, "fidelity": "analytic"}})";
const std::string on_ethernet = " --topology ethernet-25g --output inferred.json --scenario mine.json";

/// Two runs of one job, of which no number of the machine explains the second; and two of which it need not.
TEST(CalibrateRuns, SayWhereAJobsOwnRunsHaveToGo) {
  const Workplace place;
  place.write("mine.json", mine);
  const auto noted = [&](const std::string& runs) {
    place.write("runs.csv", "ranks,iteration_seconds\n" + runs);
    const Finished done = place.farandole("calibrate runs.csv --force" + on_ethernet);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.err;
  };
  EXPECT_THAT(noted("1,1.0\n2,4.0\n"), HasSubstr("\"measured\" of \"workload\""));
  EXPECT_THAT(noted("1,1.0\n2,1.01\n"), testing::Not(HasSubstr("measured")));
}

/// Of three runs of the benchmark that its path rate can be read off, VGG-16's is the one that does.
TEST(CalibrateRuns, SayWhichNumbersTheyIdentifyFromWhichOfThem) {
  const Workplace place;
  const Finished done = place.farandole("calibrate " + published +
                                        " --topology tcp25-4xp100 --output inferred.json --format json"
                                        " --prior '/node/nic/host_rate=2 GB/s..20 GB/s'");
  ASSERT_EQ(done.status, 0) << done.err;
  const json result = json::parse(done.out);
  for (const json& number : result.at("numbers")) {
    if (number.at("pointer") == "/node/nic/host_rate") {
      EXPECT_EQ(number.at("identified"), "yes");
      EXPECT_THAT(number.at("informed_by").get<std::string>(), HasSubstr("vgg16"));
    }
    if (number.at("pointer") != "/transport/control_latency") continue;
    EXPECT_EQ(number.at("identified"), "no");
    EXPECT_EQ(number.at("prior"), number.at("posterior"));
  }
  EXPECT_EQ(result.at("runs").size(), 3);
  EXPECT_EQ(place.farandole("check inferred.json").status, 0);
  const json written = json::parse(contents(place.folder() / "inferred.json"));
  EXPECT_EQ(written.at("transport").at("control_latency"), "25 us");
  EXPECT_EQ(written.at("calibration").at("source").at(0), "horovod-2017-16gpu.json");
}

TEST(CalibrateRuns, OfATableInferTheRateThatItWasSimulatedWith) {
  const Workplace place;
  place.write("mine.json", mine);
  std::string rows = "ranks,samples_per_second\n";
  for (const int ranks : {1, 2, 8}) {
    const Finished run = place.farandole(
        "run mine.json --format json --set '/platform/override={\"/node/device\": "
        "\"v100\", \"/node/nic/host_rate\": \"4 GB/s\"}' --set /platform/ranks=" +
        std::to_string(ranks));
    ASSERT_EQ(run.status, 0) << run.err;
    const double rate = json::parse(run.out).at("points").at(0).at("samples_per_second");
    rows += std::to_string(ranks) + "," + std::to_string(rate) + "\n";
  }
  place.write("runs.csv", rows);
  const Finished done =
      place.farandole("calibrate runs.csv" + on_ethernet + " --prior '/node/nic/host_rate=1 GB/s..20 GB/s'");
  ASSERT_EQ(done.status, 0) << done.err;
  const json written = json::parse(contents(place.folder() / "inferred.json"));
  const std::string rate = written.at("node").at("nic").at("host_rate");
  EXPECT_NEAR(std::stod(rate) / 4e9, 1, 0.1) << rate;
}

TEST(CalibrateRuns, AreRefusedInOneLineWhereTheyTellNothing) {
  const Workplace place;
  place.write("mine.json", mine);
  const auto refusal = [&](const std::string& table, const std::string& options) {
    place.write("runs.csv", table);
    const Finished done = place.farandole("calibrate runs.csv" + options);
    EXPECT_EQ(done.status, 2) << done.err;
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_FALSE(exists(place.folder() / "inferred.json"));
    return done.err;
  };
  const std::string good = "ranks,samples_per_second\n1,100\n2,180\n";
  EXPECT_THAT(refusal("ranks,sample_per_second\n1,1\n", on_ethernet), HasSubstr("did you mean \"samples_per_second\""));
  for (const char* column : {"batch", "batch_size"}) {
    EXPECT_THAT(refusal(std::string("ranks,samples_per_second,") + column + "\n1,1,32\n", on_ethernet),
                HasSubstr("did you mean \"batch_per_rank\""));
  }
  EXPECT_THAT(refusal("ranks,samples_per_second\n1,100\n2\n", on_ethernet), HasSubstr("runs.csv:3: expected 2 cells"));
  EXPECT_THAT(refusal("ranks,samples_per_second\n1,100\n2,x\n", on_ethernet), HasSubstr("runs.csv:3: "));
  EXPECT_THAT(refusal("ranks,samples_per_second\n2,100\n", on_ethernet), HasSubstr("at least two numbers of ranks"));
  EXPECT_THAT(refusal(good, " --topology ethernet-25g --output inferred.json"), HasSubstr("--scenario"));
  EXPECT_THAT(refusal(good, on_ethernet + " --prior '/strategy/cycle=1 us..2 us'"),
              HasSubstr("that no scenario takes"));
  EXPECT_THAT(refusal(good, on_ethernet + " --format csv"), HasSubstr("expected table or json"));
}

}}  // namespace farandole::test::calibrate_runs_test
