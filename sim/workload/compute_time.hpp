// How long each layer's forward and backward pass takes on a device.
//
// The total is measured single-device throughput where there is one; the roofline only splits it over the layers:
//   t_forward(l)  = max(2 macs(l) batch / peak, bytes_moved(l) / memory_bandwidth)
//   t_backward(l) = the same for two passes (gradient by weights, gradient by inputs; the first layer with weights
//                   needs only one)
//   update        = bytes of parameters, gradients and momentum read and written / memory_bandwidth
// and all are scaled by one factor so that their sum is batch / throughput. Where nothing was measured the factor is
// 1 / assumed_efficiency and the result says so. (Roofline: Williams, Waterman, Patterson, CACM 52(4), 2009.)
#pragma once

#include <string>
#include <vector>

#include "workload/device.hpp"
#include "workload/model.hpp"

namespace farandole {

struct ComputeTimes {
  std::vector<Seconds> forward;   // per layer, in execution order
  std::vector<Seconds> backward;  // per layer, in execution order (backward runs it from the end)
  Seconds update;
  bool measured = false;
  std::string source;  // "measured: 130.9 samples/s, horovod-2017-09" or "estimated: 35 % of 9.3 TFLOP/s"

  [[nodiscard]] Seconds total() const;
};

/// `measurement_set` restricts the search to one set of measurements (a platform names its own); empty: any. Among rows
/// of the same model, variant and precision the one with this batch wins, else the nearest batch, else the first. Rows
/// of another batch keep their throughput. Throws InputError for a set that the device does not have, and for a
/// precision that it has no peak rate for; std::invalid_argument where `batch` is not positive.
ComputeTimes compute_times(const Model& model, const Device& device, Precision precision, int batch,
                           const std::string& measurement_set);

}  // namespace farandole
