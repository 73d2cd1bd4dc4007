// Which published throughput of a device belongs to a run.
//
// Called by compute_times only. Nothing found is no error: then the time is estimated.
#pragma once

#include <string>

#include "workload/device.hpp"
#include "workload/model.hpp"

namespace farandole {

/// What a run asks a device for.
struct ThroughputQuery {
  Precision precision = Precision::fp32;
  int batch = 1;
  std::string set;  // empty: any
};

/// The row for this model, variant and precision whose batch is nearest (the first of equals; rows that do not state
/// their batch come last), or null. Throws InputError where the device has no such set.
const Measurement* find_measurement(const Device& device, const Model& model, const ThroughputQuery& query);

/// "measured: 130.9 samples/s, horovod-2017-09", and at which batch where that is another.
std::string describe(const Measurement& row, int batch);

}  // namespace farandole
