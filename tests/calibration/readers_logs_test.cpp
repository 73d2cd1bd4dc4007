// Logs as users have them: with labels, timestamps and other programs' lines in between, several tables in one file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/read_measurements.hpp"
#include "calibration/samples.hpp"

namespace farandole::readers_logs_test { namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<MeasuredTime> rows(std::string_view text, const FieldDefaults& defaults = {}) {
  return read_measurements({"m.log", text}, defaults);
}

std::string refusal(std::string_view text, const FieldDefaults& defaults = {}) {
  try {
    rows(text, defaults);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

/// The text with something in front of every line.
std::string labelled(std::string_view text, const std::string& label) {
  std::string result = label;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += label;
  }
  return result + "\n";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

void expect_same(const std::vector<MeasuredTime>& found, const std::vector<MeasuredTime>& expected,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].operation, expected[i].operation) << what;
    EXPECT_EQ(found[i].ranks, expected[i].ranks) << what;
    EXPECT_EQ(found[i].nodes, expected[i].nodes) << what;
    EXPECT_EQ(found[i].devices_per_process, expected[i].devices_per_process) << what;
    EXPECT_EQ(found[i].bytes, expected[i].bytes) << what;
    EXPECT_EQ(found[i].time, expected[i].time) << what;
    EXPECT_EQ(found[i].doubt, expected[i].doubt) << what;
  }
}

/// Open MPI --tag-output and PRRTE, MPICH -prepend-rank, srun -l, PALS --label, pdsh, ts, Kubernetes, and two at once.
TEST(Logs, AreReadWithWhatLaunchersAndLoggersPutInFrontOfEveryLine) {
  const FieldDefaults defaults{"allreduce", "ring", 8, 2};
  for (const char* text : {test::nccl_tests_text, test::osu_text, test::osu_latency_text, test::imb_text}) {
    const auto plain = rows(text, defaults);
    for (const char* label :
         {"[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-node1-77@1,0]<stdout>:", "[0] ", "0: ", " 0: ", "12: ",
          "nid001234 0: ", "node001: ", "gpu-7.cluster: 0: ", "2026-11-24T10:23:45.123456789Z stdout F ",
          "2026-11-24 10:23:45,123 ", "Nov 24 10:23:45 ", "[2026-11-24 10:23:45] ", "10:23:45.000 ",
          "2026-11-24T10:23:45+00:00 0: ", "0: [2026-11-24 10:23:45] "}) {
      expect_same(rows(labelled(text, label), defaults), plain, label);
    }
  }
}

constexpr const char* row_of_8 =
    "           8             2     float     sum      -1    135.8    0.00    0.00      0    123.5    0.00    0.00     "
    " 0";

/// NCCL prints to the same place: whole lines, and into a row between its three parts.
TEST(Logs, OfNcclTestsAreReadWithNcclsMessagesInBetween) {
  const FieldDefaults defaults{"allreduce", "ring", {}, {}};
  const auto plain = rows(test::nccl_tests_text, defaults);
  const std::string message = "node7:811:840 [0] NCCL INFO Channel 00/02 :    0   1   2   3\n";
  const std::string before = "           8             2     float     sum      -1";
  const std::string out = "    135.8    0.00    0.00      0";
  const std::string in = "    123.5    0.00    0.00      0";
  for (const std::string& row : {message + row_of_8, before + message + out + in, before + out + message + in,
                                 before + message + out + message + in, before + message + message + out + in,
                                 row_of_8 + message, before + " " + message + out + in}) {
    expect_same(rows(replaced(test::nccl_tests_text, row_of_8, row), defaults), plain, row);
  }
}

TEST(Logs, OfNcclTestsThatBreakOffInARowAreRefusedThere) {
  const std::string text =
      replaced(test::nccl_tests_text, row_of_8, "           8             2     float     sum      -1");
  EXPECT_THAT(refusal(text, {"allreduce", "ring", {}, {}}),
              StartsWith("m.log:12: expected a row as the heading has it"));
}

