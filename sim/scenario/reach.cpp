#include "scenario/reach.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "scenario/parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// That of the measured run with the nearest batch, in proportion to the samples.
Seconds linear_step(const std::vector<AnchorRun>& runs, int batch, int accumulation) {
  const auto ratio = [&](const AnchorRun& run) { return std::abs(std::log(static_cast<double>(run.batch) / batch)); };
  const AnchorRun& nearest = *std::ranges::min_element(runs, {}, ratio);
  return nearest.iteration * (static_cast<double>(batch) * accumulation / nearest.batch / nearest.accumulation);
}

/// The one that carries the gradients, on top of the transport.
std::string library_text(const Scenario& scenario) {
  if (scenario.strategy.servers) return "";
  const auto library = scenario.libraries.find(carrier_of(scenario.strategy));
  return library == scenario.libraries.end() ? "" : ", " + library->second.library->name;
}

/// Whether the scenario changes more of its topology's file than the device and what was measured of it.
bool has_another_network(const Document& document) {
  if (document.find("/platform/scale") || document.find("/platform/condition")) return true;
  const auto overrides = document.find("/platform/override");
  if (!overrides) return false;
  const auto members = overrides->members();
  return !std::ranges::all_of(members, [](const auto& member) {
    return member.first.starts_with("/node/device") || member.first.starts_with("/node/measurements");
  });
}

}  // namespace

Reach reach_of(const Scenario& scenario, const Document& document, const ComputeTimes& times) {
  const WorkloadSpec& workload = scenario.workload;
  Reach reach;
  const int passes = scenario.strategy.accumulation;
  if (workload.anchors.empty()) {
    reach.known = times.total() * passes;
  } else {
    reach.known = linear_step(workload.anchors, workload.batch_per_rank, passes) * workload.compute_stretch;
    reach.known_ranks = std::ranges::max_element(workload.anchors, {}, &AnchorRun::ranks)->ranks;
  }
  reach.platform = scenario.platform.platform.name;
  if (has_another_network(document)) reach.platform += ", changed";
  reach.transport = scenario.platform.platform.transport.name + library_text(scenario);
  reach.program = scenario.strategy.kind;
  reach.model = workload.model.name;
  return reach;
}

}}  // namespace farandole::scenario
