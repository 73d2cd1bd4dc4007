// Sweeps on many processes, interrupted, in shards: always the same bytes.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/process.hpp"

namespace farandole::study_commands_test { namespace {

using testing::HasSubstr;

constexpr const char* study = R"({
  "name": "study",
  "workload": { "model": "resnet18", "batch_per_rank": 32 },
  "platform": { "topology": "ethernet-25g", "ranks": 4 },
  "strategy": { "kind": "horovod", "version": "0.19.0" },
  "measure": { "iterations": 50, "warmup": 1, "fidelity": "flow" },
  "sweep": {
    "/platform/ranks": { "from": 1, "to": 16, "factor": 2 },
    "/strategy/fusion_threshold": { "from": "4 MiB", "to": "32 MiB", "factor": 2 }
  }
})";
constexpr int points = 20;

void expect_success(const test::Finished& finished) {
  EXPECT_EQ(finished.status, 0) << finished.err;
}

/// Starts the program on study.json with --resume and kills it as soon as `now` says so.
void run_until(const test::Workplace& place, const std::function<bool()>& now) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string folder = place.folder().string();
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    if (::chdir(folder.c_str()) == 0) {
      ::execl(FARANDOLE_PROGRAM, FARANDOLE_PROGRAM, "run", "study.json", "--format", "json", "--output", "killed.json",
              "--jobs", "2", "--resume", nullptr);
    }
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (now()) ::kill(child, SIGKILL);
    std::this_thread::yield();
  }
}

/// The same once the journal has that many lines.
void run_until(const test::Workplace& place, int lines) {
  run_until(place, [&] {
    const std::string text = test::contents(place.folder() / "killed.json.partial");
    return std::count(text.begin(), text.end(), '\n') >= lines;
  });
}

/// The same, again where the run was over before it could be killed: leaves a journal.
void interrupt(const test::Workplace& place, int lines) {
  const auto output = place.folder() / "killed.json";
  for (int attempt = 0; attempt < 50; ++attempt) {
    run_until(place, lines);
    if (std::filesystem::exists(output.string() + ".partial")) return;
    std::filesystem::remove(output);
  }
  FAIL() << "never interrupted";
}

class Study : public testing::Test {
 protected:
  Study() { place.write("study.json", study); }

  std::string whole() {
    expect_success(place.farandole("run study.json --format json --jobs 1 --output whole.json"));
    return test::contents(place.folder() / "whole.json");
  }

  test::Workplace place;
};

TEST_F(Study, GivesTheSameBytesWhateverTheNumberOfJobs) {
  const std::string one = whole();
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(place.farandole("run study.json --format json --jobs 3").out, one);
  EXPECT_EQ(place.farandole("run study.json --format json").out, one);
}

TEST_F(Study, GoesOnAfterKillsAsIfNothingHadHappened) {
  const std::string undisturbed = whole();
  for (const int lines : {1, 2, 9, points}) {
    run_until(place, lines);
    const test::Finished finished = place.farandole("run study.json --format json --output killed.json --resume");
    expect_success(finished);
    EXPECT_EQ(test::contents(place.folder() / "killed.json"), undisturbed) << "killed after " << lines << " lines";
    EXPECT_FALSE(std::filesystem::exists(place.folder() / "killed.json.partial"));
    std::filesystem::remove(place.folder() / "killed.json");
  }
}

using Clock = std::chrono::steady_clock;

/// Kills a run at so many moments, seeded and anywhere between its start and its end; resumed, it ends each time as if
/// nothing had happened.
class KilledStudy : public Study {
 protected:
  void kill_and_resume(int times) {
    const auto begin = Clock::now();
    const std::string undisturbed = whole();
    const auto duration = Clock::now() - begin;
    std::mt19937 random(1);
    for (int i = 0; i < times; ++i) {
      const double share = std::uniform_real_distribution(0.0, 1.0)(random);
      const auto start = Clock::now();
      run_until(place, [&] { return Clock::now() - start >= share * duration; });
      expect_success(place.farandole("run study.json --format json --output killed.json --resume"));
      ASSERT_EQ(test::contents(place.folder() / "killed.json"), undisturbed) << "killed after " << share;
      EXPECT_FALSE(std::filesystem::exists(place.folder() / "killed.json.partial"));
      std::filesystem::remove(place.folder() / "killed.json");
    }
  }
};
using SlowKilledStudy = KilledStudy;

TEST_F(KilledStudy, IsTheSameAfterAFewKillsAtRandomMoments) {
  kill_and_resume(3);
}

TEST_F(SlowKilledStudy, IsTheSameAfterFiftyKillsAtRandomMoments) {
  kill_and_resume(50);
}

