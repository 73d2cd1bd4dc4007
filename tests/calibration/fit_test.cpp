// The fit finds what the simulator was told, says what it cannot know, and never exceeds the wire.
#include "calibration/fit.hpp"

#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/lab.hpp"

namespace farandole::fit_test { namespace {

using test::lab;
using test::rows;
using test::taken;

const FittedParameter& parameter(const Fit& fit, const std::string& pointer) {
  for (const FittedParameter& candidate : fit.parameters) {
    if (candidate.parameter.pointer == pointer) return candidate;
  }
  throw std::logic_error("no parameter " + pointer);
}

TEST(Fit, FindsEveryParameterOfPerfectData) {
  const Document truth = lab("50 MB/s", "40 us", "100 us");
  const Fit found = fit(lab(), taken(truth, rows()));
  EXPECT_NEAR(parameter(found, "/node/nic/host_rate").value, 1 / 50e6, 1e-6 / 50e6);
  EXPECT_NEAR(parameter(found, "/transport/inter_node_latency").value, 40e-6, 1e-10);
  EXPECT_NEAR(parameter(found, "/transport/launch").value, 100e-6, 1e-9);
  for (const double error : found.errors) EXPECT_NEAR(error, 0, 1e-6);
}

TEST(Fit, CoversTheTruthOfNoisyDataWithItsStandardErrors) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(1.0, 0.02);
  const Fit found = fit(lab(), taken(lab("50 MB/s", "400 us"), rows(), [&](std::size_t) { return noise(random); }));
  const FittedParameter& latency = parameter(found, "/transport/inter_node_latency");
  EXPECT_NEAR(latency.value, 400e-6, 4 * latency.standard_error);
  EXPECT_LT(latency.standard_error, 40e-6);
}

TEST(Fit, AnOutlierPullsLittle) {
  const auto data = taken(lab("50 MB/s", "40 us"), rows(), [](std::size_t i) { return i == 3 ? 5.0 : 1.0; });
  EXPECT_NEAR(parameter(fit(lab(), data), "/transport/inter_node_latency").value, 40e-6, 1e-6);
}

TEST(Fit, NeverExceedsTheWireWhateverWasMeasured) {
  const auto faster = taken(lab(), rows(), [](std::size_t) { return 0.5; });
  const Fit found = fit(lab(), faster);
  EXPECT_EQ(parameter(found, "/node/nic/host_rate").value, 0);  // nothing on top of the wire, and the wire as it was
  for (const double error : found.errors) EXPECT_GT(error, 0.5);
}

TEST(Fit, SaysWhatTheDataCannotIdentify) {
  std::vector<MeasuredTime> large;
  for (const double size : {4194304.0, 16777216.0}) large.push_back(test::row(pingpong, "", 2, Bytes(size)));
  const Fit found = fit(lab("", "30 us", "50 us"), taken(lab("50 MB/s", "30 us", "50 us"), large));
  EXPECT_THAT(parameter(found, "/transport/launch").unidentified.value_or(""),
              testing::HasSubstr("not identifiable from these data"));  // a ping-pong launches no collective
  EXPECT_DOUBLE_EQ(parameter(found, "/transport/launch").value, 50e-6)
      << "what is not identified keeps the file's value";
}

/// A ping-pong and a ring do not show it; barriers do where it is more than half the latency, linear alltoalls do else.
TEST(Fit, FindsWhatAMessageCostsTheProcessorFromBarriersAndSmallAlltoalls) {
  for (const auto& [send, from_alltoalls] : {std::pair(30e-6, false), {30e-6, true}, {9e-6, true}}) {
    Document truth = lab("50 MB/s", "40 us", "100 us");
    truth.set("/transport/occupancy", fmt::format(R"({{"send": "{} s"}})", send));
    std::vector<MeasuredTime> all = rows();
    for (const int ranks : {2, 4, 8, 16}) {
      all.push_back(from_alltoalls ? test::row("alltoall", "direct", ranks, 16_B * ranks)
                                   : test::row("barrier", "dissemination", ranks, 0_B));
    }
    const Fit found = fit(lab(), taken(truth, all));
    EXPECT_NEAR(parameter(found, "/transport/occupancy/send").value, send, 1e-9);
    EXPECT_NEAR(parameter(found, "/transport/inter_node_latency").value, 40e-6, 1e-9);
    EXPECT_NEAR(parameter(found, "/transport/launch").value, 100e-6, 1e-8);
  }
}

TEST(Fit, KeepsWhatTheFileSaysOfProcessorsWhereNothingShowsIt) {
  Document file = lab();
  file.set("/transport/occupancy", R"({"send": "1 us"})");
  const Fit found = fit(file, taken(lab("50 MB/s", "40 us"), rows()));
  EXPECT_TRUE(parameter(found, "/transport/occupancy/send").unidentified.has_value());
  EXPECT_DOUBLE_EQ(parameter(found, "/transport/occupancy/send").value, 1e-6);
}

/// A machine whose transport is NCCL's, as Slingshot's are: what an MPI is measured at there is MPI's own.
Document machine_of_nccl() {
  Document machine = lab("", "20 us");
  machine.set("/transport/library", "\"nccl-2.10\"");
  machine.set("/transport/mpi", R"({"name": "MPI", "library": "mpich", "inter_node_latency": "3 us"})");
  return machine;
}

std::vector<MeasuredTime> rows_of(const std::string& library) {
  std::vector<MeasuredTime> all;
  for (const int ranks : {2, 4, 8}) {
    for (double size = 8; size <= 1048576; size *= 8)
      all.push_back(test::row("allreduce", library, ranks, Bytes(size)));
  }
  return all;
}

TEST(Fit, OfAnMpisRowsFindsMpisNumbersAndLeavesTheTransports) {
  Document truth = machine_of_nccl();
  truth.set("/transport/mpi/inter_node_latency", "\"7 us\"");
  truth.set("/transport/mpi/launch", "\"5 us\"");
  const Fit found = fit(machine_of_nccl(), taken(truth, rows_of("mpich")));
  EXPECT_NEAR(parameter(found, "/transport/mpi/inter_node_latency").value, 7e-6, 1e-9);
  EXPECT_NEAR(parameter(found, "/transport/mpi/launch").value, 5e-6, 1e-8);
  EXPECT_DOUBLE_EQ(parameter(found, "/transport/inter_node_latency").value, 20e-6);
  for (const double error : found.errors) EXPECT_NEAR(error, 0, 1e-6);
}

TEST(Fit, WithoutRowsOfAnMpiAsksNothingOfIt) {
  for (const auto& found : fit(machine_of_nccl(), taken(machine_of_nccl(), rows())).parameters) {
    EXPECT_FALSE(found.parameter.pointer.starts_with("/transport/mpi")) << found.parameter.pointer;
  }
}

TEST(Fit, RowsWithADoubtAreNotFittedTo) {
  auto data = taken(lab("50 MB/s", "40 us"), rows());
  for (std::size_t i = 0; i < data.size(); i += 2) {
    data[i].time = data[i].time * 3;
    data[i].doubt = "the machine was busy";
  }
  EXPECT_NEAR(parameter(fit(lab(), data), "/transport/inter_node_latency").value, 40e-6, 1e-9);
}

TEST(Fit, WithNothingToFitToIsRefused) {
  auto data = taken(lab(), rows());
  for (MeasuredTime& row : data) row.doubt = "no bytes";
  EXPECT_THROW(fit(lab(), data), InputError);
}

TEST(LeastSquares, HoldsAtZeroWhatWouldBeNegative) {
  Eigen::MatrixXd a(3, 2);
  a << 1, 0, 0, 1, 1, 1;
  const Eigen::Vector3d b(2, -1, 1);
  // Unbounded: x = (2, -1). Bounded: x2 = 0 and x1 = argmin (x - 2)^2 + (x - 1)^2 = 3/2.
  const Eigen::VectorXd x = non_negative_least_squares(a, b, Eigen::Vector3d::Ones());
  EXPECT_NEAR(x[0], 1.5, 1e-12);
  EXPECT_EQ(x[1], 0);
}

}}  // namespace farandole::fit_test
