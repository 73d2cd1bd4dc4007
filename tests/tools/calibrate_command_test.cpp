// farandole calibrate: its file is what the next run takes, and a fit that failed is no calibration.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::calibrate_command_test { namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string table = FARANDOLE_SOURCE_DIR "/scenarios/published/collectives/thetagpu-16ranks.json";

json read_json(const std::filesystem::path& file) {
  std::ifstream in(file);
  return json::parse(in);
}

json settings_of(const Finished& finished) {
  EXPECT_EQ(finished.status, 0) << finished.err;
  return json::parse(finished.out).at("settings");
}

/// What was measured of a release is what the file's default is, whatever the topology named before.
TEST(CalibrateCommand, TheFileNamesTheMeasuredLibraryAsItsOwn) {
  for (const std::string topology : {"dgx-a100", "aws-p4d", "thetagpu"}) {
    const Workplace place;
    const Finished done = place.farandole("calibrate " + table + " --topology " + topology + " --output mine.json");
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(read_json(place.folder() / "mine.json").at("transport").at("library"), "nccl-2.22") << topology;
  }
}

TEST(CalibrateCommand, IsRefusedWithoutAFileToWrite) {
  const Finished refused = Workplace().farandole("calibrate " + table + " --topology dgx-a100 --output ''");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "farandole: --output: expected a file, got \"\"\n");
}

TEST(CalibrateCommand, TheNextCommandTakesWhatWasMeasuredWithoutBeingTold) {
  const Workplace place;
  ASSERT_EQ(place.farandole("calibrate " + table + " --topology dgx-a100 --output mine.json").status, 0);
  const json measured = read_json(table).at("points");
  const std::string least = std::to_string(measured.back().at("bytes").get<std::int64_t>());
  const auto point = [&](const std::string& topology) {
    const Finished done =
        place.farandole("collective -b " + least + " -e " + least + " --ranks 16 --format json --topology " + topology);
    return json::parse(done.out).at("points").at(0).at("seconds").get<double>();
  };
  EXPECT_NEAR(point("./mine.json") / measured.back().at("seconds").get<double>(), 1, 0.05);
  EXPECT_NE(point("./mine.json"), point("dgx-a100"));
}

/// Times fitted for one release count for another one, as many times longer, but for no algorithm; the heading says so.
TEST(CalibrateCommand, AResultSaysWhichCalibrationItUsedAndWhatItPassedOver) {
  const Workplace place;
  ASSERT_EQ(place.farandole("calibrate " + table + " --topology dgx-a100 --date 2026-11-21 --output mine.json").status,
            0);
  const auto calibration = [&](const std::string& arguments) {
    const std::string line = "collective -b 1M -e 1M --topology mine.json --format json --ranks ";
    return settings_of(place.farandole(line + arguments)).at("calibration").get<std::string>();
  };
  const std::string times = "allreduce of nccl-2.22, 16 ranks on 2 nodes";
  EXPECT_THAT(calibration("32"), HasSubstr("thetagpu-16ranks.json of 2026-11-21, median error left "));
  EXPECT_THAT(calibration("32"), HasSubstr("; used by nccl-2.22: " + times));
  EXPECT_THAT(calibration("32 --algorithm nccl-2.10"), HasSubstr("; used by nccl-2.10: " + times));
  EXPECT_THAT(calibration("32 --algorithm ring"), HasSubstr("; not used by ring: " + times));
  EXPECT_THAT(calibration("8"), HasSubstr("; not used by nccl-2.22: " + times));  // measured on several nodes
  EXPECT_THAT(calibration("32 --op broadcast"), HasSubstr("; nothing measured of broadcast, which follows "));
  const Finished text = place.farandole("collective -b 1M -e 1M --topology mine.json --ranks 32");
  EXPECT_THAT(text.out, HasSubstr("#   calibration: thetagpu-16ranks.json"));
}

/// An allreduce of 4 bytes that takes a second, and one of a GiB that takes a microsecond: no topology does that.
const std::string no_machine = R"({"points": [
  {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 4096, "seconds": 1.0},
  {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 65536, "seconds": 1e-6},
  {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 1048576, "seconds": 0.5},
  {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 16777216, "seconds": 1e-5},
  {"op": "allreduce", "algorithm": "ring", "ranks": 4, "bytes": 268435456, "seconds": 1e-6}]})";

