// Nothing of the user's is overwritten, nothing foreign is executed, and what went wrong is said where it is read.
#include <algorithm>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tools/process.hpp"

namespace farandole::test::no_harm_test { namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string small = R"({"name": "small", "workload": {"model": "resnet18", "batch_per_rank": 32},
  "platform": {"topology": "ethernet-25g", "ranks": 4}, "strategy": {"kind": "horovod", "settings": {}},
  "measure": {"iterations": 3, "warmup": 0}})";
const std::string precious = "a measured trace\n";

class UserFiles : public testing::Test {
 protected:
  UserFiles() { place.write("s.json", small); }

  /// Refused with status 2 before anything runs; gives back the message.
  [[nodiscard]] std::string refusal(const std::string& line) const {
    const Finished finished = place.farandole(line);
    EXPECT_EQ(finished.status, 2) << line << finished.err;
    EXPECT_EQ(finished.out, "") << line;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    return finished.err;
  }
  [[nodiscard]] std::string text(const std::string& name) const { return contents(place.folder() / name); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(place.folder()))
      all.push_back(entry.path().filename());
    std::ranges::sort(all);
    return all;
  }

  Workplace place;
};

TEST_F(UserFiles, AreNotWrittenWhereAVariableOfTheRealJobPoints) {
  place.write("t.json", precious);
  const Finished run = place.run("HOROVOD_TIMELINE=t.json " FARANDOLE_PROGRAM " run s.json --quiet");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(text("t.json"), precious);
  EXPECT_EQ(place.run("HOROVOD_TIMELINE=/nowhere/t.json " FARANDOLE_PROGRAM " run s.json --quiet").status, 0);
}

// Of a scenario, which may be a stranger's, or a launch line; whether there is such a file or not.
TEST_F(UserFiles, ThatASettingNamesAreNotedAndNeverWritten) {
  place.write("t.json", precious);
  const auto before = names();
  const auto noted = [&](const std::string& line, const std::string& variable) {
    const Finished finished = place.farandole("run s.json " + line);
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("ignored, no meaning here: " + variable + " (not written; "));
    EXPECT_EQ(names(), before) << line;
  };
  for (const std::string file : {"t.json", "new.json", "/dev/full", "/nowhere/x"}) {
    noted("--set /strategy/settings/HOROVOD_TIMELINE=" + file, "HOROVOD_TIMELINE");
    noted("--set /platform/ranks=2 --launch 'horovodrun -np 2 --timeline-filename " + file + " python x'",
          "HOROVOD_TIMELINE");
  }
  noted(R"(--set '/strategy/settings={"HOROVOD_AUTOTUNE": "1", "HOROVOD_AUTOTUNE_LOG": "new.csv"}')",
        "HOROVOD_AUTOTUNE_LOG");
  EXPECT_EQ(text("t.json"), precious);
  EXPECT_EQ(place.farandole("run s.json --quiet --timeline own.json").status, 0);
  EXPECT_THAT(text("own.json"), HasSubstr("traceEvents"));
}

TEST_F(UserFiles, ThatAreReadAreNotWritten) {
  std::filesystem::create_symlink("s.json", place.folder() / "link.json");
  std::filesystem::create_hard_link(place.folder() / "s.json", place.folder() / "hard.json");
  for (const std::string option : {"--output", "--timeline", "--html", "--markdown", "--draw"}) {
    for (const std::string name : {"s.json", "./s.json", "link.json", "hard.json"}) {
      EXPECT_THAT(refusal("run s.json " + option + " " + name),
                  HasSubstr("farandole: " + option + ": expected another file than the scenario"));
    }
  }
  ASSERT_EQ(place.farandole("show topology lab-two-tier --format dot > net.dot").status, 0);
  const std::string net = text("net.dot");
  EXPECT_THAT(refusal("collective --topology net.dot --ranks 4 -b 8 -e 8 --output net.dot"),
              HasSubstr("--output: expected another file than the topology"));
  EXPECT_EQ(text("net.dot"), net);
  EXPECT_EQ(text("s.json"), small);
}

TEST_F(UserFiles, AreOneForEachResult) {
  EXPECT_THAT(refusal("run s.json --output x --timeline x"),
              HasSubstr("--timeline: expected another file than that of --output, got \"x\""));
  EXPECT_THAT(refusal("collective --topology ethernet-25g --ranks 2 --markdown x --draw ./x"), HasSubstr("--draw"));
  EXPECT_EQ(place.farandole("run s.json --output /dev/null --timeline /dev/null").status, 0);
}

TEST_F(UserFiles, AreTriedBeforeAnythingRunsAndStayAsTheyAre) {
  place.write("old", "old");
  const auto before = names();
  // A million iterations on message level would take longer than anyone waits.
  const std::string long_run =
      "run s.json --budget 10h --fidelity message --no-fold --set /measure/iterations=1000000 --output old ";
  for (const char* option : {"--html", "--markdown", "--timeline", "--draw"}) {
    EXPECT_THAT(refusal(long_run + option + " /nowhere/x"), HasSubstr("cannot write /nowhere/x: No such file"));
  }
  EXPECT_THAT(refusal(long_run + "--html ."), HasSubstr("Is a directory"));
  EXPECT_EQ(text("old"), "old");
  EXPECT_EQ(names(), before);
}

