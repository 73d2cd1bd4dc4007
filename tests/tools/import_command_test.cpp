// farandole import, from the text that Keras prints to a run.
#include <gmock/gmock.h>

#include "tools/process.hpp"

namespace farandole::import_command_test { namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* summary = R"(_________________________________________________________________
Layer (type)                 Output Shape              Param #   
=================================================================
hidden (Dense)               (None, 128)               100480    
_________________________________________________________________
output (Dense)               (None, 10)                1290      
=================================================================
Total params: 101,770
Trainable params: 101,770
)";

TEST(ImportCommand, MakesAWorkloadThatChecksAndRuns) {
  const test::Workplace place;
  place.write("my-net.txt", summary);
  const test::Finished imported = place.farandole("import keras_summary my-net.txt --output net.json");
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(imported.err, "my_net: 101770 parameters in 4 tensors, 101632 multiply-adds, 2 layers\n");
  EXPECT_EQ(place.farandole("check net.json").out, "net.json: model, ok\n");
  place.write("run.json", R"({
    "name": "own", "workload": { "model": "net.json" }, "platform": { "topology": "roce25-4xp100", "ranks": 8 },
    "strategy": { "kind": "ddp" }, "measure": { "iterations": 1, "fidelity": "analytic" } })");
  EXPECT_THAT(place.farandole("run run.json --format csv").out, HasSubstr("my_net"));
}

TEST(ImportCommand, RefusesWithTheLineAndLeavesNoFile) {
  const test::Workplace place;
  place.write("net.txt", std::string(summary).replace(std::string(summary).find("1290"), 4, "1299"));
  const test::Finished refused = place.farandole("import keras_summary net.txt --output net.json");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("net.txt:6: expected inputs x units parameters"), HasSubstr("got 1299")));
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "net.json"));
  EXPECT_THAT(place.farandole("import keras_sumary net.txt").err, HasSubstr("did you mean \"keras_summary\"?"));
  EXPECT_EQ(place.farandole("import keras_summary none.txt").status, 2);
  EXPECT_EQ(place.farandole("import keras_summary net.txt --input 28xtwo").status, 2);
  place.write("3.txt", summary);
  EXPECT_EQ(place.farandole("import keras_summary 3.txt --name My-Net --output net.json").status, 2);
}

}}  // namespace farandole::import_command_test
