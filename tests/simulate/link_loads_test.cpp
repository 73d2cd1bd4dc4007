// What links carry in a collective, against what its schedule sends.
#include "simulate/link_loads.hpp"

#include <gmock/gmock.h>

#include "collective/chunk_sizes.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::link_loads_test { namespace {

using testing::Each;

TEST(LinkLoads, OfARingAreTwiceTheDataButForOneShareOverEveryLink) {
  // 2 (n-1) / n of the size through each NIC, both ways
  const RoutedSchedule routed(ring_allreduce(8), test::star(8, 1_GBps, 1_us), test::in_order(8));
  EXPECT_THAT(link_bytes(routed, 80_MB), Each(140_MB));
}

TEST(LinkLoads, OfAShiftAlltoallFollowTheReceivers) {
  // Each of 6 ranks sends 5/6 of the size; of what a leaf of 3 sends, 3 shares of 5 go to the other one.
  const Platform platform = test::leaf_spine(2, 3, 1, 1_GBps, 1_GBps);
  const RoutedSchedule routed(find_algorithm(Operation::alltoall, "pairwise")->build(Shape(6)), platform,
                              test::in_order(6));
  const auto bytes = link_bytes(routed, 6_MB);
  const auto first = static_cast<std::size_t>(platform.first_network_link());
  EXPECT_EQ(bytes[0], 5_MB);
  for (std::size_t link = first; link < first + 4; ++link) EXPECT_EQ(bytes[link], 9_MB) << link;
}

TEST(LinkLoads, CountEverythingThatIsSentOnEveryLinkItCrosses) {
  const Platform platform = test::leaf_spine(3, 2, 2, 1_GBps, 1_GBps);
  for (const auto& build : test::schedules_to_fold()) {
    const Schedule schedule = build(12);
    const auto bytes = link_bytes(RoutedSchedule(schedule, platform, test::in_order(12)), 1234567_B);
    double expected = 0;
    const ChunkSizes sizes(1234567_B, schedule);
    for (const Phase& phase : schedule.phases) {
      for (int repeat = 0; repeat < phase.repeats; ++repeat) {
        for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t) {
          const auto links = platform.route(transfer.from, transfer.to).links.size();
          expected += sizes.of(schedule, phase, transfer).si() * static_cast<double>(links);
        });
      }
    }
    double counted = 0;
    for (const Bytes link : bytes) counted += link.si();
    EXPECT_NEAR(counted / expected, 1, 1e-12) << schedule.algorithm;
  }
}

TEST(LinkLoads, AreSplitEvenlyOverThePathsOfARoute) {
  Platform platform = test::star(2, 1_GBps, 0_s);
  platform.links.push_back({"one", 1_GBps, 0_s, 1_GBps});
  platform.links.push_back({"two", 1_GBps, 0_s, 1_GBps});
  platform.network.paths = [](int, int) -> Paths { return {{4}, {5}, {5}, {5}}; };
  const Schedule schedule = test::schedule_of("one way", 2, {{"send", {{0, 1, 0}}, 1, 0}});
  const auto bytes = link_bytes(RoutedSchedule(schedule, platform, test::in_order(2)), 8_MB);
  EXPECT_EQ(bytes[4], 1_MB);  // a quarter of a chunk of 4 MB
  EXPECT_EQ(bytes[5], 3_MB);
  EXPECT_EQ(bytes[0], 4_MB);
}

}}  // namespace farandole::link_loads_test
