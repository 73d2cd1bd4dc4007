// farandole run under mpirun: a manager and workers, and the same bytes as without.
#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>

#include "tools/mpi.hpp"
#include "tools/process.hpp"

namespace farandole::test::mpi_study_test { namespace {

using testing::HasSubstr;

constexpr const char* study = R"({
  "name": "study",
  "workload": { "model": "resnet18", "batch_per_rank": 32 },
  "platform": { "topology": "ethernet-25g", "ranks": 4 },
  "strategy": { "kind": "horovod", "version": "0.19.0" },
  "measure": { "iterations": 20, "warmup": 1, "fidelity": "flow" },
  "sweep": {
    "/platform/ranks": { "from": 1, "to": 16, "factor": 2 },
    "/strategy/fusion_threshold": { "from": "4 MiB", "to": "32 MiB", "factor": 2 }
  }
})";

class MpiStudy : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
    place.write("study.json", study);
  }

  [[nodiscard]] Finished under_mpirun(const std::string& arguments, const std::string& options = "-np 3") const {
    return place.run(mpirun(options) + FARANDOLE_PROGRAM " " + arguments);
  }

  Workplace place;
};

TEST_F(MpiStudy, GivesTheSameBytesAsWithoutMpi) {
  const std::string alone = place.farandole("run study.json --format json").out;
  ASSERT_FALSE(alone.empty());
  const Finished finished = under_mpirun("run study.json --format json");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, alone);
  EXPECT_EQ(under_mpirun("run study.json --format json", "-np 2").out, alone);
  EXPECT_EQ(under_mpirun("run study.json --format json", "-np 1").out, alone);
}

TEST_F(MpiStudy, WritesOneJournalAndResumesFromIt) {
  const std::string alone = place.farandole("run study.json --format json").out;
  EXPECT_EQ(under_mpirun("run study.json --format json --output result.json").status, 0);
  EXPECT_EQ(contents(place.folder() / "result.json"), alone);
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "result.json.partial"));
  EXPECT_EQ(under_mpirun("run study.json --format json --resume --output result.json").status, 0);
  EXPECT_EQ(contents(place.folder() / "result.json"), alone);
}

TEST_F(MpiStudy, RunsAScenarioOfOnePointToo) {
  const std::string one = "run study.json --set '/sweep={}' --format json";
  const Finished finished = under_mpirun(one);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, place.farandole(one).out);
}

TEST_F(MpiStudy, SaysWhatIsWrongWithTheInputOnce) {
  const Finished finished = under_mpirun("run study.json --set /workload/model=resnet19");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("expected a model, got \"resnet19\""));
  EXPECT_EQ(finished.err.find("resnet19"), finished.err.rfind("resnet19"));
}

TEST_F(MpiStudy, LeavesASearchToTheManager) {
  std::string search(study);
  search.replace(search.find("\"sweep\""), std::string::npos,
                 R"("optimise": { "minimise": "iteration_seconds", "over": { "/platform/ranks": [2, 4] } } })");
  place.write("search.json", search);
  const Finished finished = under_mpirun("run search.json --format json");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, place.farandole("run search.json --format json").out);
}

TEST_F(MpiStudy, RefusesRanksThatReadOtherFiles) {
  const std::string own_seed = "sh -c 'exec " FARANDOLE_PROGRAM " run study.json --seed $OMPI_COMM_WORLD_RANK'";
  const Finished finished = place.run(mpirun("-np 2") + own_seed);
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("expected the scenario and data files that rank 0 reads"));
}

using SlowMpiStudy = MpiStudy;

/// Open MPI ends everybody with the first that dies, unless it is told not to.
TEST_F(SlowMpiStudy, GivesTheTasksOfADeadWorkerToTheOthers) {
  const std::string more = " --budget 1h --set '/measure/iterations=3000' --format json";
  const std::string alone = place.farandole("run study.json" + more).out;
  const std::string dying =
      "sh -c 'if [ $OMPI_COMM_WORLD_RANK = 1 ]; then (sleep 1; kill -9 $$) & fi; exec " FARANDOLE_PROGRAM
      " run study.json --budget 1h --set /measure/iterations=3000 --format json'";
  const Finished finished = place.run(mpirun("--enable-recovery -np 3") + dying);
  EXPECT_EQ(finished.out, alone) << finished.err;
}

}}  // namespace farandole::test::mpi_study_test
