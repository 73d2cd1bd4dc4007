// What is said of a library's times where the network, or where the nodes are, would matter.
#include <gmock/gmock.h>

#include "tools/process.hpp"

namespace farandole::test::fabric_note_test { namespace {

using testing::HasSubstr;
using testing::Not;

std::string said(const std::string& line) {
  const Workplace place;
  const Finished finished = place.farandole("collective -b 1M -e 1M " + line);
  EXPECT_EQ(finished.status, 0) << finished.err;
  return finished.err;
}

TEST(NoteOnFabric, IsThereWhereALibraryRunsOnANetworkThatMayBeFullOrOnScatteredNodes) {
  EXPECT_THAT(said("--topology polaris --ranks 8"), HasSubstr("nccl-2.18: the network is not known to be fully"));
  EXPECT_THAT(said("--topology hgx-h100 --ranks 32 --placement random"), HasSubstr("the nodes are not contiguous"));
}

TEST(NoteOnFabric, IsNotThereOnOneNodeOnAFullNetworkOrOfAlgorithms) {
  for (const char* line : {"--topology polaris --ranks 4", "--topology hgx-h100 --ranks 32",
                           "--topology polaris --ranks 8 --algorithm openmpi-4"})
    EXPECT_THAT(said(line), Not(HasSubstr("oversubscription"))) << line;
}

TEST(NoteOnFabric, IsSaidByThoseWhoAnswerQuestionsOnNetworksAndPlaces) {
  const Workplace place;
  place.write("s.json", R"({"name": "job", "workload": {"model": "resnet50", "batch_per_rank": 32},
    "platform": {"topology": "hgx-h100", "ranks": 64}, "strategy": {"kind": "ddp"},
    "measure": {"iterations": 2, "warmup": 1}})");
  ASSERT_EQ(place.farandole("run s.json --timeline trace.json").status, 0);
  for (const char* question : {"network s.json", "place s.json --nodes-per-switch 2 --nodes 16 --oversubscription 4",
                               "tune s.json --set /platform/topology=polaris",
                               "cost s.json --set /platform/topology=polaris --price '9 USD/h'",
                               "diagnose s.json --set /platform/topology=polaris --measured '50 ms'",
                               "compare trace.json s.json --set /platform/topology=polaris"}) {
    const Finished finished = place.farandole(question);
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("placement do not fully act on collectives of nccl")) << question;
  }
}

}}  // namespace farandole::test::fabric_note_test
