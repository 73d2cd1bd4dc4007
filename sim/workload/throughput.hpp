// Which published throughputs of a device belong to a run, and what they say of the step at any batch.
//
// Called by compute_times only. Nothing found is no error: then the time is estimated.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workload/device.hpp"
#include "workload/model.hpp"

namespace farandole { inline namespace workload {

/// What a run asks a device for.
struct ThroughputQuery {
  Precision precision = Precision::fp32;
  std::string set;  // empty: the first in the file that has the model
};

/// The rows of one set for this model, variant and precision, in order of batch: one for each batch, the first of
/// equals, and none that would make a larger batch take less time. Rows that do not state their batch only where no row
/// does. Throws InputError where the device has no such set.
std::vector<const Measurement*> find_measurements(const Device& device, const Model& model,
                                                  const ThroughputQuery& query);

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

}}  // namespace farandole::workload
