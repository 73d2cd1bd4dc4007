// farandole bench under mpirun: four ranks on this machine, as root and as somebody else.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/mpi.hpp"

namespace farandole::test::bench_command_test { namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

void expect_all_correct(const Finished& finished, std::size_t least_points) {
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json points = json::parse(finished.out).at("points");
  EXPECT_GE(points.size(), least_points);
  for (const json& point : points) {
    EXPECT_EQ(point.at("data_correct"), true) << point;
    EXPECT_EQ(point.at("backend"), "mpi");
    EXPECT_EQ(point.at("ranks"), 4);
    EXPECT_EQ(point.at("repetitions").size(), 2U);
    EXPECT_GT(point.at("seconds"), 0);
  }
}

TEST(BenchCommand, RunsEveryAlgorithmAndTheLibrarysOwnUnderMpirun) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  expect_all_correct(
      place.run(mpirun(4) + FARANDOLE_PROGRAM
                " bench --backend mpi -b 1K -e 64K -f 64 -n 2 -w 1 --op all --algorithm all --format json"),
      70);
}

TEST(BenchCommand, RunsForAnOrdinaryUserToo) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = why_not_nobody(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  expect_all_correct(place.run(as_nobody + mpirun(4) +
                               FARANDOLE_PROGRAM " bench -b 1K -e 1K -n 2 -w 1 --algorithm library --format json"),
                     1);
}

/// Half a round trip between ranks 0 and 3, and a message each way.
TEST(BenchCommand, MeasuresMessagesBetweenTwoRanks) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  for (const std::string op : {"pingpong", "exchange"}) {
    const Finished finished = place.run(mpirun(4) + FARANDOLE_PROGRAM " bench --op " + op +
                                        " --peer 3 -b 1K -e 64K -f 64 -n 2 -w 1 --format json");
    ASSERT_EQ(finished.status, 0) << finished.err;
    const json points = json::parse(finished.out).at("points");
    ASSERT_EQ(points.size(), 2U);
    for (const json& point : points) {
      EXPECT_EQ(point.at("op"), op);
      EXPECT_EQ(point.at("ranks"), 2);
      EXPECT_EQ(point.at("nodes"), 1);
      EXPECT_EQ(point.at("data_correct"), true);
    }
  }
}

TEST(BenchCommand, RefusesAPeerThatIsNotThere) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const Finished finished = place.run(mpirun(2) + FARANDOLE_PROGRAM " bench --op pingpong --peer 2");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("--peer: expected a rank below the 2 that were started, got \"2\""));
}

TEST(BenchCommand, RefusesSizesThatDoNotFitIntoMemoryBeforeItMeasures) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const Finished finished = place.run(mpirun(2) + FARANDOLE_PROGRAM " bench -b 8 -n 1000000 -e 9223372036854775807");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("-e: expected a size of which 3 fit into the "));
}

TEST(BenchCommand, PrintsTheTableOfNcclTestsOnce) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const Finished finished =
      place.run(mpirun(4) + FARANDOLE_PROGRAM " bench -b 4K -e 8K -n 2 -w 1 --algorithm ring --settings");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("# farandole "));
  EXPECT_THAT(finished.out, HasSubstr("busbw  #wrong\n"));
  EXPECT_THAT(finished.out, HasSubstr("# Out of bounds values : 0 OK\n"));
  EXPECT_EQ(finished.out.find("# farandole "), finished.out.rfind("# farandole "));
  EXPECT_THAT(finished.out, HasSubstr("mpi.library"));
  EXPECT_THAT(finished.out, HasSubstr("rank.0003"));
}

TEST(BenchCommand, RefusesUnknownNamesOnce) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const Finished finished = place.run(mpirun(4) + FARANDOLE_PROGRAM " bench --algorithm rign");
  EXPECT_EQ(finished.status, 2);
  const std::string message = "--algorithm: expected an algorithm for allreduce, got \"rign\"; did you mean \"ring\"?";
  EXPECT_THAT(finished.err, HasSubstr(message));
  EXPECT_EQ(finished.err.find(message), finished.err.rfind(message));
}

TEST(BenchCommand, RefusesABackendThatIsNotThere) {
  const Workplace place;
  const Finished finished = place.farandole("bench --backend mip");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("--backend: expected a backend, got \"mip\"; did you mean \"mpi\"?"));
}

TEST(BenchCommand, MeasuresWhatRanksDoAlone) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const Finished finished =
      place.run(mpirun(2) + FARANDOLE_PROGRAM " bench --op add -b 4K -e 4K -n 3 -w 1 --format json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json point = json::parse(finished.out).at("points").at(0);
  EXPECT_EQ(point.at("op"), "add");
  EXPECT_EQ(point.at("data_correct"), true);
  EXPECT_NEAR(point.at("algorithm_bandwidth"), 4096 / point.at("seconds").get<double>(), 1);
}

/// Where a device is at hand it runs on one rank; elsewhere it says what is missing.
TEST(BenchCommand, RunsNcclOnADeviceOrSaysWhyNot) {
  const Workplace place;
  const std::string doctor = place.farandole("doctor").out;
  const Finished finished = place.farandole("bench --backend nccl --op add -b 1M -e 1M -n 2 -w 1 --format json");
  if (doctor.find("backend nccl   not ") != std::string::npos) {
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("--backend: expected one that is usable here, got \"nccl\""));
  } else if (doctor.find("no CUDA device is there") != std::string::npos) {
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("no CUDA device is there: "));
  } else {
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(json::parse(finished.out).at("points").at(0).at("data_correct"), true);
  }
}

TEST(Doctor, SaysWhichBackendsWereBuilt) {
  const Workplace place;
  EXPECT_THAT(place.farandole("doctor").out, HasSubstr("\nbackend nccl "));
  EXPECT_THAT(place.farandole("doctor").out, HasSubstr("\nbackend mpi "));
}

}}  // namespace farandole::test::bench_command_test