/// -c 0 prints N/A for what was not checked; what was checked and is wrong is no measurement.
TEST(Logs, OfNcclTestsSayWhatWasWrong) {
  const FieldDefaults defaults{"allreduce", "ring", {}, {}};
  const auto row = [&](const std::string& wrong) {
    return rows(
        replaced(test::nccl_tests_text, "0.00    0.00      0    123.5", "0.00    0.00    " + wrong + "    123.5"),
        defaults)[0];
  };
  EXPECT_EQ(row("N/A").time, rows(test::nccl_tests_text, defaults)[0].time);
  EXPECT_FALSE(row("N/A").doubt);
  EXPECT_FALSE(row("0").doubt);
  EXPECT_EQ(row("16").doubt, "wrong results");
}

std::string table_of(const std::string& program, const std::string& size, int ranks, int nodes) {
  std::string text =
      "# nccl-tests version 2.17.1 nccl-headers=22800 nccl-library=22800\n# Collective test starting: " + program +
      "\n# nThread 1 nGpus 1 minBytes 8 maxBytes 8 warmup iters: 1 iters: 20\n#\n";
  for (int rank = 0; rank < ranks; ++rank)
    text += fmt::format("#  Rank {:2} Group  0 Pid {} on node{} device  0 [0000:04:00] NVIDIA H100\n", rank, 100 + rank,
                        rank * nodes / ranks);
  return text +
         "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   "
         "busbw  #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n" +
         size + " 2 float sum -1 135.8 0.00 0.00 0 123.5 0.00 0.00 N/A\n# Out of bounds values : 0 OK\n" +
         "# Avg bus bandwidth    : 156.001\n#\n# Collective test concluded: " + program + "\n\n";
}

TEST(Logs, OfSeveralTablesKeepTheirRanksNodesAndOperations) {
  const auto read = rows(table_of("all_reduce_perf", "8", 4, 2) + "job 77: 2 GPUs\n12 more\n" +
                         table_of("all_gather_perf", "16", 2, 1) + table_of("alltoall_perf", "32", 6, 3));
  ASSERT_EQ(read.size(), 3U);
  const std::vector<std::string> operations{"allreduce", "allgather", "alltoall"};
  const std::vector<int> ranks{4, 2, 6};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read[i].operation, operations[i]);
    EXPECT_EQ(read[i].ranks, ranks[i]);
    EXPECT_EQ(read[i].nodes, ranks[i] / 2);
  }
  EXPECT_EQ(read[0].nodes, 2);
}

/// Older versions do not name it: then it is not that of the table above.
TEST(Logs, OfATableThatNamesNoCollectiveAreNotOfTheOneBefore) {
  const std::string nameless = test::nccl_tests_text;
  EXPECT_THAT(refusal(table_of("all_reduce_perf", "8", 4, 2) + nameless), HasSubstr("expected the operation"));
}

TEST(Logs, OfProgramsThatDoNotKnowOfEachOtherAreRefused) {
  const std::string twice = "#  Rank  0 Group  0 Pid   6900 on alpha device  1 [0000:05:00] NVIDIA H100 80GB HBM3";
  EXPECT_THAT(
      refusal(replaced(test::nccl_tests_text,
                       "#  Rank  1 Group  0 Pid   6900 on alpha device  1 [0000:05:00] NVIDIA H100 80GB HBM3", twice)),
      StartsWith("m.log:5: expected every rank once above a table"));
}

TEST(Logs, OfCollectivesThatAreNoneHereAreRefusedWhereTheyBegin) {
  EXPECT_THAT(refusal(table_of("hypercube_perf", "8", 4, 2)),
              StartsWith("m.log:2: expected a program of a collective"));
  EXPECT_THAT(refusal(table_of("sendrecv_perf", "8", 4, 2)), HasSubstr("expected sendrecv_perf between 2 ranks"));
  EXPECT_EQ(rows(table_of("sendrecv_perf", "8", 2, 2))[0].operation, exchange);
}

