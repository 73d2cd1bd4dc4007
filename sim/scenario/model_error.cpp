#include "scenario/model_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "config/section.hpp"
#include "scenario/parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

double read_coefficient(Section& section, const char* name) {
  const Value where = section.child(name);
  const auto coefficient = read<double>(where);
  if (!(coefficient >= 0)) where.fail("a number from 0 on");
  return coefficient;
}

ErrorSpread read_error_spread(const Value& where) {
  Section section(where);
  ErrorSpread spread;
  spread.floor = read_coefficient(section, "floor");
  spread.beyond = read_coefficient(section, "beyond");
  spread.doubling = read_coefficient(section, "doubling");
  spread.servers = read_coefficient(section, "servers");
  spread.other_platform = read_coefficient(section, "other_platform");
  spread.low = section.required<double>("low");
  spread.high = section.required<double>("high");
  for (const Value& name : section.child("platforms").elements()) spread.platforms.insert(read<std::string>(name));
  section.finish();
  if (!(spread.low <= 0 && spread.high >= 0)) where.fail("a \"low\" up to 0 and a \"high\" from 0 on");
  return spread;
}

}  // namespace

const Document* errors_file(const Catalogue& catalogue) {
  return catalogue.find_read(catalogue.root() / "topologies/errors/training.json");
}

std::string error_family(const std::string& source, const Reach& reach) {
  return fmt::format("{} on {} by {}", source, reach.platform, reach.program);
}

std::optional<ModelErrors> model_errors(const Catalogue& catalogue, const std::string& without_family) {
  const Document* file = errors_file(catalogue);
  if (file == nullptr) return std::nullopt;
  const auto of_others = file->find("/without/" + without_family);
  Section section(!without_family.empty() && of_others ? *of_others : Section(file->root()).child("all"));
  Section root(file->root());
  return ModelErrors{root.required<double>("probability"), read_error_spread(section.child("several_nodes")),
                     read_error_spread(section.child("one_node"))};
}

TimeBand model_error(const ModelErrors& errors, const Scenario& scenario, const Reach& reach, Seconds predicted) {
  const int ranks = scenario.platform.ranks;
  if (ranks == 1) return {};
  const ErrorSpread& spread = scenario.platform.placement.nodes_used > 1 ? errors.several_nodes : errors.one_node;
  const double beyond = std::abs(std::log(predicted / reach.known));
  const double doublings = std::max(0.0, std::log2(static_cast<double>(ranks) / reach.known_ranks));
  const double scale = spread.floor + spread.beyond * beyond + spread.doubling * doublings +
                       (scenario.strategy.servers ? spread.servers : 0) +
                       (spread.platforms.contains(reach.platform) ? 0 : spread.other_platform);
  return {std::exp(spread.low * scale), std::exp(spread.high * scale)};
}

TimeBand together(const TimeBand& one, const TimeBand& other) {
  return {std::exp(-std::hypot(std::log(one.least), std::log(other.least))),
          std::exp(std::hypot(std::log(one.most), std::log(other.most)))};
}

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
