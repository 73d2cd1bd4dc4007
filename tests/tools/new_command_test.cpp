// farandole new: what it writes checks and runs as it stands, and nothing of the user's is overwritten.
#include <algorithm>

#include <gmock/gmock.h>

#include "tools/process.hpp"

namespace farandole::new_command_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(NewCommand, WritesAScenarioThatChecksAndRuns) {
  const test::Workplace place;
  const test::Finished made = place.farandole("new mine.json --model resnet50 --topology dgx-a100");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("mine.json: resnet50 on dgx-a100, 1, 8, 16, 32, 64, 128 ranks, ddp in bf16"),
                              HasSubstr("Next: farandole run mine.json")));
  EXPECT_EQ(place.farandole("check mine.json").out, "mine.json: scenario, ok\n");
  const test::Finished ran = place.farandole("run mine.json --fidelity analytic --format csv");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 1 + 6);
}

/// Eight billion parameters, with Adam 16 bytes each, fit no device of 80 GB by themselves.
TEST(NewCommand, ChoosesAShardingAndRanksThatFit) {
  const test::Workplace place;
  const test::Finished made = place.farandole("new big.json --model llama3_8b --topology hgx-h100");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("fsdp in bf16"), Not(HasSubstr("hgx-h100, 1,"))));
  EXPECT_EQ(place.farandole("check big.json").status, 0);
}

TEST(NewCommand, TakesWhatTheOptionsSay) {
  const test::Workplace place;
  const test::Finished made = place.farandole(
      "new own.json --model vgg16 --topology roce25-4xp100 --ranks 64,4,4 --batch 32 --strategy horovod");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("vgg16 on roce25-4xp100, 4, 64 ranks, horovod in fp32, 32 samples a rank"));
}

TEST(NewCommand, AsksForWhatTheOptionsLeaveOut) {
  const test::Workplace place;
  const test::Finished made =
      place.run("printf 'resnet50\\ndgx-a100\\n8,16\\n\\nhorovod\\n' | " FARANDOLE_PROGRAM " new asked.json --ask");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.err, AllOf(HasSubstr("Model"), HasSubstr("Samples of a rank's batch [64]")));
  EXPECT_THAT(made.out, HasSubstr("resnet50 on dgx-a100, 8, 16 ranks, horovod in bf16, 64 samples a rank"));
  EXPECT_EQ(place.run("printf 'resnet50\\n' | " FARANDOLE_PROGRAM " new asked2.json --ask").status, 2);
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "asked2.json"));
}

TEST(NewCommand, OverwritesNothing) {
  const test::Workplace place;
  place.write("mine.json", "precious");
  const test::Finished refused = place.farandole("new mine.json --model resnet50 --topology dgx-a100");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("not there yet"));
  EXPECT_EQ(test::contents(place.folder() / "mine.json"), "precious");
}

TEST(NewCommand, RefusesInOneLineAndLeavesNoFile) {
  const test::Workplace place;
  for (const auto& [arguments, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--model resnet5 --topology dgx-a100", "did you mean \"resnet50\"?"},
           {"--model resnet50 --topology dgx-a10", "did you mean \"dgx-a100\"?"},
           {"--topology dgx-a100", "--model: expected a model, as nobody is there to ask"},
           {"--model resnet50 --topology dgx-a100 --ranks 0", "--ranks: expected a whole number of at least 1"},
           {"--model resnet50 --topology dgx-a100 --batch many", "--batch"},
           {"--model resnet50 --topology dgx-a100 --strategy dpd", "did you mean \"ddp\"?"},
           {"--model llama3_70b --topology hgx-h100 --ranks 8", "ways out"}}) {
    const test::Finished refused = place.farandole(std::string("new no.json ") + arguments + " </dev/null");
    EXPECT_EQ(refused.status, 2) << arguments;
    EXPECT_THAT(refused.err, HasSubstr(expected)) << arguments;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(place.folder() / "no.json")) << arguments;
  }
  EXPECT_EQ(place.farandole("new no.yaml --model resnet50 --topology dgx-a100").status, 2);
}

}}  // namespace farandole::new_command_test
