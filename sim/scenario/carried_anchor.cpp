#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "config/section.hpp"
#include "scenario/anchor.hpp"
#include "scenario/model_error.hpp"
#include "scenario/read_parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// What the device that ran is, and what steps that were inferred of it are estimated to take.
struct Origin {
  std::string model;
  std::string variant;
  std::string device;
  std::string generation;
  Precision precision = Precision::fp32;
  bool compiled = false;
  Normalisation normalisation = Normalisation::separate;
  FlopPerSecond peak;
  BytesPerSecond memory_bandwidth;
  std::vector<Seconds> estimates;
};

Origin origin_of(const WorkloadSpec& workload, const Device& device, Normalisation normalisation,
                 const std::vector<DeviceStep>& steps) {
  Origin origin{workload.model.name, workload.model.variant, device.name, device.generation,       workload.precision,
                workload.compiled,   normalisation,          {},          device.memory_bandwidth, {}};
  Device unmeasured = device;
  unmeasured.measurements.clear();
  if (device.kernels) unmeasured.assumed_efficiency = 0;  // what a scenario assumes is no property of a device
  for (const DeviceStep& step : steps) {
    const ComputeDemand demand{workload.precision, step.batch,       "", usual_dispatch(device), {}, Recompute::none,
                               normalisation,      workload.compiled};
    origin.estimates.push_back(compute_times(workload.model, unmeasured, demand).total());
  }
  origin.peak = device.peak.at(workload.precision);
  return origin;
}

Origin read_origin(const Value& where) {
  Section section(where);
  Origin origin;
  origin.model = section.required<std::string>("model");
  origin.variant = section.required<std::string>("variant");
  origin.device = section.required<std::string>("device");
  origin.generation = section.required<std::string>("generation");
  origin.precision = read_precision(section.child("precision"));
  origin.compiled = section.required<bool>("compile");
  origin.normalisation = read_normalisation(section.child("normalisation"));
  origin.peak = section.required<FlopPerSecond>("peak");
  origin.memory_bandwidth = section.required<BytesPerSecond>("memory_bandwidth");
  for (const Value& estimate : section.child("estimates").elements())
    origin.estimates.push_back(read<Seconds>(estimate));
  section.finish();
  return origin;
}

/// No program gains more than all its products or all it moves do.
double least_factor(const Origin& from, const Origin& to) {
  const double products = from.peak / to.peak;
  const double moves =
      from.memory_bandwidth / to.memory_bandwidth * (element_size(to.precision) / element_size(from.precision));
  return std::min({products, moves, 1.0});
}

/// What measured ratios lie from estimated ones, in the fitted kernels' file: tools/kernel_bands.py.
TimeBand band_of(const Origin& from, const Origin& to, double compiled, const Catalogue& catalogue) {
  const std::string file = (catalogue.root() / "topologies/devices/kernels/fitted.json").string();
  const auto documents = catalogue.documents();
  const auto fitted = std::ranges::find(documents, file, [](const Document* document) { return document->source(); });
  Section carried = Section(Section((*fitted)->root()).child("carried"));
  TimeBand band;
  const auto add = [&](double factor) { band = together(band, {1 / factor, factor}); };
  const bool is_relative = from.generation == to.generation;
  if (from.device != to.device) add(carried.required<double>(is_relative ? "same_generation" : "other_generation"));
  if (from.precision != to.precision) add(carried.required<double>("precision"));
  if (from.compiled != to.compiled) add(std::max(compiled, 1 / compiled));  // as uncertain as what it changes
  return band;
}

std::string in_one_phrase(const Origin& origin) {
  return fmt::format("{} in {}{}", origin.device, name(origin.precision), origin.compiled ? ", compiled" : "");
}

}  // namespace

Node anchor_device(const Scenario& scenario, const std::vector<DeviceStep>& steps, const std::string& source) {
  const WorkloadSpec& workload = scenario.workload;
  const auto normalisation =
      steps.front().normalisation.value_or(workload.normalisation.value_or(Normalisation::separate));
  const Origin origin = origin_of(workload, scenario.platform.device, normalisation, steps);
  const auto from = std::make_shared<const std::string>(source);
  const auto text = [&](std::string value) { return Node{std::move(value), 0, from}; };
  Node::Array estimates;
  for (const Seconds time : origin.estimates) estimates.push_back(text(fmt::format("{:.17g} s", time.si())));
  return {Node::Object{{"model", text(origin.model)},
                       {"variant", text(origin.variant)},
                       {"device", text(origin.device)},
                       {"generation", text(origin.generation)},
                       {"precision", text(name(origin.precision))},
                       {"compile", Node{origin.compiled, 0, from}},
                       {"normalisation", text(name(origin.normalisation))},
                       {"peak", text(fmt::format("{:.17g} FLOP/s", origin.peak.si()))},
                       {"memory_bandwidth", text(fmt::format("{:.17g} B/s", origin.memory_bandwidth.si()))},
                       {"estimates", Node{std::move(estimates), 0, from}}},
          0, from};
}

void carry_anchor(WorkloadSpec& workload, const Value& where, const Device& device, const Catalogue& catalogue) {
  const Origin from = read_origin(where);
  if (from.model != workload.model.name || from.variant != workload.model.variant) {
    workload.device_steps.clear();
    workload.anchored_on.clear();
    workload.anchors.clear();
    return;
  }
  const Origin to = origin_of(workload, device, from.normalisation, workload.device_steps);
  const double least = from.compiled == to.compiled ? least_factor(from, to) : 0;
  double largest = 1;
  for (std::size_t i = 0; i < to.estimates.size(); ++i) {
    const double factor = std::max(least, to.estimates[i] / from.estimates.at(i));
    workload.device_steps[i].time *= factor;
    if (std::abs(std::log(factor)) > std::abs(std::log(largest))) largest = factor;
  }
  if (largest == 1 && from.precision == to.precision) return;
  workload.carried = band_of(from, to, largest, catalogue);
  workload.carried.least = std::max(workload.carried.least, std::min(1.0, least / largest));
  workload.anchored_on += fmt::format("; here {:.4g} times that, as {} is estimated to take of {}", largest,
                                      in_one_phrase(to), in_one_phrase(from));
}

}}  // namespace farandole::scenario
