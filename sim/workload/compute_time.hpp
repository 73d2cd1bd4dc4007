// How long each layer's forward and backward pass takes on a device.
//
// Estimated, a step is the sum of its kernels (workload/kernels.hpp), whose rates are fitted once over all measured
// models of a generation of devices. A device with `assumed_efficiency` (a CPU, or by a scenario's wish) has the
// roofline divided by it instead:
//   t_forward(l)  = max(2 macs(l) batch / peak, bytes_moved(l) / memory_bandwidth)
//   t_backward(l) = the same for two passes (gradient by weights, gradient by inputs; the first layer with weights
//                   that are trained needs only the one, frozen weights only the other, and layers before it none)
//   update        = bytes of trained parameters, gradients and momentum read and written / memory_bandwidth
// (Williams, Waterman, Patterson, CACM 52(4), 2009.) What was measured of this model on this device corrects the
// estimate (workload/compute_time.hpp). Last, the host: it queues a pass over a layer in `dispatch`, and where all of
// them take longer than the device does, the host sets the pace:
//   step(b) = max(2 layers x dispatch, sum over layers of (a + x b)) + update
// A measured step contains its host's pace, so a host is never slower than the shortest step that was measured. What is
// not measured at that batch has a band (workload/device.hpp).
// What is recomputed runs its forward pass once more before its backward pass (workload/recompute.hpp); steps that were
// measured or given are of passes without that.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workload/device.hpp"
#include "workload/model.hpp"
#include "workload/recompute.hpp"

namespace farandole { inline namespace workload {

// Which published throughputs of a device belong to a run, and what they say of the step at any batch.
//
// Called by compute_times only. Nothing found is no error: then the time is estimated.

/// The rows of one set for this model, variant and precision, in order of batch: one for each batch, the first of
/// equals, and none that would make a larger batch take less time. Rows that do not state their batch only where no row
/// does. An empty set: the first in the file that has the model. Throws InputError where the device has no such set.
std::vector<const Measurement*> find_measurements(const Device& device, const Model& model,
                                                  const std::pair<Precision, std::string>& precision_and_set);

/// What one device takes alone for a step with so many samples.
struct DeviceStep {
  int batch = 1;
  Seconds time;
  std::optional<Normalisation> normalisation{};  // of its program; empty: the one that is asked for
  bool published = false;                        // of a program that was not compiled
  Seconds update{};                              // beside it, that the optimizer takes
};

std::vector<DeviceStep> steps_of(const std::vector<const Measurement*>& rows);

/// An estimate of a step with so many samples.
using StepTime = std::function<Seconds(int batch)>;

/// The step at `batch` as measured steps correct an estimate: at their batches their times, elsewhere the line through
/// the nearest two (its slope is what a sample takes, its height at batch 0 what does not depend on the batch). Where
/// there is one, or the line would leave less than nothing for batch 0, beyond them the estimate times what the nearest
/// is of it. Never falls with the batch where the estimate does not. `steps` are not empty, rising in batch and time.
Seconds corrected_step(const std::vector<DeviceStep>& steps, int batch, const StepTime& estimate);

/// "measured: 130.9 samples/s, horovod-2017-09", and at which batches where none is this one.
std::string describe(const std::vector<const Measurement*>& rows, int batch);

struct ComputeTimes {
  std::vector<Seconds> forward;   // per layer, in execution order
  std::vector<Seconds> backward;  // per layer, in execution order (backward runs it from the end)
  Seconds update;
  bool measured = false;
  TimeBand band;       // of all of it
  std::string source;  // "measured: 130.9 samples/s, horovod-2017-09" or "estimated: ..."

  [[nodiscard]] Seconds passes() const;  // forward and backward
  [[nodiscard]] Seconds total() const;
};

/// What a run asks for. `measurement_set` restricts the search to one set of measurements (a platform names its own);
/// empty: the first of the device that has the model. `steps`: known of this model on this device, instead of what was
/// published; rising in batch and time. `dispatch`: empty for a host that does not run ahead. `normalisation`: empty as
/// what is known has it, and separate where nothing is; what is known of another one is as much shorter or longer as
/// the estimate is, and as uncertain as that much. `compiled`: so it is of published rows, of other programs.
struct ComputeDemand {
  Precision precision = Precision::fp32;
  int batch = 1;
  std::string measurement_set;
  std::optional<Seconds> dispatch;
  std::vector<DeviceStep> steps{};
  Recompute recompute = Recompute::none;
  std::optional<Normalisation> normalisation{};
  bool compiled = false;
};

/// Never falls with the batch. Throws InputError for a set that the device does not have, and for a precision that it
/// has no peak rate for; std::invalid_argument where the batch is not positive.
ComputeTimes compute_times(const Model& model, const Device& device, const ComputeDemand& demand);

/// All of it takes so many times as long; the band is of that.
void stretch(ComputeTimes& times, double factor);

/// The same times with the forward passes that run again, in the backward passes of their layers.
void add_recomputation(ComputeTimes& times, const Model& model, Recompute recompute);

}}  // namespace farandole::workload
