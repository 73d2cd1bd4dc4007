// A plain algorithm on a machine of many rails says which it leaves idle.
#include "scenario/unused_nics.hpp"

#include <gmock/gmock.h>

#include "scenario/collective_run.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::unused_nics_test { namespace {

using testing::HasSubstr;

std::optional<std::string> note(const std::string& machine, const std::string& algorithm, int ranks,
                                Operation operation = Operation::allreduce) {
  const Document where = Document::parse("{}", "test");
  CollectiveRequest request;
  request.algorithm = *find_algorithm_or_library(operation, algorithm);
  request.sizes = {1_MiB};
  request.ranks = ranks;
  return note_on_nics(request, Catalogue().topology(machine, where.root()), where.root());
}

TEST(UnusedNics, OneRingLeavesANodeThroughOneOfItsNics) {
  EXPECT_EQ(note("dgx-a100", "ring", 64), R"(ring uses 1 of 8 NICs of a node; "library" (nccl-2.10) uses all)");
  EXPECT_EQ(note("polaris", "ring", 8), R"(ring uses 1 of 2 NICs of a node; "library" (nccl-2.18) uses all)");
  EXPECT_EQ(note("dgx1-p100", "double_tree", 16)->substr(0, 11), "double_tree");
}

/// Of so many ranks on the last of two nodes, no more than they have devices near.
TEST(UnusedNics, OnlyThoseThatTheJobsDevicesReachAreCounted) {
  const Document where = Document::parse("{}", "test");
  const Topology topology = Catalogue().topology("dgx-a100", where.root());
  const Placement placement =
      place(read_placement_rule(Document::parse(R"({"devices": [0, 1], "ranks_per_node": 2})", "rule").root()), 4, {},
            layout_of(topology), where.root());
  const Platform platform = build_for(topology, placement, where.root());
  const auto use = unused_nics(find_algorithm(Operation::allreduce, "ring")->build(Shape(4)), platform, placement);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->used, 1);
  EXPECT_EQ(use->all, 2);
}

TEST(UnusedNics, NothingIsSaidWhereNothingIsLeft) {
  EXPECT_FALSE(note("dgx-a100", "ring", 8));                            // nothing leaves the node
  EXPECT_FALSE(note("roce25-4xp100", "ring", 16));                      // there is one NIC
  EXPECT_FALSE(note("dgx-a100", "nccl-2.10", 64));                      // the library uses all
  EXPECT_FALSE(note("dgx-a100", "direct", 16, Operation::alltoall));    // all ranks send off the node
  EXPECT_FALSE(note("dgx-a100", "pairwise", 16, Operation::alltoall));  // in one round or another
}

TEST(UnusedNics, AResultOfARunSaysItAmongItsSettings) {
  const std::vector<test::Change> rails{{"/platform/topology", "dgx-a100"}, {"/platform/ranks", "16"}};
  auto ring = rails;
  ring.push_back({"/collectives", R"({"allreduce": "ring"})"});
  EXPECT_THAT(test::run(ring).settings.at("note"), HasSubstr("ring uses 1 of 8 NICs"));
  EXPECT_FALSE(test::run(rails).settings.contains("note"));
}

}}  // namespace farandole::unused_nics_test
