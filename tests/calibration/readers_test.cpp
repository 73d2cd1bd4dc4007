// Every form of measured file becomes the same rows; what is none, or says too little, is refused with its line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/read_measurements.hpp"
#include "calibration/samples.hpp"

namespace farandole::readers_test { namespace {

using test::imb_text;
using test::lab_lines;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<MeasuredTime> rows(std::string_view text, const FieldDefaults& defaults = {}) {
  return read_measurements({"m.txt", text}, defaults);
}

std::string refusal(std::string_view text, const FieldDefaults& defaults = {}) {
  try {
    rows(text, defaults);
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Readers, OwnPointsCarryOperationAlgorithmRanksNodesAndServers) {
  const auto read = rows(test::points_json);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].operation, "allreduce");
  EXPECT_EQ(read[0].algorithm, "ring");
  EXPECT_EQ(read[0].ranks, 4);
  EXPECT_EQ(read[0].nodes, 2);
  EXPECT_EQ(read[0].bytes, 1_MiB);
  EXPECT_EQ(read[0].time, Seconds(0.01));
  EXPECT_EQ(read[0].family, "m");
  EXPECT_EQ(read[1].servers, 2);
}

TEST(Readers, TheLaboratorysNamesAreTranslated) {
  const auto read = rows(lab_lines);
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].operation, "parameter_server");
  EXPECT_EQ(read[0].algorithm, "dedicated");
  EXPECT_EQ(read[0].servers, 2);
  EXPECT_EQ(read[0].family, "n4_r100");
  EXPECT_EQ(read[0].fastest, Seconds(0.71332));
  EXPECT_EQ(read[1].algorithm, "doubling_halving");
  EXPECT_EQ(read[2].operation, "broadcast");
  EXPECT_EQ(read[2].algorithm, "chain");
  EXPECT_EQ(read[2].segments, 16);  // 1 MiB in pieces of 64 KiB
}

std::string lab_algorithm(const char* op, const char* algo, int ranks, const char* key = "algo") {
  const auto read = rows(
      fmt::format(R"({{"op": "{}", "{}": "{}", "nranks": {}, "hosts": 4, "bytes": 1048576, "seconds_median": 0.1}})",
                  op, key, algo, ranks));
  return read.at(0).algorithm;
}

TEST(Readers, TheLaboratorysAlgorithmsAreOpenMpisAndOthersAreOurs) {
  // ompi_coll_base_bcast_intra_binomial: the nearest child first; ompi_coll_base_allreduce_intra_redscat_allgather:
  // halves at doubling distance, and pairs that fold by halves where ranks are no power of two.
  EXPECT_EQ(lab_algorithm("bcast", "binomial", 4), "binomial_nearest_first");
  EXPECT_EQ(lab_algorithm("bcast", "binomial", 4, "algorithm"), "binomial");
  EXPECT_EQ(lab_algorithm("allreduce", "rabenseifner", 8), "doubling_halving");
  EXPECT_EQ(lab_algorithm("allreduce", "rabenseifner", 6), "doubling_halving_split");
  EXPECT_EQ(lab_algorithm("allreduce", "recursive_doubling", 6), "recursive_doubling");
}

TEST(Readers, LinesOfPointsKeepTheirNumbers) {
  EXPECT_EQ(rows(lab_lines)[2].place.line, 4);  // the third line is blank
}

TEST(Readers, NcclTestsTextGivesRanksAndHostsFromItsHeader) {
  const auto read = rows(test::nccl_tests_text, {"allreduce", "ring", {}, {}});
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].ranks, 4);
  EXPECT_EQ(read[1].nodes, 2);
  EXPECT_EQ(read[1].bytes, 1_GiB);
  EXPECT_DOUBLE_EQ(read[1].time.si(), 6452.7e-6);  // out of place
}

TEST(Readers, NcclTestsTextSaysHowManyDevicesAProcessDrove) {
  EXPECT_EQ(rows(test::nccl_tests_text, {"allreduce", "ring", {}, {}})[0].devices_per_process, 1);
  std::string one_process = test::nccl_tests_text;
  one_process.replace(one_process.find("nGpus 1"), 7, "nGpus 4");
  EXPECT_EQ(rows(one_process, {"allreduce", "ring", {}, {}})[0].devices_per_process, 4);
}

TEST(Readers, NcclTestsTextWithAnImpossibleNumberOfDevicesIsRefusedAtItsLine) {
  for (const std::string devices : {"21474836471", "1e300", "0", "-1", "1.5", "many"}) {
    std::string text = test::nccl_tests_text;
    text.replace(text.find("nGpus 1"), 7, "nGpus " + devices);
    EXPECT_THAT(refusal(text), HasSubstr(":1: expected a whole number of devices after nGpus")) << devices;
  }
}

TEST(Readers, NcclTestsTextDoesNotSayWhichCollectiveItWas) {
  EXPECT_THAT(refusal(test::nccl_tests_text), HasSubstr("expected the operation"));
  EXPECT_THAT(refusal(test::nccl_tests_text), HasSubstr("--op"));
}