TEST(CalibrateCommand, AFitThatLeavesMoreThanThirtyPercentIsStatusThreeAndWritesNothing) {
  const Workplace place;
  place.write("wild.json", no_machine);
  place.write("mine.json", "what was here before");
  const Finished done = place.farandole("calibrate wild.json --topology ethernet-25g --output mine.json");
  EXPECT_EQ(done.status, 3);
  EXPECT_THAT(done.err, HasSubstr("mine.json is not written: the fit leaves a median error of"));
  EXPECT_THAT(done.out, HasSubstr("errors left: median"));
  EXPECT_EQ(contents(place.folder() / "mine.json"), "what was here before");
}

/// RCCL's times are a table in the program: an allreduce's own settle no number of this topology, and an error of 9 %
/// is left.
TEST(CalibrateCommand, AFitThatChangesNothingAndLeavesAnErrorIsStatusThreeAndWritesNothing) {
  const Workplace place;
  const Finished done = place.farandole("calibrate '" FARANDOLE_SOURCE_DIR
                                        "/scenarios/published/collectives/mi300x-16ranks.json'"
                                        " --topology mi300x-8 --output mine.json");
  EXPECT_EQ(done.status, 3) << done.err;
  EXPECT_THAT(done.err, HasSubstr("mine.json is not written: the fit changes nothing"));
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "mine.json"));
}

/// A run of FSDP has no allreduce: what was measured of one stands behind its collectives where they go the same way
/// only.
TEST(CalibrateCommand, AResultClaimsNoMeasurementOfAnOperationThatTheRunDoesNotHave) {
  const Workplace place;
  ASSERT_EQ(place.farandole("calibrate " + table + " --topology dgx-a100 --output mine.json").status, 0);
  place.write("s.json", R"({"name": "s", "workload": {"model": "gpt2_small", "batch_per_rank": 1, "precision": "bf16"},
    "platform": {"topology": "./mine.json", "ranks": 16}, "strategy": {"kind": "fsdp"},
    "measure": {"iterations": 1, "warmup": 0, "fidelity": "analytic", "bands": false}})");
  const auto said = settings_of(place.farandole("run s.json --format json")).at("calibration").get<std::string>();
  EXPECT_THAT(said, Not(HasSubstr("used by nccl-2.22: allreduce")));
  EXPECT_THAT(said, HasSubstr("; nothing measured of allgather, which follows "));
  EXPECT_THAT(said, HasSubstr("all_gather_perf"));
}

TEST(CalibrateCommand, ForcedItWritesAFileThatSaysSo) {
  const Workplace place;
  place.write("wild.json", no_machine);
  const Finished done = place.farandole("calibrate wild.json --topology ethernet-25g --force --output mine.json");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(read_json(place.folder() / "mine.json").at("calibration").at("forced").get<std::string>(),
              HasSubstr("above 30 %"));
  const json settings =
      settings_of(place.farandole("collective -b 1M -e 1M --ranks 4 --format json --topology mine.json"));
  EXPECT_THAT(settings.at("calibration").get<std::string>(), HasSubstr("written by --force in spite of it"));
  EXPECT_EQ(place.farandole("check mine.json").status, 0);
}

TEST(CalibrateCommand, AGoodFitIsNotForcedByTheOption) {
  const Workplace place;
  ASSERT_EQ(place.farandole("calibrate " + table + " --topology dgx-a100 --force --output mine.json").status, 0);
  EXPECT_FALSE(read_json(place.folder() / "mine.json").at("calibration").contains("forced"));
}

/// Tables of nccl-tests name no algorithm: on a machine with a library they are that library's.
TEST(CalibrateCommand, ATableThatNamesNoAlgorithmIsOfTheMachinesLibrary) {
  const Workplace place;
  json rows = read_json(table).at("points");
  for (json& row : rows) row.erase("algorithm");
  place.write("nameless.json", json{{"points", rows}}.dump());
  const Finished done = place.farandole("calibrate nameless.json --topology dgx-a100 --output mine.json");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("allreduce by nccl-2.10, 16 ranks on 2 nodes"));
  const Finished star = place.farandole("calibrate nameless.json --topology ethernet-25g --force --output star.json");
  EXPECT_THAT(star.out, Not(HasSubstr("by nccl")));
}

}}  // namespace farandole::test::calibrate_command_test