TEST(FullDisk, IsStatus1OfEveryCommandAndOneLine) {
  const Workplace place;
  place.write("s.json", small);
  for (const std::string command :
       {"run s.json --quiet", "run s.json --quiet --output /dev/full", "show models",
        "show topology ethernet-25g --format json", "check s.json", "doctor", "--help", "run --help", "--version",
        "collective --topology ethernet-25g --ranks 2 -b 8 -e 8"}) {
    std::string line = command;
    if (command.starts_with("check")) {
      place.write("s.json", "{\"$schema\": \"scenario.schema.json\", " + small.substr(1));
    }
    const Finished finished = place.farandole(line + " > /dev/full");
    EXPECT_EQ(finished.status, 1) << command << finished.err;
    EXPECT_THAT(finished.err, AllOf(HasSubstr("farandole: cannot write "), HasSubstr("No space left on device")))
        << command;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << command;
  }
}

// Batch systems set one; the signal that comes with it would end the program without a word.
TEST(FullDisk, IsALimitOnTheSizeOfFilesToo) {
  const Workplace place;
  place.write("s.json", small);
  place.write("old.json", "old");
  const Finished finished =
      place.run("sh -c 'ulimit -f 1; exec " FARANDOLE_PROGRAM " run s.json --quiet --format json --output old.json'");
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "farandole: cannot write old.json: File too large\n");
  EXPECT_EQ(contents(place.folder() / "old.json"), "old");
}

const std::string sweep = R"({"name": "study", "workload": {"model": "resnet18", "batch_per_rank": 32},
  "platform": {"topology": "ethernet-25g", "ranks": 4}, "strategy": {"kind": "horovod"},
  "effects": {"step_jitter": "5 %"}, "measure": {"iterations": 100000, "warmup": 1},
  "sweep": {"/platform/ranks": [2, 4, 8]}})";

// The first worker is killed as soon as it is there, and the point that it had with it.
TEST(FailedPoints, AreSaidInTheResult) {
  const Workplace place;
  place.write("s.json", sweep);
  const auto run = [&](const std::string& format) {
    return place.run(
        "sh -c '" FARANDOLE_PROGRAM
        " run s.json --quiet --budget 1h --set /measure/iterations=20000 --jobs 2 "
        "--output result --format " +
        format +
        " & run=$!; "
        "until kill -9 $(cat /proc/$run/task/$run/children | cut -d\" \" -f1); do :; done 2>/dev/null; wait $run'");
  };
  const Finished finished = run("json");
  EXPECT_EQ(finished.status, 1) << finished.err;
  const json result = json::parse(contents(place.folder() / "result"));
  ASSERT_EQ(result["failed"].size(), 1U);
  EXPECT_THAT(result["failed"][0]["point"].get<std::string>(), HasSubstr("/platform/ranks"));
  EXPECT_THAT(result["failed"][0]["reason"].get<std::string>(), HasSubstr("signal 9"));
  EXPECT_EQ(result["points"].size(), 2U);
  std::filesystem::remove(place.folder() / "result.partial");
  EXPECT_EQ(run("table").status, 1);
  EXPECT_THAT(contents(place.folder() / "result"), HasSubstr("\n# failed: /platform/ranks"));
  EXPECT_EQ(
      place.farandole("run s.json --quiet --budget 1h --set /measure/iterations=20000 --output result --resume").status,
      0);
  EXPECT_THAT(contents(place.folder() / "result"), Not(HasSubstr("failed")));
}

TEST(JournalBesideTheOutput, IsNoOneElsesFile) {
  const Workplace place;
  place.write("s.json", sweep);
  const std::string run = "run s.json --quiet --set /measure/iterations=10 --output result";
  for (const std::string text : {"my notes", "my notes\n"}) {
    place.write("result.partial", text);
    for (const char* resume : {"", " --resume"}) {
      const Finished finished = place.farandole(run + resume);
      EXPECT_EQ(finished.status, 2);
      EXPECT_THAT(finished.err, HasSubstr("it stays as it is"));
      EXPECT_EQ(contents(place.folder() / "result.partial"), text);
    }
  }
  std::filesystem::remove(place.folder() / "result.partial");
  place.write("precious", precious);
  std::filesystem::create_symlink("precious", place.folder() / "result.partial");
  EXPECT_EQ(place.farandole(run).status, 2);
  EXPECT_EQ(contents(place.folder() / "precious"), precious);
  EXPECT_TRUE(std::filesystem::is_symlink(place.folder() / "result.partial"));
}

