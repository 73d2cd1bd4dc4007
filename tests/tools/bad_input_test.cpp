// Bad input: one clear line on stderr, exit 2, nothing on stdout, nothing written.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/process.hpp"

namespace farandole::bad_input_test { namespace {

using test::Finished;
using test::Workplace;
using testing::HasSubstr;

class BadInput : public testing::Test {
 protected:
  /// Runs with an output file asked for; checks what all bad input has in common and gives back the message.
  std::string message(const std::string& arguments) const {
    const Finished finished = place_.farandole(arguments + " --output result.json");
    EXPECT_EQ(finished.status, 2) << arguments;
    EXPECT_EQ(finished.out, "");
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    EXPECT_LT(finished.err.size(), 500U);
    EXPECT_FALSE(std::filesystem::exists(place_.folder() / "result.json"));
    return finished.err;
  }
  std::string run_file(const std::string& text) const {
    return message("run " + place_.write("s.json", text).string());
  }
  static std::string horovod() { return "run " + test::scenario("horovod-512-roce25"); }

  Workplace place_;
};

TEST_F(BadInput, AnUnknownModel) {
  EXPECT_THAT(message(horovod() + " --set '/sweep/~1workload~1model=[\"vgg17\"]'"),
              HasSubstr("expected a model, got \"vgg17\""));
}

TEST_F(BadInput, AMisspeltKeyWithItsLine) {
  EXPECT_THAT(
      run_file("{\n  \"name\": \"x\",\n  \"worklaod\": {},\n  \"platform\": {},\n  \"strategy\": {}\n}\n"),
      HasSubstr("s.json:3: /worklaod: expected a key \"workload\", got \"worklaod\"; did you mean \"workload\"?"));
}

TEST_F(BadInput, NegativeRanks) {
  EXPECT_THAT(message(horovod() + " --set '/sweep/~1platform~1ranks=[-4]'"),
              HasSubstr("/platform/ranks: expected an integer of at least 1, got -4"));
}

TEST_F(BadInput, ASizeWhereARateBelongs) {
  EXPECT_THAT(message(horovod() + " --set '/platform/override={\"/node/nic/rate\": \"25 GB\"}'"),
              HasSubstr("expected a rate such as \"25 Gbit/s\", got \"25 GB\" (a size)"));
}

TEST_F(BadInput, RanksBeyondTheSlots) {
  EXPECT_THAT(message(horovod() + " --set '/sweep/~1platform~1ranks=[1024]'"), HasSubstr("1024 ranks"));
  EXPECT_THAT(message("collective --topology roce25-4xp100 --ranks 513"), HasSubstr("513"));
}

TEST_F(BadInput, AnEmptyFile) {
  EXPECT_THAT(run_file(""), HasSubstr("s.json"));
}

TEST_F(BadInput, TenMegabytesOfBrackets) {
  EXPECT_THAT(run_file(std::string(10'000'000, '[')), HasSubstr("s.json:1: "));
}

TEST_F(BadInput, AFileThatIsNotThere) {
  EXPECT_THAT(message("run nowhere.json"), HasSubstr("nowhere.json"));
}

TEST_F(BadInput, AnUnknownOptionValue) {
  EXPECT_THAT(message("collective --topology ethernet-25g --ranks 4 --algorithm rign"),
              HasSubstr("did you mean \"ring\"?"));
  EXPECT_THAT(message("collective --topology ethernet-25g --ranks 4 --op allredcue"),
              HasSubstr("did you mean \"allreduce\"?"));
  EXPECT_THAT(message("collective --topology ethernet-25g --ranks four"),
              HasSubstr("--ranks: expected a whole number"));
  EXPECT_THAT(message("collective --topology ethernet-25g --ranks 4 -b 1M -e 1K"),
              HasSubstr("-e: expected at least the 1M of -b"));
  EXPECT_THAT(message("collective --topology ethernet-25g --ranks 4 -b 1.5"), HasSubstr("-b: expected a size"));
  EXPECT_THAT(message(horovod() + " --fidelity flwo"), HasSubstr("did you mean \"flow\"?"));
}

TEST_F(BadInput, ASettingThatPointsNowhere) {
  EXPECT_THAT(message(horovod() + " --set /workload/model"),
              HasSubstr("--set: expected KEY=VALUE such as platform.ranks=64"));
  EXPECT_THAT(message(horovod() + " --set /wrkload/model=x"), HasSubstr("did you mean"));
  EXPECT_THAT(message(horovod() + " wrkload.model=x"), HasSubstr("did you mean"));
  EXPECT_THAT(message(horovod() + " other.json"),
              HasSubstr("expected KEY=VALUE such as platform.ranks=64 or /platform/ranks=64, got \"other.json\""));
}

TEST_F(BadInput, AnOptionForWhatTheSweepReplaces) {
  EXPECT_THAT(message(horovod() + " --set /platform/ranks=64"),
              AllOf(HasSubstr("--set: /platform/ranks: expected a value that no sweep replaces, got 64"),
                    HasSubstr("--set '/sweep/~1platform~1ranks=[64]'")));
  EXPECT_THAT(message("run " + test::scenario("optimise-fusion") + " --set /strategy/fusion_threshold='1 MiB'"),
              HasSubstr("\"/optimise/over/~1strategy~1fusion_threshold\""));
  const std::string study = R"({ "name": "s", "workload": { "model": "resnet18" },
    "platform": { "topology": "ethernet-25g", "ranks": 2 }, "strategy": { "kind": "ddp" },
    "sweep": { "/measure/seed": [1, 2], "/measure/fidelity": ["analytic"] }, "measure": {} })";
  const std::string file = place_.write("study.json", study).string();
  EXPECT_THAT(message("run " + file + " --seed 7"), HasSubstr("--set '/sweep/~1measure~1seed=[7]'"));
  EXPECT_THAT(message("run " + file + " --fidelity flow"), HasSubstr("--fidelity: /measure/fidelity: expected no"));
}

