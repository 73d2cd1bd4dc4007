#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <Eigen/Core>
#include <fmt/format.h>

#include "calibration/linear_algebra.hpp"
#include "calibration/next_measurement.hpp"
#include "calibration/posterior.hpp"
#include "calibration/predictor.hpp"
#include "config/section.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::array run_node_counts{2, 4, 8};
constexpr std::array other_models{"vgg16", "resnet50"};
constexpr std::array collective_sizes{65536.0, 67108864.0};
constexpr double noise_of_a_table = 0.1;  // of a collective: what calibrated topologies are wrong by at one size

/// Runs that could be made: what they are called, and the log of what each takes on a topology.
struct Runs {
  std::vector<Candidate> list;
  std::vector<std::function<double(const Document& topology)>> log_times;

  void add(std::string what, double noise, std::function<double(const Document& topology)> log_time) {
    list.push_back({std::move(what), noise});
    log_times.push_back(std::move(log_time));
  }
};

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
                  Runs& runs) {
  std::vector<double> noises = mapped(rows, &TrainingRow::noise);
  const auto median_noise = noises.begin() + static_cast<std::ptrdiff_t>(noises.size() / 2);
  std::ranges::nth_element(noises, median_noise);
  const auto own = rows.front().scenario.find("/workload/model");
  std::vector<std::string> models;
  if (own && own->is_string()) models.push_back(read<std::string>(*own));
  for (const char* model : other_models) {
    if (std::ranges::find(models, model) == models.end()) models.emplace_back(model);
  }
  for (const std::string& model : models) {
    for (const int nodes : run_node_counts) {
      if (machine.nodes && nodes > *machine.nodes) continue;
      const Document scenario = run_of(rows.front(), model, nodes * machine.devices_per_node);
      runs.add(fmt::format("one run of {} on {} nodes", model, nodes), *median_noise,
               [scenario, &catalogue](const Document& topology) {
                 return std::log(step_on(topology, scenario, catalogue).si());
               });
    }
  }
}

void add_tables(const Topology& machine, Runs& runs) {
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
      runs.add(fmt::format("an allreduce of {} on {} nodes (nccl-tests, osu_allreduce)",
                           bytes < 1e6 ? "64 KiB" : "64 MiB", nodes),
               noise_of_a_table, [row](const Document& topology) {
                 const Topology tried = read_topology(topology.root(), topology.source());
                 return std::log(predict(tried, {&row, 1}).front().si());
               });
    }
  }
}

/// Numbers are logs here; a step is a standard deviation.
Knowledge knowledge_of(const Document& topology, std::span<const Unknown> unknowns, const Posterior& posterior) {
  VectorXd steps = posterior.covariance.diagonal().cwiseSqrt();
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    if (is_of_scenario(unknowns[j].parameter)) steps[static_cast<Index>(j)] = 0;
  }
  return {[&topology, unknowns](const VectorXd& logs) { return with(topology, unknowns, logs); }, posterior.at, steps,
          posterior.covariance};
}

}  // namespace

std::vector<Proposal> propose(const Document& topology, std::span<const Unknown> unknowns, const Posterior& posterior,
                              const std::vector<TrainingRow>& rows, const Catalogue& catalogue) {
  std::vector<Proposal> proposals;
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    if (posterior.marginals[j].identified != Identified::yes) proposals.push_back({j, "", 1});
  }
  if (proposals.empty()) return proposals;
  Runs runs;
  const Topology machine = read_topology(topology.root(), topology.source());
  add_training(rows, machine, catalogue, runs);
  add_tables(machine, runs);
  const Candidates candidates{runs.list, [&](const Document& tried) {
                                return vector_of_possible(runs.log_times,
                                                          [&](const auto& log_time) { return log_time(tried); });
                              }};
  const Eigen::MatrixXd slopes = slopes_of(candidates, knowledge_of(topology, unknowns, posterior));
  for (Proposal& proposal : proposals) {
    const auto found = most_telling(candidates, slopes, posterior.covariance, static_cast<Index>(proposal.unknown));
    const double width = unknowns[proposal.unknown].width;
    if (!found || found->variance >= width * width) continue;
    proposal.run = candidates.list[found->candidate].what;
    proposal.left = found->variance / (width * width);
  }
  return proposals;
}

}}  // namespace farandole::calibration
