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

// As some batch systems start programs. What is opened first would be where messages go, and that is a journal or a
// result.
TEST(ClosedStandardStreams, AreNoFilesOfTheProgramWhileItsJournalIsOpen) {
  const Workplace place;
  place.write("s.json", R"({"name": "s", "workload": {"model": "resnet18", "batch_per_rank": 32},
    "platform": {"topology": "ethernet-25g", "ranks": 4}, "strategy": {"kind": "horovod"},
    "measure": {"iterations": 20000, "warmup": 0}, "sweep": {"/platform/ranks": [1, 2, 3, 4]}})");
  const Finished seen =
      place.run("sh -c '" FARANDOLE_PROGRAM
                " run s.json --budget 1h --output result --format json --jobs 1 <&- >&- 2>&- & run=$!; "
                "until [ -s result.partial ]; do kill -0 $run || exit 1; done; "
                "readlink /proc/$run/fd/0 /proc/$run/fd/1 /proc/$run/fd/2; kill $run; wait $run; true'");
  EXPECT_EQ(seen.status, 0) << seen.err;
  EXPECT_EQ(seen.out, "/dev/null\n/dev/null\n/dev/null\n");
  const Finished resumed =
      place.farandole("run s.json --budget 1h --output result --format json --resume --set /measure/iterations=20000");
  EXPECT_EQ(resumed.status, 0) << resumed.err;
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
  model["variants"][0]["layers"][0]["name"] = "m\x1b[31m\xc2\x9b";
  place.write("t.json", topology.dump());
  place.write("m.json", model.dump());
  for (const std::string line : {"show topology ./t.json", "show model ./m.json"}) {
    for (const std::string form : {"table", "json"}) {
      const Finished shown = place.farandole(line + " --format " + form);
      EXPECT_EQ(shown.status, 0) << shown.err;
      EXPECT_THAT(shown.out, Not(HasSubstr("\x1b"))) << line << form;
      EXPECT_THAT(shown.out, Not(HasSubstr("\xc2\x9b"))) << line << form;
      if (form == "json") {
        EXPECT_THAT(json::parse(shown.out).dump(), HasSubstr("\xc2\x9b")) << "lost";
      }
    }
  }
  place.write("s.json", R"({"name": "s\u009b31m", "workload": {"model": "./m.json", "batch_per_rank": 32},
    "platform": {"topology": "./t.json", "ranks": 2}, "strategy": {"kind": "ddp"},
    "measure": {"iterations": 1, "warmup": 0, "fidelity": "analytic"}})");
  const Finished ran = place.farandole("run s.json");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\xc2\x9b")));
}

}}  // namespace farandole::test::stranger_files_test