TEST(BadCommandLine, SaysWhatIsWrongAndWhereHelpIs) {
  const Workplace place;
  for (const char* arguments : {"", "rnu x.json", "run", "run a.json --nonsense", "show"}) {
    const Finished finished = place.farandole(arguments);
    EXPECT_EQ(finished.status, 2) << arguments;
    EXPECT_THAT(finished.err, HasSubstr("farandole --help"));
    EXPECT_EQ(finished.out, "");
  }
  EXPECT_THAT(place.farandole("rnu x.json").err, HasSubstr("did you mean \"run\"?"));
  EXPECT_THAT(place.farandole("run x.json --fidelty flow").err,
              HasSubstr("--fidelty: no such option of farandole run; did you mean \"--fidelity\"?"));
  EXPECT_THAT(place.farandole("collective --topolgy dgx-h100 --ranks 8").err,
              HasSubstr("--topolgy: no such option of farandole collective; did you mean \"--topology\"?"));
  EXPECT_THAT(place.farandole("collective --ranks 8").err, HasSubstr("--topology is required"));
  EXPECT_THAT(place.farandole("run x.json --shrad 1/2").err, HasSubstr("farandole: --shrad: no such option"));
}

TEST(CheckCommand, TakesWhatHasAWorkloadOrAPlatformForAScenario) {
  const Workplace place;
  const char* const first = R"({"name": "first", "workload": {"model": "resnet50", "batch_per_rank": 64},
    "platform": {"topology": "dgx-a100", "ranks": 64}, "strategy": {"kind": "ddp"}})";
  place.write("first.json", first);
  EXPECT_EQ(place.farandole("check first.json").out, "first.json: scenario, ok\n");
  place.write("wrong.json",
              R"({"name": "wrong", "platform": {"topology": "dgx-a100"}, "workload": {"modle": "resnet50"}})");
  EXPECT_THAT(place.farandole("check wrong.json").err, HasSubstr("did you mean \"model\"?"));
}

}}  // namespace farandole::bad_input_test