TEST(Readers, NcclTestsJsonSaysItAll) {
  const auto read = rows(test::nccl_tests_json);
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].operation, "allreduce");
  EXPECT_EQ(read[0].ranks, 8);
  EXPECT_DOUBLE_EQ(read[0].time.si(), 78.77e-6);
}

TEST(Readers, OsuCountsOneRanksShareOfAnAllgather) {
  const auto read = rows(test::osu_text, {"", "ring", 4, {}});
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].operation, "allgather");
  EXPECT_EQ(read[1].bytes, 4_MiB);  // 1 MiB from each of 4
}

TEST(Readers, ABarrierHasNoBytesAndCountsAllTheSame) {
  const auto read = rows(R"({"points": [{"op": "barrier", "ranks": 8, "bytes": 0, "seconds": 4e-5}]})");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].algorithm, "dissemination");
  EXPECT_FALSE(read[0].doubt.has_value());
}

TEST(Readers, OsuLatencyIsAPingPongOfTwo) {
  const auto read = rows(test::osu_latency_text);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[1].operation, pingpong);
  EXPECT_EQ(read[1].ranks, 2);
  EXPECT_TRUE(read[0].doubt.has_value()) << "a message of no bytes says nothing about rates";
}

TEST(Readers, ImbTablesAreToldApartAndTheSlowestRankCounts) {
  const auto read = rows(imb_text);
  ASSERT_EQ(read.size(), 3U);  // the empty allreduce took no time that its clock could see
  EXPECT_EQ(read[1].operation, pingpong);
  EXPECT_EQ(read[1].ranks, 2);
  EXPECT_EQ(read[2].operation, "allreduce");
  EXPECT_EQ(read[2].ranks, 8);
  EXPECT_DOUBLE_EQ(read[2].time.si(), 1e-3);
}

TEST(Readers, AFileOfNoKnownFormIsRefusedWithTheFormsThatAre) {
  EXPECT_THAT(refusal("Dear colleague,\nhow are you?\n"), StartsWith("m.txt:1: /: expected measurements"));
  EXPECT_THAT(refusal(""), HasSubstr("nccl_tests"));
}

TEST(Readers, AFileWithoutASingleMeasurementIsRefused) {
  EXPECT_THAT(refusal(R"({"points": []})"), HasSubstr("at least one measurement"));
  EXPECT_THAT(refusal("# OSU MPI Allreduce Latency Test v5.8\n# Size       Avg Latency(us)\n"),
              HasSubstr("at least one measurement"));
}

TEST(Readers, ARowThatBreaksOffIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("# OSU MPI Latency Test v5.8\n1024\n"), StartsWith("m.txt:2: expected a time in microseconds"));
}

TEST(Readers, WrongResultsAreNoMeasurements) {
  EXPECT_THAT(refusal(R"({"points": [
    {"op": "allreduce", "algorithm": "ring", "ranks": 2, "bytes": 8, "seconds": 1, "data_correct": false}]})"),
              StartsWith("m.txt:2: /points/0/data_correct: expected true"));
}

TEST(Readers, TimesAreAboveZeroAndSizesWhole) {
  EXPECT_THAT(refusal(R"({"points": [{"op": "allreduce", "ranks": 2, "bytes": 8, "seconds": 0}]})"),
              HasSubstr("/points/0/seconds: expected seconds above zero"));
  EXPECT_THAT(refusal(R"({"points": [{"op": "allreduce", "ranks": 2, "bytes": 0.5, "seconds": 1}]})"),
              HasSubstr("/points/0/bytes: expected a whole number of bytes"));
  EXPECT_THAT(refusal(R"({"points": [{"op": "allreduce", "ranks": 2, "bytes": 1e40, "seconds": 1}]})"),
              HasSubstr("/points/0/bytes: expected a whole number of bytes up to 16 TiB"));
  EXPECT_THAT(refusal("# OSU MPI Latency Test v5.8\n1e40 2.5\n"), StartsWith("m.txt:2: expected a whole number"));
}

/// 16 TiB are 17592186044416 bytes.
TEST(Readers, SizesAreAtMost16TiBInEveryForm) {
  const auto texts = [](const std::string& size) {
    std::string nccl = test::nccl_tests_json;
    nccl.replace(nccl.find("1048576"), 7, size);
    return std::vector{nccl, "# OSU MPI Latency Test v5.8\n" + size + " 2.5\n",
                       R"({"points": [{"op": "allreduce", "ranks": 2, "bytes": )" + size + R"(, "seconds": 1}]})"};
  };
  for (const std::string& text : texts("17592186044416")) EXPECT_EQ(rows(text).at(0).bytes, Bytes(0x1p44));
  for (const std::string& text : texts("17592186044417"))
    EXPECT_THAT(refusal(text), HasSubstr("expected a whole number"));
}

}}  // namespace farandole::readers_test
