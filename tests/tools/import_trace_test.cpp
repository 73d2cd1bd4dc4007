// Traces of training become workload files that scenarios can name; tables of nccl-tests become topologies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/trace_samples.hpp"
#include "tools/process.hpp"

namespace farandole::test::import_trace_test { namespace {

using testing::HasSubstr;

TEST(ImportCommand, AHorovodTimelineBecomesAWorkload) {
  const Workplace place;
  place.write("t.json", horovod_timeline());
  const Finished done = place.farandole("import horovod_timeline t.json --batch 64 --output mine.json");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("2 layers, forward 50 ms"));
  EXPECT_THAT(done.err, HasSubstr("negotiation 2 ms"));
  EXPECT_EQ(place.farandole("check mine.json").status, 0);
}

TEST(ImportCommand, AForeignTraceIsRefusedAndNothingWritten) {
  const Workplace place;
  place.write("t.json", profiler_trace());
  const Finished done = place.farandole("import horovod_timeline t.json --output mine.json");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("expected the timeline of Horovod's allreduces"));
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "mine.json"));
}

TEST(ImportCommand, AnUnknownKindIsRefusedWithTheNearest) {
  const Workplace place;
  const Finished done = place.farandole("import horovod_timelin t.json --output mine.json");
  EXPECT_EQ(done.status, 2);
  EXPECT_THAT(done.err, HasSubstr("did you mean \"horovod_timeline\""));
}

TEST(CalibrateCommand, FitsATableOfNcclTestsAndJudgesItselfOnWhatItHasNotSeen) {
  const Workplace place;
  const std::string table =
      std::string(FARANDOLE_SOURCE_DIR) + "/scenarios/published/collectives/thetagpu-16ranks.json";
  const Finished done =
      place.farandole("calibrate " + table + " --topology dgx-a100 --hold-out sizes --output mine.json");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("rate of allreduce by nccl-2.22, 16 ranks on 2 nodes"));
  EXPECT_THAT(done.out, HasSubstr("with sizes held out in turn"));
  EXPECT_EQ(place.farandole("validate " + table + " --topology ./mine.json").status, 0);
}

}}  // namespace farandole::test::import_trace_test
