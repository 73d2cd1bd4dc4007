#include <sstream>

#include <gtest/gtest.h>

#include "report/points.hpp"
#include "report/reports.hpp"

namespace farandole::collective_report_test { namespace {

std::string text(const std::vector<CollectivePoint>& points) {
  std::ostringstream out;
  write_collective(out, Format::table, heading(), points);
  return out.str();
}

TEST(CollectiveTable, LooksAsNcclTestsPrintsIt) {
  CollectivePoint small = allreduce_of_a_mebibyte();
  small.bytes = 8_B;
  small.time = 60_us;
  small.algorithm_bandwidth = BytesPerSecond(8 / 60e-6);
  small.bus_bandwidth = BytesPerSecond(15 / 60e-6);
  const std::string expected = heading_text() +
                               R"(# all points: op allreduce, algorithm ring, ranks 16, folded yes, fidelity flow
#
#       size         count      type   redop    root     time   algbw   busbw
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    60.00    0.00    0.00
     1048576        262144     float     sum      -1   500.00    2.10    3.93
# Avg bus bandwidth    : 1.9662
)" + settings_text();
  EXPECT_EQ(text({small, allreduce_of_a_mebibyte()}), expected);
}

TEST(CollectiveTable, NamesFidelitiesAndAveragesEachWhereThereAreSeveral) {
  CollectivePoint by_message = allreduce_of_a_mebibyte();
  by_message.fidelity = "message";
  by_message.bus_bandwidth = 3_GBps;
  const std::string expected = heading_text() +
                               R"(# all points: op allreduce, algorithm ring, ranks 16, folded yes
#
#       size         count      type   redop    root     time   algbw   busbw
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)  fidelity
     1048576        262144     float     sum      -1   500.00    2.10    3.93  flow
     1048576        262144     float     sum      -1   500.00    2.10    3.00  message
# Avg bus bandwidth    : 3.93216 (flow)
# Avg bus bandwidth    : 3 (message)
)" + settings_text();
  EXPECT_EQ(text({allreduce_of_a_mebibyte(), by_message}), expected);
}

TEST(CollectiveTable, ListsTheBusiestLinksBelow) {
  CollectivePoint point = allreduce_of_a_mebibyte();
  point.links = {{"leaf0-spine0/up", 2_MiB, 5_GBps, 0.8388608}, {"node3/nic0/up", 1966080_B, 10_GBps, 0.393216}};
  EXPECT_TRUE(text({point}).ends_with(R"(
# Avg bus bandwidth    : 3.93216
#
# Busiest links at 1048576 B (flow): bytes, capacity, share of it in use
#   leaf0-spine0/up          2097152      40 Gbit/s   83.9 %
#   node3/nic0/up            1966080      80 Gbit/s   39.3 %
)" + settings_text()))
      << text({point});
}

TEST(CollectiveJson, HasTheBusiestLinksOfAPointWhereTheyWereAskedFor) {
  CollectivePoint point = allreduce_of_a_mebibyte();
  std::ostringstream without;
  write_collective(without, Format::json, heading(), std::vector{point});
  EXPECT_EQ(without.str().find("links"), std::string::npos);
  point.links = {{"leaf0-spine0/up", 2_MiB, 5_GBps, 0.75}};
  std::ostringstream with;
  write_collective(with, Format::json, heading(), std::vector{point});
  const std::string expected = R"(      "links": [
        {
          "name": "leaf0-spine0/up",
          "bytes": 2097152,
          "capacity": 5000000000.0,
          "utilisation": 0.75
        }
      ])";
  EXPECT_NE(with.str().find(expected), std::string::npos) << with.str();
}

TEST(CollectiveCsv, LeavesListsOut) {
  CollectivePoint point = allreduce_of_a_mebibyte();
  std::ostringstream without;
  write_collective(without, Format::csv, heading(), std::vector{point});
  point.links = {{"leaf0-spine0/up", 2_MiB, 5_GBps, 0.75}};
  std::ostringstream with;
  write_collective(with, Format::csv, heading(), std::vector{point});
  EXPECT_EQ(with.str(), without.str());
}

TEST(CollectiveTable, OfNoPointsIsItsHeadings) {
  EXPECT_EQ(text({}),
            heading_text() + "#\n" + nccl_heading_names() + '\n' + nccl_heading_units() + '\n' + settings_text());
}

// nccl-tests counts one rank's elements of an allgather: 256 MiB / (4 B * 64 ranks) = 1048576.
TEST(NcclRow, CountsOneRanksElementsOfAnAllgather) {
  CollectivePoint point = allreduce_of_a_mebibyte();
  point.operation = "allgather";
  point.ranks = 64;
  point.bytes = 256_MiB;
  EXPECT_EQ(nccl_row(point), "   268435456       1048576     float    none      -1   500.00    2.10    3.93");
}

TEST(NcclRow, HasARootWhereTheOperationHasOne) {
  CollectivePoint point = allreduce_of_a_mebibyte();
  point.operation = "broadcast";
  EXPECT_EQ(nccl_row(point), "     1048576        262144     float    none       0   500.00    2.10    3.93");
}

TEST(NcclRow, KeepsItsWidthWithFewerDecimalsForLongTimes) {
  CollectivePoint point = allreduce_of_a_mebibyte();
  const auto time_of = [&](Seconds time) {
    point.time = time;
    return nccl_row(point).substr(54, 7);
  };
  EXPECT_EQ(time_of(9_ms), "9000.00");
  EXPECT_EQ(time_of(Seconds(9999.999e-6)), "10000.0");
  EXPECT_EQ(time_of(90_ms), "90000.0");
  EXPECT_EQ(time_of(900_ms), " 900000");
}

}}  // namespace farandole::collective_report_test
