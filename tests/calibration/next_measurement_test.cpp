// The one measurement that would tell a number that tables of collectives do not: taken, it does.
#include "calibration/next_measurement.hpp"

#include <cmath>
#include <random>

#include <Eigen/Dense>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/lab.hpp"
#include "config/section.hpp"
#include "support/source_folder.hpp"

namespace farandole::next_measurement_test { namespace {

using test::lab;
using test::row;
using test::rows;
using test::taken;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<MeasuredTime> pingpongs(double least, double most) {
  std::vector<MeasuredTime> all;
  for (double size = least; size <= most; size *= 4) all.push_back(row(pingpong, "", 2, Bytes(size)));
  return all;
}

const FittedParameter& parameter(const Fit& fit, const std::string& pointer) {
  for (const FittedParameter& candidate : fit.parameters) {
    if (candidate.parameter.pointer == pointer) return candidate;
  }
  throw std::logic_error("no parameter " + pointer);
}

NextMeasurement proposal_for(const std::string& pointer, const Fit& found, const std::vector<MeasuredTime>& data) {
  for (const NextMeasurement& next : propose_for(found, data)) {
    if (next.pointer == pointer) return next;
  }
  return {pointer, "(identified)", std::nullopt, 1};
}

double time_on(const Document& topology, const MeasuredTime& what) {
  return predict(read_topology(topology.root(), "lab.json"), {&what, 1}).front().si();
}

Document with_occupancy(Document topology, double send) {
  topology.set("/transport/occupancy", fmt::format(R"({{"send": "{} s"}})", send));
  return topology;
}

/// After an observation with slopes g and noise n: C' = (C^-1 + g g' / n^2)^-1.
TEST(MostTelling, LeavesWhatTheInformationOfItsCandidateLeaves) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 20; ++round) {
    Eigen::MatrixXd root(3, 3);
    Eigen::MatrixXd slopes(4, 3);
    for (double& x : root.reshaped()) x = normal(random);
    for (double& x : slopes.reshaped()) x = normal(random);
    const Eigen::MatrixXd covariance = root * root.transpose();
    Candidates candidates;
    for (int i = 0; i < 4; ++i) candidates.list.push_back({"", 0.1 + 0.1 * i});
    for (Eigen::Index j = 0; j < 3; ++j) {
      double least = covariance(j, j);
      for (Eigen::Index i = 0; i < 4; ++i) {
        const double noise = candidates.list[static_cast<std::size_t>(i)].noise;
        const Eigen::MatrixXd information =
            covariance.inverse() + slopes.row(i).transpose() * slopes.row(i) / (noise * noise);
        least = std::min(least, information.inverse()(j, j));
      }
      const auto found = most_telling(candidates, slopes, covariance, j);
      EXPECT_EQ(found.has_value(), least <= 0.9 * covariance(j, j));
      if (found) {
        EXPECT_NEAR(found->variance, least, 1e-9 * covariance(j, j));
      }
    }
  }
}

/// Ping-pongs know latency and rate; a launch is what a collective has and they have not.
TEST(NextMeasurement, OfALaunchIsACollectiveAndTellsItOnceTaken) {
  const Document truth = lab("50 MB/s", "40 us", "90 us");
  std::vector<MeasuredTime> data = taken(truth, pingpongs(64, 4194304));
  const Document file = lab("50 MB/s", "40 us", "60 us");
  const Fit before = fit(file, data);
  ASSERT_TRUE(parameter(before, "/transport/launch").unidentified);
  const NextMeasurement next = proposal_for("/transport/launch", before, data);
  ASSERT_TRUE(next.row) << next.what;
  EXPECT_THAT(next.what, AnyOf(StartsWith("osu_barrier"), StartsWith("osu_all"), StartsWith("farandole bench --op a")));
  EXPECT_LT(next.left, 0.1);
  data.push_back(taken(truth, {*next.row}).front());
  const Fit after = fit(file, data);
  EXPECT_FALSE(parameter(after, "/transport/launch").unidentified);
  EXPECT_NEAR(parameter(after, "/transport/launch").value, 90e-6, 1e-6);
}