/// github.com/NVIDIA/nccl-tests, src/util.cu: -T adds a day and a time, -I the spread of iterations, -C another clock.
TEST(Logs, OfNcclTestsAreReadByTheirHeadings) {
  const std::string above =
      "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1 minBytes 8 warmup iters: 1 "
      "iters: 20 agg iters: 1\n#  Rank  0 Group 0 Pid 1 on a device 0\n#  Rank  1 Group 0 Pid 2 on b device 0\n";
  const auto stamped = rows(above +
                            "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong timestamp\n"
                            "1024 256 float sum -1 30.5 1.0 1.0 0 31.5 1.0 1.0 0  2026-11-24 10:23:45\n");
  EXPECT_DOUBLE_EQ(stamped.at(0).time.si(), 30.5e-6);
  EXPECT_FALSE(stamped.at(0).repetitions);
  const auto each =
      rows(above +
           "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw "
           "#wrong i_min i_max i_p99 i_cv%\n"
           "1024 256 float sum -1 30.5 1.0 1.0 0 29.0 40.0 39.0 4.00 31.5 1.0 1.0 0 30.0 41.0 40.0 5.00\n");
  EXPECT_DOUBLE_EQ(each.at(0).time.si(), 30.5e-6);
  EXPECT_EQ(each[0].repetitions->count, 20);
  EXPECT_DOUBLE_EQ(each[0].repetitions->deviation, 0.04);
  EXPECT_THAT(refusal(above + "# size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong\n"
                              "1024 256 float sum -1 30.5 1.0 1.0 0 31.5 1.0 1.0 0\n"),
              HasSubstr("expected a column \"time\""));
}

/// Versions of before 2018 have milliseconds; algbw is what tells: 134217728 B in 4.026 ms are 33.34 GB/s.
TEST(Logs, OfTheFirstNcclTestsHaveMilliseconds) {
  const auto read = rows(
      "#   Rank  0 on  host device  0 [0x0e] Tesla P100\n#   Rank  1 on  host device  1 [0x0f] Tesla P100\n"
      "#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res\n"
      "   134217728      33554432   float     sum    4.026  33.34  58.34    2e-07    4.030  33.30  58.28    1e-07\n",
      {"allreduce", "ring", {}, {}});
  EXPECT_NEAR(read.at(0).bytes.si() / read[0].time.si(), 33.34e9, 0.01e9);
  EXPECT_FALSE(read[0].doubt);
}

/// src/util.cu of nccl-tests: the program is the first of "args", the ranks are processes times devices of each.
TEST(Logs, OfNcclTestsInJsonSayProgramRanksAndNodesWhereItPutsThem) {
  const std::string text =
      R"({"version":2,"start_time":"2026-11-24 10:00:00","args":["./build/all_gather_perf","-J","x"],
    "env":["A=B"],"nccl_version":22800,
    "config":{"nthreads":1,"ngpus":4,"iterations":20,"devices":[
      {"rank":0,"group":0,"pid":1,"hostname":"a","device":0,"device_hex":"0000:04:00","device_info":"H100"},
      {"rank":4,"group":0,"pid":2,"hostname":"b","device":0,"device_hex":"0000:04:00","device_info":"H100"}]},
    "results":[{"size":1048576,"count":32768,"type":"float","redop":"none","root":"-1",
      "out_of_place":{"time":78.77,"alg_bw":13.31,"bus_bw":23.29,"nwrong":null},
      "out_of_place_per_iter":{"min_us":70.0,"max_us":90.0,"avg_us":78.7,"stdev_us":2.0,"cv_pct":2.5,"times_us":[70.0,78.0,90.0]},
      "in_place":{"time":81.3,"alg_bw":12.9,"bus_bw":22.6,"nwrong":0.0},"actual_iterations":20,"experiment_name":"x"},
     {"size":2097152,"out_of_place":{"time":99.0,"alg_bw":13.31,"bus_bw":23.29,"nwrong":3.0}}]})";
  const auto read = rows(text);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].operation, "allgather");
  EXPECT_EQ(read[0].ranks, 8);
  EXPECT_EQ(read[0].nodes, 2);
  EXPECT_EQ(read[0].devices_per_process, 4);
  EXPECT_EQ(read[0].repetitions->count, 3);
  EXPECT_DOUBLE_EQ(read[0].repetitions->deviation, 0.025);
  EXPECT_FALSE(read[0].doubt);
  EXPECT_EQ(read[1].doubt, "wrong results");
}

}}  // namespace farandole::readers_logs_test
