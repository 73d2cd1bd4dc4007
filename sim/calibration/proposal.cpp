#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "calibration/posterior.hpp"
#include "calibration/predictor.hpp"
#include "config/section.hpp"

namespace farandole::inline calibration {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::array node_counts{2, 4, 8};
constexpr std::array other_models{"vgg16", "resnet50"};
constexpr std::array collective_sizes{65536.0, 67108864.0};
constexpr double noise_of_a_table = 0.1;  // of a collective: what calibrated topologies are wrong by at one size
constexpr double worth_it = 0.9;          // of the variance, above which a run is not worth its time

/// A run that could be made, and the log of what it takes on a topology.
struct Candidate {
  std::string what;
  double noise = 0;
  std::function<double(const Document& topology)> log_time;
};

double median_noise(const std::vector<TrainingRow>& rows) {
  std::vector<double> all;
  for (const TrainingRow& row : rows) all.push_back(row.noise);
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
  return all[all.size() / 2];
}

Document run_of(const TrainingRow& row, const std::string& model, int ranks) {
  Document scenario = row.scenario;
  scenario.set("/platform/ranks", fmt::format("{}", ranks));
  const auto own = scenario.find("/workload/model");
  if (own && own->is_string() && read<std::string>(*own) == model) return scenario;
  scenario.set("/workload/model", fmt::format("\"{}\"", model));
  for (const char* part : {"/workload/measured", "/workload/variant", "/workload/assumed_efficiency"})
    scenario.remove(part);
  return scenario;
}

void add_training(const std::vector<TrainingRow>& rows, const Topology& machine, const Catalogue& catalogue,
                  std::vector<Candidate>& candidates) {
  const auto own = rows.front().scenario.find("/workload/model");
  std::vector<std::string> models;
  if (own && own->is_string()) models.push_back(read<std::string>(*own));
  for (const char* model : other_models) {
    if (std::ranges::find(models, model) == models.end()) models.emplace_back(model);
  }
  for (const std::string& model : models) {
    for (const int nodes : node_counts) {
      if (machine.nodes && nodes > *machine.nodes) continue;
      const Document scenario = run_of(rows.front(), model, nodes * machine.devices_per_node);
      candidates.push_back({fmt::format("one run of {} on {} nodes", model, nodes), median_noise(rows),
                            [scenario, &catalogue](const Document& topology) {
                              return std::log(step_on(topology, scenario, catalogue).si());
                            }});
    }
  }
}

void add_tables(const Topology& machine, std::vector<Candidate>& candidates) {
  for (const int nodes : {2, 8}) {
    if (machine.nodes && nodes > *machine.nodes) continue;
    for (const double bytes : collective_sizes) {
      MeasuredTime row;
      row.place = {"a proposal", 1, ""};
      row.operation = "allreduce";
      if (machine.transport.library.empty()) row.algorithm = "ring";
      row.ranks = nodes * machine.devices_per_node;
      row.nodes = nodes;
      row.bytes = Bytes(bytes);
      candidates.push_back({fmt::format("an allreduce of {} on {} nodes (nccl-tests, osu_allreduce)",
                                        bytes < 1e6 ? "64 KiB" : "64 MiB", nodes),
                            noise_of_a_table, [row](const Document& topology) {
                              const Topology tried = read_topology(topology.root(), topology.source());
                              return std::log(predict(tried, {&row, 1}).front().si());
                            }});
    }
  }
}

/// Its derivatives by the logs, over a standard deviation of each; nothing where it cannot be run.
std::optional<VectorXd> gradient_of(const Candidate& candidate, const Document& topology,
                                    std::span<const Unknown> unknowns, const Posterior& posterior) {
  try {
    VectorXd gradient = VectorXd::Zero(posterior.at.size());
    const double here = candidate.log_time(with(topology, unknowns, posterior.at));
    for (Index j = 0; j < gradient.size(); ++j) {
      if (is_of_scenario(unknowns[static_cast<std::size_t>(j)].parameter)) continue;
      const double step = std::sqrt(posterior.covariance(j, j));
      VectorXd logs = posterior.at;
      logs[j] += step;
      gradient[j] = (candidate.log_time(with(topology, unknowns, logs)) - here) / step;
    }
    return gradient.allFinite() ? std::optional(gradient) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The variance of number j after the run, by the update of one linear observation.
double variance_after(const VectorXd& gradient, double noise, const Eigen::MatrixXd& covariance, Index j) {
  const VectorXd towards = covariance * gradient;
  return covariance(j, j) - towards[j] * towards[j] / (noise * noise + gradient.dot(towards));
}

}  // namespace

std::vector<Proposal> propose(const Document& topology, std::span<const Unknown> unknowns, const Posterior& posterior,
                              const std::vector<TrainingRow>& rows, const Catalogue& catalogue) {
  std::vector<Proposal> proposals;
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    if (posterior.marginals[j].identified != Identified::yes) proposals.push_back({j, "", 1});
  }
  if (proposals.empty()) return proposals;
  std::vector<Candidate> candidates;
  const Topology machine = read_topology(topology.root(), topology.source());
  add_training(rows, machine, catalogue, candidates);
  add_tables(machine, candidates);
  for (const Candidate& candidate : candidates) {
    const auto gradient = gradient_of(candidate, topology, unknowns, posterior);
    if (!gradient) continue;
    for (Proposal& proposal : proposals) {
      const auto j = static_cast<Index>(proposal.unknown);
      const double width = unknowns[proposal.unknown].width;
      const double before = posterior.covariance(j, j);
      const double after = variance_after(*gradient, candidate.noise, posterior.covariance, j);
      if (after > worth_it * before || after / (width * width) >= proposal.left) continue;
      proposal = {proposal.unknown, candidate.what, after / (width * width)};
    }
  }
  return proposals;
}

}  // namespace farandole::inline calibration
