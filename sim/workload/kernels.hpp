// The kernels of a layer's passes and how long they take, estimated from its shape.
//
// Called by workload/compute_time.cpp. Of a pass over arithmetic with M multiply-adds a sample, x bytes of activations
// a sample and w bytes of weights, with batch b:
//   t = launch + max(2 M b / rate, (x b + w) / bandwidth)
// Forward is one such pass, backward two: the gradient by the weights and that by the inputs. A layer without
// arithmetic is one kernel forward and one backward that move what their algorithm reads and writes: a batch
// normalisation reads its input twice forward, and input and gradient twice backward. Rates: workload/kernel_rates.hpp.
#pragma once

#include "workload/device.hpp"
#include "workload/model.hpp"

namespace farandole {

struct LayerTimes {
  Seconds forward;
  Seconds weight_gradient;  // of a layer without arithmetic the whole backward pass
  Seconds input_gradient;
};

/// The device has fitted kernels and a peak rate for `precision`.
LayerTimes kernel_times(const Layer& layer, const Device& device, Precision precision, int batch);

/// One kernel a tensor: SGD with momentum reads weights, gradients and momentum, and writes weights and momentum.
Seconds update_kernels(const Model& model, const Device& device);

}  // namespace farandole
