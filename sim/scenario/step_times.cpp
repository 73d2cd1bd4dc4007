// What a step of one device takes: profiled, measured or estimated.
#include <map>

#include "scenario/model_error.hpp"
#include "scenario/parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// Of the profiles that profiled_times chooses among, the steps that rise with the batch.
std::vector<DeviceStep> profiled_steps(const WorkloadSpec& workload, const std::string& device) {
  std::map<int, Seconds> by_batch;
  const auto collect = [&](const std::string& owner) {
    for (const Profile& profile : workload.profiles) {
      if (profile.device != owner || profile.precision.value_or(workload.precision) != workload.precision) continue;
      by_batch.try_emplace(profile.batch, profile.total());
    }
  };
  collect(device);
  if (by_batch.empty()) collect("");
  std::vector<DeviceStep> steps;
  for (const auto& [batch, time] : by_batch) {
    if (steps.empty() || time > steps.back().time) steps.push_back({batch, time});
  }
  return steps;
}

/// At batches that nobody profiled, the step goes by the profiled ones and the kernels' estimate, as measured rows do
/// (workload/throughput.hpp), instead of in proportion to the nearest: a small batch pays for its launches.
void follow_estimate(ComputeTimes& times, const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const Device& device = scenario.platform.device;
  const bool can_estimate = device.assumed_efficiency > 0 || device.kernels;
  if (!can_estimate || !device.peak.contains(workload.precision)) return;
  Device unmeasured = device;
  unmeasured.measurements.clear();
  const auto estimate = [&](int batch) {
    return compute_times(
               workload.model, unmeasured,
               {workload.precision, batch, "", {}, {}, Recompute::none, workload.normalisation, workload.compiled})
        .total();
  };
  const std::vector<DeviceStep> steps = profiled_steps(workload, device.name);
  stretch(times, corrected_step(steps, workload.batch_per_rank, estimate) / times.total());
  if (!device.bands) return;
  std::vector<int> batches;
  for (const DeviceStep& step : steps) batches.push_back(step.batch);
  times.band = band_beside(batches, workload.batch_per_rank, device.bands->batch_doubled, device.bands->model);
}

}  // namespace

ComputeTimes times_of(const Scenario& scenario) {
  const WorkloadSpec& workload = scenario.workload;
  const Device& device = scenario.platform.device;
  const bool known = !workload.device_steps.empty();  // by the user: better than what was profiled elsewhere
  auto profiled = known || workload.part
                      ? std::nullopt
                      : profiled_times(workload.profiles, device.name, workload.precision, workload.batch_per_rank);
  if (profiled) {
    follow_estimate(*profiled, scenario);
    add_recomputation(*profiled, workload.model, workload.recompute);
    stretch(*profiled, workload.compute_stretch);
    return *profiled;
  }
  ComputeTimes times = compute_times(
      workload.of_rank(), device,
      {workload.precision, workload.batch_per_rank, scenario.platform.platform.measurements, workload.host_dispatch,
       workload.device_steps, workload.recompute, workload.normalisation, workload.compiled});
  if (!known) times.update *= update_traffic(workload.optimizer) / update_traffic(usual_optimizer());
  if (!workload.anchored_on.empty()) times.source = "anchored: " + workload.anchored_on;
  times.band = together(times.band, workload.carried);
  stretch(times, workload.compute_stretch);
  return times;
}

}}  // namespace farandole::scenario
