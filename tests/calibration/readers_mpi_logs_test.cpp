// Logs of the MPI benchmarks as users have them: every version's headings, several benchmarks in one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/read_measurements.hpp"

namespace farandole::readers_mpi_logs_test { namespace {

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

TEST(MpiLogs, OfOsuAreReadWithFullOutputAndFromDevices) {
  for (const char* title : {"# OSU MPI Allreduce Latency Test v5.8", "# OSU MPI-CUDA Allreduce Latency Test v5.6.2",
                            "# OSU MPI Allreduce Latency Test v6.2", "# OSU MPI-ROCM Allreduce Latency Test v7.4",
                            "# OSU NCCL Allreduce Latency Test v7.4"}) {
    const auto read =
        rows(std::string(title) +
                 "\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  "
                 "Iterations\n1024                   27.14             25.00             29.00        1000\n",
             {"", "ring", 4, {}});
    ASSERT_EQ(read.size(), 1U) << title;
    EXPECT_EQ(read[0].operation, "allreduce") << title;
    EXPECT_DOUBLE_EQ(read[0].time.si(), 27.14e-6) << title;
    EXPECT_FALSE(read[0].repetitions) << "least and most are between ranks";
  }
  const auto barrier = rows(
      "# OSU MPI Barrier Latency Test v7.2\n# Avg Latency(us)  Min Latency(us)  Max Latency(us)  "
      "Iterations\n             5.61             5.50             5.71        1000\n",
      {"", "", 4, {}});
  EXPECT_DOUBLE_EQ(barrier.at(0).time.si(), 5.61e-6);
  const auto checked = rows(
      "# OSU MPI-CUDA Latency Test v7.2\n# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n"
      "# Size       Avg Latency(us)  Validation\n1  5.0  Pass\n2  5.0  Fail\n");
  ASSERT_EQ(checked.size(), 2U);
  EXPECT_EQ(checked[0].operation, pingpong);
  EXPECT_FALSE(checked[0].doubt);
  EXPECT_EQ(checked[1].doubt, "wrong results");
}

TEST(MpiLogs, OfOsuThatAreNotOfOneOperationAtATimeAreRefusedWithTheirLine) {
  for (const char* title :
       {"# OSU MPI Bi-Directional Bandwidth Test v7.2", "# OSU MPI Bandwidth Test v5.8",
        "# OSU MPI Multi Latency Test v5.8", "# OSU MPI Non-blocking Allreduce Latency Test v5.8"}) {
    EXPECT_THAT(refusal(std::string("\n") + title + "\n# Size      Bandwidth (MB/s)\n1 2.5\n"),
                StartsWith("m.log:2: expected a latency test of an operation"))
        << title;
  }
}

constexpr const char* imb_log = R"(#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part
# List of Benchmarks to run:
# PingPong
#---------------------------------------------------
# Benchmarking PingPing
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
         1024         1000         3.00       341.33
#-----------------------------------------------------------------------------
# Benchmarking Sendrecv
# #processes = 2
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         1024         1000         4.00         4.20         4.10       500.00
# Benchmarking Sendrecv
# #processes = 4
# ( 4 additional processes waiting in MPI_Barrier)
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         1024         1000         4.00         4.20         4.10       500.00
# Benchmarking Exchange
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         1024         1000         9.00         9.20         9.10       500.00
# Benchmarking Allgather
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1024         1000        10.00        12.00        11.00
      4194304 out-of-mem.; needed X=   0.504 GB; use flag "-mem X" or MAX_MEM_USAGE>=X (IMB_mem_info.h)
# Benchmarking Allgather
# #processes = 8
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1024         1000        20.00        24.00        22.00
      8388608 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use "-time X" or SECS_PER_SAMPLE (IMB_settings.h) to increase time limit.
# Benchmarking Barrier
# #processes = 8
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         5.12         5.40         5.16
# All processes entering MPI_Finalize
)";

TEST(MpiLogs, OfImbAreReadByTheirColumnsWithSeveralBenchmarksAndNumbersOfProcesses) {
  const auto read = rows(imb_log);
  ASSERT_EQ(read.size(), 5U);
  EXPECT_EQ(read[0].operation, exchange);  // PingPing: a message each way at the same time
  EXPECT_EQ(read[1].operation, exchange);  // Sendrecv of two
  EXPECT_DOUBLE_EQ(read[1].time.si(), 4.2e-6);
  EXPECT_EQ(read[2].ranks, 4);
  EXPECT_EQ(read[2].bytes, 4_KiB);
  EXPECT_EQ(read[3].ranks, 8);
  EXPECT_DOUBLE_EQ(read[3].time.si(), 24e-6);
  EXPECT_EQ(read[4].operation, "barrier");
  EXPECT_EQ(read[4].bytes, 0_B);
  EXPECT_DOUBLE_EQ(read[4].time.si(), 5.4e-6);
}

}}  // namespace farandole::readers_mpi_logs_test