TEST_F(Study, DropsATornLastLineAndRefusesADamagedOneBeforeIt) {
  const std::string undisturbed = whole();
  interrupt(place, 6);
  const auto journal = place.folder() / "killed.json.partial";
  ASSERT_TRUE(std::filesystem::exists(journal));
  const std::string kept = test::contents(journal);
  place.write("killed.json.partial", kept.substr(0, kept.size() - 7));
  expect_success(place.farandole("run study.json --format json --output killed.json --resume"));
  EXPECT_EQ(test::contents(place.folder() / "killed.json"), undisturbed);

  std::string damaged = kept;
  damaged[damaged.find('\n') + 30] ^= 1;
  place.write("killed.json.partial", damaged);
  const test::Finished refused = place.farandole("run study.json --format json --output killed.json --resume");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("killed.json.partial:2: "));
}

TEST_F(Study, RefusesTheJournalOfAnotherRunAndToForgetOne) {
  interrupt(place, 4);
  const test::Finished other =
      place.farandole("run study.json --set /measure/iterations=11 --format json --output killed.json --resume");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("with other values, options or data files"));
  const test::Finished forgetful = place.farandole("run study.json --format json --output killed.json");
  EXPECT_EQ(forgetful.status, 2);
  EXPECT_THAT(forgetful.err, HasSubstr("--resume goes on from them"));
}

TEST_F(Study, RefusesAJournalAfterAnAlgorithmFileHasChanged) {
  const std::string direct = R"({ "name": "own", "op": "allreduce", "ranks": 2, "chunks": 1, "phases": [
    { "name": "exchange", "transfers": [ { "from": 0, "to": 1, "chunk": 0, "action": "reduce" },
                                         { "from": 1, "to": 0, "chunk": 0, "action": "reduce" } ] } ] })";
  place.write("own.json", direct);
  const std::string options =
      " --set '/collectives={\"allreduce\": \"own.json\"}' --set '/sweep/~1platform~1ranks=[1, 2]' --format json";
  expect_success(place.farandole("run study.json" + options + " --shard 1/2 --output s1"));
  std::string renamed = direct;
  renamed.replace(renamed.find("exchange"), 8, "exchanging");
  place.write("own.json", renamed);
  expect_success(place.farandole("run study.json" + options + " --shard 2/2 --output s2"));
  EXPECT_THAT(place.farandole("merge s1 s2").err, HasSubstr("with other values, options or data files"));
}

TEST_F(Study, IsJoinedFromShardsToTheSameBytes) {
  std::string asking = study;
  asking.insert(1, R"( "question": { "ask": "Is a larger buffer better?",
    "from": { "/strategy/fusion_threshold": "4 MiB" }, "to": { "/strategy/fusion_threshold": "32 MiB" } },)");
  place.write("study.json", asking);
  const std::string undisturbed = whole();
  for (const char* shard : {"1", "2", "3"}) {
    expect_success(
        place.farandole(std::string("run study.json --format json --shard ") + shard + "/3 --output s" + shard));
  }
  expect_success(place.farandole("merge s3 s1 s2 --output merged.json"));
  EXPECT_EQ(test::contents(place.folder() / "merged.json"), undisturbed);
  EXPECT_THAT(undisturbed, HasSubstr("Is a larger buffer better?"));
  for (const std::string format : {"csv", "table"}) {
    EXPECT_EQ(place.farandole("merge s1 s2 s3 --format " + format).out,
              place.farandole("run study.json --format " + format).out);
  }
}

TEST_F(Study, RefusesShardsThatAreMissingTwiceForeignOrCutShort) {
  for (const char* run :
       {"--shard 1/2 --output s1", "--shard 0/2 --output s2", "--shard 2/2 --set /measure/seed=7 --output foreign"}) {
    expect_success(place.farandole(std::string("run study.json ") + run));
  }
  EXPECT_THAT(place.farandole("merge s1").err, HasSubstr("missing shards: 2/2"));
  EXPECT_THAT(place.farandole("merge s1 s2 s1").err, HasSubstr("shard 1/2, as s1"));
  EXPECT_THAT(place.farandole("merge s1 foreign").err, HasSubstr("foreign:1: "));
  const std::string text = test::contents(place.folder() / "s2");
  place.write("s2", text.substr(0, text.size() - 100));
  const test::Finished cut = place.farandole("merge s1 s2");
  EXPECT_EQ(cut.status, 2);
  EXPECT_THAT(cut.err, HasSubstr("s2: "));
  EXPECT_THAT(cut.err, HasSubstr("incomplete"));
}

TEST_F(Study, ZipsAndVariantsAreAxesToo) {
  place.write("study.json", std::string(study).replace(std::string(study).find("\"sweep\""), std::string::npos, R"(
    "sweep": {
      "zip": { "/platform/ranks": [2, 4], "/workload/batch_per_rank": [64, 32] },
      "variants": { "small": { "/workload/model": "resnet18" }, "large": { "/workload/model": "resnet50" } }
    } })"));
  const std::string csv = place.farandole("run study.json --format csv").out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5) << csv;
  EXPECT_LT(csv.find("resnet18"), csv.find("resnet50"));
}

}}  // namespace farandole::study_commands_test