/// What a message costs the processor shows where a rank has many: no ping-pong and no ring.
TEST(NextMeasurement, OfTheProcessorsTimeHasManyMessagesARankAndTellsItOnceTaken) {
  const Document truth = with_occupancy(lab("50 MB/s", "40 us", "100 us"), 14e-6);
  std::vector<MeasuredTime> data = taken(truth, rows());
  const Fit before = fit(lab(), data);
  ASSERT_TRUE(parameter(before, "/transport/occupancy/send").unidentified);
  const NextMeasurement next = proposal_for("/transport/occupancy/send", before, data);
  ASSERT_TRUE(next.row) << next.what;
  EXPECT_TRUE(next.row->operation == "alltoall" || next.row->algorithm == "direct") << next.what;
  data.push_back(taken(truth, {*next.row}).front());
  EXPECT_NEAR(parameter(fit(lab(), data), "/transport/occupancy/send").value, 14e-6, 1e-7);
}

/// Long messages alone know next to nothing but the rate: measurement by measurement the others become known too.
TEST(NextMeasurement, TakenOneAfterTheOtherLeavesNothingOpenThatCouldBeMeasured) {
  const Document truth = lab("50 MB/s", "60 us", "150 us");
  const Document file = lab("", "40 us", "90 us");
  std::vector<MeasuredTime> data = taken(truth, pingpongs(4194304, 16777216));
  std::vector<std::string> told;
  for (int round = 0; round < 6; ++round) {
    const Fit found = fit(file, data);
    const auto proposals = propose_for(found, data);
    const auto next = std::ranges::find_if(proposals, [](const NextMeasurement& one) { return one.row.has_value(); });
    if (next == proposals.end()) break;
    told.push_back(next->what);
    data.push_back(taken(truth, {*next->row}).front());
  }
  const Fit found = fit(file, data);
  const std::string all = fmt::format("{}", fmt::join(told, "; "));
  for (const char* pointer : {"/node/nic/host_rate", "/transport/inter_node_latency", "/transport/launch"})
    EXPECT_FALSE(parameter(found, pointer).unidentified) << pointer << " after " << all;
  EXPECT_NEAR(parameter(found, "/transport/inter_node_latency").value, 60e-6, 1e-6) << all;
  EXPECT_NEAR(parameter(found, "/transport/launch").value, 150e-6, 2e-6) << all;
}

/// The other numbers are known: then a measurement tells of this one only if its time depends on it.
TEST(NextMeasurement, IsNeverOneThatCannotSeeTheNumber) {
  const Document truth = with_occupancy(lab("50 MB/s", "40 us", "100 us"), 14e-6);
  const std::vector<MeasuredTime> data = taken(truth, rows());
  const Fit found = fit(lab(), data);
  int proposed = 0;
  for (const NextMeasurement& next : propose_for(found, data)) {
    if (!next.row) continue;
    ++proposed;
    const Parameter number = parameter(found, next.pointer).parameter;
    const double moved = number.kind == ParameterKind::time ? 20e-6 : 20e-9;
    EXPECT_NE(time_on(with(found.topology, number, value_in(found.topology, number) + moved), *next.row),
              time_on(found.topology, *next.row))
        << next.pointer << ": " << next.what;
  }
  EXPECT_GT(proposed, 0);
}

/// One node has no latency between nodes.
TEST(NextMeasurement, IsNoneWhereTheMachineCannotShowTheNumber) {
  Document file = Document::read(test::source_folder() / "topologies/dgx-a100.json");
  file.set("/nodes", "1");
  std::vector<MeasuredTime> data;
  for (double size = 8; size <= 1048576; size *= 2) {
    data.push_back(row("allreduce", "nccl-2.10", 8, Bytes(size)));
    data.back().time = Seconds(20e-6 + size / 100e9);
  }
  const Fit found = fit(file, data);
  ASSERT_TRUE(parameter(found, "/transport/inter_node_latency").unidentified);
  const NextMeasurement next = proposal_for("/transport/inter_node_latency", found, data);
  EXPECT_EQ(next.what, "");
  EXPECT_EQ(next.left, 1);
}

TEST(NextMeasurement, IsOfWhatIsNotIdentifiedAlone) {
  const std::vector<MeasuredTime> data = taken(lab("50 MB/s", "40 us", "100 us"), rows());
  const Fit found = fit(lab(), data);
  const auto proposals = propose_for(found, data);
  std::size_t open = 0;
  for (const FittedParameter& fitted : found.parameters) open += fitted.unidentified ? 1 : 0;
  ASSERT_EQ(proposals.size(), open);
  for (const NextMeasurement& next : proposals) EXPECT_TRUE(parameter(found, next.pointer).unidentified);
}

