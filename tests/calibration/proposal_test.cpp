// Which measurement is proposed for a number that runs do not tell.
#include <cmath>
#include <limits>

#include <Eigen/Dense>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/posterior.hpp"
#include "calibration/predictor.hpp"
#include "platform/topology.hpp"
#include "support/source_folder.hpp"

namespace farandole::test::proposal_test { namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const char* const run = R"({"name": "small", "workload": {"model": "resnet18", "batch_per_rank": 8},
  "platform": {"topology": "ethernet-25g", "ranks": 2}, "strategy": {"kind": "ddp"},
  "measure": {"iterations": 1, "warmup": 1, "fidelity": "analytic"}})";

Document machine() {
  return Document::read(test::source_folder() / "topologies/ethernet-25g.json");
}

std::vector<Unknown> latency_and_rate() {
  return {{{"latency", "/transport/inter_node_latency", ParameterKind::time}, std::log(20e-6), 0.5, "this test"},
          {{"rate", "/node/nic/host_rate", ParameterKind::time_per_byte}, std::log(1 / 2e9), 0.8, "this test"}};
}

/// Nothing is identified: the covariance is this one.
Posterior open_posterior(const std::vector<Unknown>& unknowns, const MatrixXd& covariance) {
  Posterior posterior;
  posterior.at = VectorXd(2);
  posterior.at << unknowns[0].centre, unknowns[1].centre;
  posterior.covariance = covariance;
  posterior.marginals.resize(2);
  return posterior;
}

/// One whose noise drowns what training would tell, so that collectives are left.
std::vector<TrainingRow> rows_with_noise(const std::vector<double>& noises) {
  std::vector<TrainingRow> rows;
  for (const double noise : noises)
    rows.push_back({"test", "2 ranks", Document::parse(run, "small.json"), {}, Seconds(1), noise, ""});
  return rows;
}

MeasuredTime allreduce(const Topology& topology, int nodes, double bytes) {
  MeasuredTime row;
  row.operation = "allreduce";
  row.algorithm = topology.transport.library.empty() ? "ring" : "";
  row.nodes = nodes;
  row.ranks = nodes * topology.devices_per_node;
  row.bytes = Bytes(bytes);
  return row;
}

VectorXd slopes(const Document& file, const std::vector<Unknown>& unknowns, const Posterior& posterior, int nodes,
                double bytes) {
  const auto log_time = [&](const VectorXd& logs) {
    const Document tried = with(file, unknowns, logs);
    const Topology topology = read_topology(tried.root(), tried.source());
    const MeasuredTime row = allreduce(topology, nodes, bytes);
    return std::log(predict(topology, {&row, 1}).front().si());
  };
  VectorXd slope(2);
  for (Index j = 0; j < 2; ++j) {
    const double step = std::sqrt(posterior.covariance(j, j));
    slope[j] = (log_time(posterior.at + step * VectorXd::Unit(2, j)) - log_time(posterior.at)) / step;
  }
  return slope;
}

/// Information adds up: C' = (C^-1 + g g^T / n^2)^-1 after a run whose log has the slopes g and the noise n = 0.1. The
/// least of it that any of the list leaves is that of the one which is proposed.
TEST(Proposals, LeaveWhatTheInformationOfTheirRunLeaves) {
  const Document file = machine();
  const auto unknowns = latency_and_rate();
  MatrixXd covariance(2, 2);
  covariance << 0.25, -0.15, -0.15, 0.6;
  const Posterior posterior = open_posterior(unknowns, covariance);
  VectorXd least = VectorXd::Constant(2, std::numeric_limits<double>::infinity());
  for (const int nodes : {2, 8}) {
    for (const double bytes : {65536.0, 67108864.0}) {
      const VectorXd slope = slopes(file, unknowns, posterior, nodes, bytes);
      const MatrixXd after = (covariance.inverse() + slope * slope.transpose() / 0.01).inverse();
      for (Index j = 0; j < 2; ++j) {
        least[j] = std::min(least[j], after(j, j) / (unknowns[static_cast<std::size_t>(j)].width *
                                                     unknowns[static_cast<std::size_t>(j)].width));
      }
    }
  }
  const auto proposals = propose(file, unknowns, posterior, rows_with_noise({1e6}), Catalogue());
  ASSERT_EQ(proposals.size(), 2);
  for (Index j = 0; j < 2; ++j) {
    EXPECT_THAT(proposals[static_cast<std::size_t>(j)].run, HasSubstr("an allreduce of "));
    EXPECT_NEAR(proposals[static_cast<std::size_t>(j)].left, least[j], 1e-9);
  }
}

std::vector<Proposal> proposals_on(const std::string& nodes, const std::vector<double>& noises) {
  Document file = machine();
  file.set("/nodes", nodes);
  const auto unknowns = latency_and_rate();
  const MatrixXd covariance = Eigen::Vector2d(0.25, 0.64).asDiagonal();
  return propose(file, unknowns, open_posterior(unknowns, covariance), rows_with_noise(noises), Catalogue());
}

TEST(Proposals, AreRunsThatTheMachineHasTheNodesFor) {
  const auto exact = proposals_on("2", {0.001});
  EXPECT_THAT(exact[0].run, StartsWith("an allreduce of 64 KiB on 2 nodes"));  // latency shows in what is small
  EXPECT_THAT(exact[1].run, AllOf(StartsWith("one run of "), EndsWith(" on 2 nodes")));
  for (const Proposal& proposal : proposals_on("2", {1e6})) EXPECT_THAT(proposal.run, HasSubstr(" on 2 nodes (nccl-t"));
  for (const Proposal& proposal : proposals_on("1", {0.001})) {
    EXPECT_EQ(proposal.run, "");
    EXPECT_EQ(proposal.left, 1);
  }
}

TEST(Proposals, TakeRunsToBeAsExactAsHalfOfTheRowsAre) {
  EXPECT_THAT(proposals_on("2", {0.001, 0.001, 1e6, 0.001, 1e6})[1].run, StartsWith("one run of "));
  EXPECT_THAT(proposals_on("2", {1e6, 0.001, 1e6, 0.001, 1e6})[1].run, StartsWith("an allreduce of "));
}

TEST(Proposals, AreNoneForWhatIsIdentified) {
  const Document file = machine();
  const auto unknowns = latency_and_rate();
  Posterior posterior = open_posterior(unknowns, Eigen::Vector2d(0.25, 0.64).asDiagonal());
  posterior.marginals[0].identified = Identified::yes;
  posterior.marginals[1].identified = Identified::partly;
  const auto proposals = propose(file, unknowns, posterior, rows_with_noise({0.01}), Catalogue());
  ASSERT_EQ(proposals.size(), 1);
  EXPECT_EQ(proposals[0].unknown, 1);
  posterior.marginals[1].identified = Identified::yes;
  EXPECT_TRUE(propose(file, unknowns, posterior, rows_with_noise({0.01}), Catalogue()).empty());
}

}}  // namespace farandole::test::proposal_test