TEST(JournalBesideTheOutput, OfALiveRunIsNotCalledAnInterruptedOne) {
  const Workplace place;
  place.write("s.json", sweep);
  const auto journal = place.write("result.partial", "");
  const int held = ::open(journal.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(held, F_SETLK, &lock), 0);
  const Finished second = place.farandole("run s.json --quiet --budget 1h --output result");
  ::close(held);
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(second.err, AllOf(HasSubstr("another run is writing it"), Not(HasSubstr("remove"))));
}

// The name of a switch that ends its quotation marks, and adds a vertex with a link.
const std::string evil_topology = R"({"name": "net", "summary": "s", "kind": "graph", "nodes": 2,
  "node": {"device": "v100", "nic": {"rate": "1 GB/s"}}, "network": {"hosts": ["a", "b"],
  "switches": [{"name": "s\" [label=\"x\"]; evil [label=\"click me\", URL=\"javascript:alert(1)\"]; \"x"}],
  "links": [{"from": "a", "to": "s\" [label=\"x\"]; evil [label=\"click me\", URL=\"javascript:alert(1)\"]; \"x",
             "link": {"rate": "1 GB/s"}},
            {"from": "s\" [label=\"x\"]; evil [label=\"click me\", URL=\"javascript:alert(1)\"]; \"x", "to": "b",
             "link": {"rate": "1 GB/s"}}]}})";

TEST(ForeignNames, AreNoLinksInPicturesAndPages) {
  const Workplace place;
  if (place.run("command -v dot").status != 0) GTEST_SKIP() << "Graphviz is not installed";
  place.write("evil.json", evil_topology);
  const Finished svg = place.farandole("show topology ./evil.json --format svg");
  EXPECT_EQ(svg.status, 0) << svg.err;
  EXPECT_THAT(svg.out, AllOf(HasSubstr("click me"), Not(HasSubstr("<a ")), Not(HasSubstr("href=\"javascript"))));
  if (place.farandole("doctor").out.find("d3             not built") != std::string::npos) GTEST_SKIP() << "without D3";
  ASSERT_EQ(place.farandole("collective --topology ./evil.json --ranks 2 -b 8 -e 8 --html page.html").status, 0);
  EXPECT_THAT(contents(place.folder() / "page.html"), AllOf(HasSubstr("<svg"), Not(HasSubstr("href=\"javascript"))));
}

TEST(ForeignNames, ComeBackFromTheFilesOfATopology) {
  const Workplace place;
  place.write("evil.json", evil_topology);
  ASSERT_EQ(place.farandole("show topology ./evil.json --format dot > net.dot").status, 0);
  ASSERT_EQ(place.farandole("show topology ./evil.json --format simgrid > net.xml").status, 0);
  const Finished checked = place.farandole("check net.dot net.xml");
  EXPECT_EQ(checked.status, 0) << checked.err;
}

TEST(ForeignNames, OfAFolderRunNoCommand) {
  const Workplace place;
  const std::string folder = "a'; touch pwned; echo '";
  std::filesystem::create_directories(place.folder() / folder);
  const Finished drawn =
      place.run("TMPDIR=\"$PWD/" + folder + "\" " FARANDOLE_PROGRAM " show topology lab-two-tier --format svg");
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "pwned"));
  if (place.run("command -v dot").status == 0) {
    EXPECT_EQ(drawn.status, 0) << drawn.err;
    EXPECT_THAT(drawn.out, HasSubstr("<svg"));
  }
}

TEST(ForeignNames, OfGraphFilesMayBeLongOrQuoted) {
  const Workplace place;
  ASSERT_EQ(place.farandole("show topology lab-two-tier --format dot > net.dot").status, 0);
  for (const std::string& name : {std::string(100, 'n'), std::string("a\"b"), std::string("a\\b")}) {
    std::filesystem::copy(place.folder() / "net.dot", place.folder() / (name + ".dot"));
    const Finished checked = place.farandole("check './" + name + ".dot'");
    EXPECT_EQ(checked.status, 0) << checked.err;
  }
  const Finished endless =
      place.run("ln -s /dev/zero z.dot; ulimit -v 2000000; timeout 60 " FARANDOLE_PROGRAM " check z.dot");
  EXPECT_EQ(endless.status, 2);
  EXPECT_THAT(endless.err, HasSubstr("a device"));
  EXPECT_EQ(place.run("mkdir d.dot; " FARANDOLE_PROGRAM " check d.dot").status, 2);
}

TEST(ForeignNames, DoNotBeginAFormulaInCsv) {
  const Workplace place;
  place.write("s.json", sweep);
  const Finished finished = place.farandole(
      "run s.json --quiet --format csv --set /measure/iterations=2 --set "
      "'/sweep={\"variants\": {\"=cmd|x\": {\"/platform/ranks\": 2}, \"@SUM(1)\": {\"/platform/ranks\": 4}}}'");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr(",'=cmd|x"), HasSubstr(",'@SUM(1)"), Not(HasSubstr(",=")), Not(HasSubstr(",@"))));
}

}}  // namespace farandole::test::no_harm_test
