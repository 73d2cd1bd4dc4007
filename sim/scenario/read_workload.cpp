#include "scenario/read_workload.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/section.hpp"
#include "training/gradient_type.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

/// "10 us", or "ready" for a framework that announces a gradient when it is computed; nothing: as the device works.
std::optional<Seconds> read_host_dispatch(const std::optional<Value>& value, const Device& device) {
  // TensorFlow and PyTorch queue a kernel in about ten microseconds of host time; the result hardly moves with it as
  // long as the host is ahead of the device (tools/compare_published.py shows by how much).
  if (!value) return device.asynchronous ? std::optional<Seconds>(10_us) : std::nullopt;
  if (value->is_string() && read<std::string>(*value) == "ready") return std::nullopt;
  return read<Seconds>(*value);
}

Optimizer read_optimizer(const Value& where) {
  const auto name = read<std::string>(where);
  std::vector<std::string> known;
  for (const Optimizer& optimizer : optimizers()) {
    if (optimizer.name == name) return optimizer;
    known.push_back(optimizer.name);
  }
  where.fail_unknown("an optimizer", known);
}

/// What frameworks do with single precision where nobody says otherwise: its products on tensor units, if there are
/// any.
Precision default_precision(const Device& device) {
  return device.peak.contains(Precision::tf32) ? Precision::tf32 : Precision::fp32;
}

Seconds of_a_sample(const DeviceStep& step) {
  return step.time / step.batch;
}

constexpr double noise = 0.05;  // by which a sample of a larger batch may seem to take longer

/// A larger batch takes longer, and a sample of it no longer.
void refuse_contradiction(const Value& where, const DeviceStep& low, const DeviceStep& high) {
  if (low.batch == high.batch) where.fail("one time of a batch", fmt::format("two of batch {}", low.batch));
  if (high.time > low.time && of_a_sample(high) <= of_a_sample(low) * (1 + noise)) return;
  where.fail(fmt::format("more than {} and at most {} at batch {}, as batch {} takes {}", format(low.time),
                         format(low.time * (static_cast<double>(high.batch) / low.batch)), high.batch, low.batch,
                         format(low.time)),
             format(high.time));
}

}  // namespace

std::vector<DeviceStep> read_device_steps(const Value& where) {
  std::vector<DeviceStep> steps;
  for (const Value& row : where.elements()) {
    Section section(row);
    DeviceStep step{read_at_least(section.child("batch"), 1), section.required<Seconds>("time")};
    section.finish();
    if (!(step.time > 0_s)) row.fail("a time above nothing");
    steps.push_back(step);
  }
  if (steps.empty()) where.fail("the time of at least one batch");
  std::ranges::sort(steps, {}, &DeviceStep::batch);
  for (std::size_t i = 1; i < steps.size(); ++i) refuse_contradiction(where, steps[i - 1], steps[i]);
  return steps;
}

WorkloadSpec read_workload(const Value& where, const Catalogue& catalogue, const Device& device) {
  Section section(where);
  WorkloadSpec workload;
  const Value model = section.child("model");
  const ModelSummary found = catalogue.model(read<std::string>(model), model);
  const auto variant = section.maybe("variant");
  workload.model = choose_variant(found, variant ? read<std::string>(*variant) : "", variant.value_or(model));
  workload.profiles = catalogue.profiles(found, workload.model);
  if (const auto profile = section.maybe("profile")) choose_profiles(workload.profiles, *profile, device.name);
  const auto batch = section.maybe("batch_per_rank");
  if (batch) workload.batch_per_rank = read_at_least(*batch, 1);
  if (const auto global = section.maybe("global_batch")) {
    if (batch) global->fail("either a \"batch_per_rank\" or a \"global_batch\"");
    workload.global_batch = read_at_least(*global, 1);
  }
  if (const auto optimizer = section.maybe("optimizer")) workload.optimizer = read_optimizer(*optimizer);
  const auto precision = section.maybe("precision");
  workload.precision = precision ? read_precision(*precision) : default_precision(device);
  if (const auto type = section.maybe("gradient_type")) workload.gradient_type = read_gradient_type(*type);
  if (const auto efficiency = section.maybe("assumed_efficiency")) {
    workload.assumed_efficiency = read<Fraction>(*efficiency).value;
    if (!(*workload.assumed_efficiency > 0 && *workload.assumed_efficiency <= 1)) {
      efficiency->fail("a percentage above 0 % and up to 100 %");
    }
  }
  workload.host_dispatch = read_host_dispatch(section.maybe("host_dispatch"), device);
  if (const auto steps = section.maybe("device_steps")) workload.device_steps = read_device_steps(*steps);
  workload.anchored_on = section.optional<std::string>("anchored_on", "");
  if (const auto measured = section.maybe("measured")) measured->fail("a run, which infers a device's time first");
  section.finish();
  return workload;
}

}  // namespace farandole