Document congested(const std::string& left) {
  Document file = lab("50 MB/s", "40 us", "100 us");
  file.set("/condition",
           R"({"congestion": {"*/nic0/down": [{"flows": 3, "left": "100 %"}, {"flows": 7, "left": "100 %"}]}})");
  return with(file, {"", "/condition/congestion/*~1nic0~1down", ParameterKind::congestion}, 100 / std::stod(left) - 1);
}

/// One flow alone has all of a link's rate: only an incast shows what many leave of it.
TEST(NextMeasurement, OfCongestionIsAnIncastAndTellsItOnceTaken) {
  const std::string pointer = "/condition/congestion/*~1nic0~1down";
  std::vector<MeasuredTime> data = taken(congested("60"), rows());
  const Fit before = fit(congested("80"), data);
  ASSERT_TRUE(parameter(before, pointer).unidentified);
  const NextMeasurement next = proposal_for(pointer, before, data);
  ASSERT_TRUE(next.row) << next.what;
  EXPECT_THAT(next.what, HasSubstr("--algorithm direct"));
  data.push_back(taken(congested("60"), {*next.row}).front());
  const Fit after = fit(congested("80"), data);
  EXPECT_FALSE(parameter(after, pointer).unidentified);
  EXPECT_NEAR(1 / (1 + parameter(after, pointer).value), 0.60, 0.005);
  const auto points = after.topology.find(pointer)->elements();
  // 7 flows take 1 / 0.6 - 1 = 2/3 longer, 3 flows, a third as far from one, 2/9.
  EXPECT_NEAR(std::stod(Section(points[1]).required<std::string>("left")), 60, 0.5);
  EXPECT_NEAR(std::stod(Section(points[0]).required<std::string>("left")), 100 / (1 + 2 / 9.0), 0.5);
}

/// On a machine with NCCL: a table of short messages knows no rate, one long message of the same collective does.
TEST(NextMeasurement, OfALibrarysPieceIsAnotherSizeOfTheSameCollective) {
  const Document file = Document::read(test::source_folder() / "topologies/dgx-a100.json");
  const auto measured = [](double size) {
    MeasuredTime result = row("allreduce", "nccl-2.10", 16, Bytes(size));
    result.nodes = 2;
    result.time = Seconds(30e-6 + size / 20e9);
    return result;
  };
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(1.0, 0.005);
  std::vector<MeasuredTime> data;
  for (double size = 8; size <= 256; size *= 2) {
    data.push_back(measured(size));
    data.back().time *= noise(random);
  }
  const Fit before = fit(file, data);
  ASSERT_EQ(before.libraries.at(0).pieces.size(), 1U);
  ASSERT_NE(before.libraries[0].pieces[0].time_per_byte.unidentified, "");
  const NextMeasurement next = proposal_for(before.libraries[0].pointer + "/pieces/0/rate", before, data);
  ASSERT_TRUE(next.row);
  EXPECT_THAT(next.what, StartsWith("all_reduce_perf -b "));
  EXPECT_THAT(next.what, HasSubstr(", 16 ranks on 2 nodes"));
  EXPECT_LT(next.left, 0.1);
  data.push_back(measured(next.row->bytes.si()));
  const Fit after = fit(file, data);
  EXPECT_EQ(after.libraries[0].pieces.back().time_per_byte.unidentified, "");
  EXPECT_NEAR(after.libraries[0].pieces.back().time_per_byte.value, 1 / 20e9, 0.05 / 20e9);
}

/// Tables of a library's collectives are fitted apart: the numbers of messages are told to be open, not passed over.
TEST(NextMeasurement, IsOfMessagesWhereOnlyALibraryWasMeasured) {
  const Document file = Document::read(test::source_folder() / "topologies/dgx-a100.json");
  std::vector<MeasuredTime> data;
  for (double size = 8; size <= 1048576; size *= 2) {
    data.push_back(row("allreduce", "nccl-2.10", 16, Bytes(size)));
    data.back().nodes = 2;
    data.back().time = Seconds(30e-6 + size / 20e9);
  }
  const Fit found = fit(file, data);
  const NextMeasurement next = proposal_for("/transport/inter_node_latency", found, data);
  ASSERT_TRUE(next.row) << next.what;
  EXPECT_THAT(next.what, StartsWith("farandole bench --op "));
}

}}  // namespace farandole::next_measurement_test
