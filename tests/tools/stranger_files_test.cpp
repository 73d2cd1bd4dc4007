// What a stranger's file, a long name or a closed stream does to the user's files and to his terminal: nothing.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::stranger_files_test { namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(CalibratedFile, IsNotWrittenOverTheCataloguesOwnThatIsGivenByName) {
  const Workplace place;
  ASSERT_EQ(place
                .run("mkdir data && cp -r '" FARANDOLE_SOURCE_DIR "/topologies' data/ && "
                     "ln -s '" FARANDOLE_SOURCE_DIR "/models' data/models")
                .status,
            0);
  place.write("m.txt", "measured\n");
  const auto own = place.folder() / "data/topologies/ethernet-25g.json";
  const std::string before = contents(own);
  const Finished done =
      place.run("FARANDOLE_DATA=data " FARANDOLE_PROGRAM
                " calibrate m.txt --topology ethernet-25g --output data/topologies/ethernet-25g.json");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("--output: expected another file than the topology"));
  EXPECT_EQ(contents(own), before);
}

TEST(NewScenario, HoldsLongAndQuotedNamesAsTheyAre) {
  const Workplace place;
  const std::string model = contents(FARANDOLE_SOURCE_DIR "/models/resnet18.json");
  for (const std::string& name : {"./" + std::string(70, 'm') + ".json", std::string("./a\"b.json")}) {
    place.write(name, model);
    const Finished made = place.farandole("new x.json --topology ethernet-25g --model '" + name + "'");
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(json::parse(contents(place.folder() / "x.json")).at("workload").at("model"), name);
    std::filesystem::remove(place.folder() / "x.json");
  }
  const Finished long_name =
      place.farandole("new " + std::string(300, 'x') + ".json --topology ethernet-25g --model vgg16");
  EXPECT_NE(long_name.status, 0);
  EXPECT_THAT(long_name.err, Not(HasSubstr("filesystem error")));
}

// As some batch systems start programs. A worker is killed, which is said; the journal must hold the other points.
TEST(ClosedStandardError, TakesNoMessageIntoTheJournal) {
  const Workplace place;
  place.write("s.json", R"({"name": "s", "workload": {"model": "resnet18", "batch_per_rank": 32},
    "platform": {"topology": "ethernet-25g", "ranks": 4}, "strategy": {"kind": "horovod"},
    "measure": {"iterations": 3, "warmup": 0}, "sweep": {"/platform/ranks": [2, 3, 4]}})");
  const std::string options = " run s.json --budget 1h --set /measure/iterations=20000 --output result --format json ";
  const Finished killed = place.run(
      "sh -c '" FARANDOLE_PROGRAM + options +
      "--jobs 2 2>&- & run=$!; "
      "until kill -9 $(cat /proc/$run/task/$run/children | cut -d\" \" -f1); do :; done 2>/dev/null; wait $run'");
  EXPECT_EQ(killed.status, 1);
  const Finished resumed = place.farandole(options.substr(1) + "--resume");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(contents(place.folder() / "result"), Not(HasSubstr("failed")));
}

TEST(Terminal, IsNotSteeredByTheFilesThatAreShown) {
  const Workplace place;
  json topology = json::parse(contents(FARANDOLE_SOURCE_DIR "/topologies/ethernet-25g.json"));
  json model = json::parse(contents(FARANDOLE_SOURCE_DIR "/models/resnet18.json"));
  for (json* file : {&topology, &model}) {
    const std::string name = file->at("name");
    (*file)["summary"] =
        "\x1b[31mred \xc2\x9b"
        "31m" +
        name;
  }
  model["name"] = "m\x1b[31m\xc2\x9b";
  place.write("t.json", topology.dump());
  place.write("m.json", model.dump());
  for (const std::string line : {"show topology ./t.json", "show model ./m.json"}) {
    const Finished shown = place.farandole(line);
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_THAT(shown.out, Not(HasSubstr("\x1b"))) << line;
    EXPECT_THAT(shown.out, Not(HasSubstr("\xc2\x9b"))) << line;
  }
  place.write("s.json", R"({"name": "s\u009b31m", "workload": {"model": "./m.json", "batch_per_rank": 32},
    "platform": {"topology": "./t.json", "ranks": 2}, "strategy": {"kind": "ddp"},
    "measure": {"iterations": 1, "warmup": 0, "fidelity": "analytic"}})");
  const Finished ran = place.farandole("run s.json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\xc2\x9b")));
}

}}  // namespace farandole::test::stranger_files_test
