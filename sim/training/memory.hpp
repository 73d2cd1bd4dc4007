// Does a job fit into its devices' memory, and if not, what would help?
//
//   parameters       elements x element size of the precision
//   gradients        elements x element size of the gradients
//   optimizer_state  elements x 4 bytes x slots of the optimizer; in half precision one more: the master copy where the
//                    model was cast, the parameters themselves where autocast keeps casts of them
//   activations      batch x (input + outputs of all layers but those that work in place) x element size
//   fusion_buffers   what the strategy sets aside
//   server_shard     on the host of the fullest parameter server, where there are any: variables, the sum of their
//                    gradients and 4 bytes x slots per parameter. The optimizer's state is there, not on the devices
//
// The activations are those that the backward pass needs: every layer's input, which is an earlier layer's output
// (Rhu et al., "vDNN", MICRO 2016; Chen et al., "Training Deep Nets with Sublinear Memory Cost", arXiv:1604.06174).
// ReLU and dropout overwrite their input. Gradients of activations, workspaces of convolution libraries and the
// framework's own memory are not counted: the sum is a lower bound, so a job that is refused cannot run, and one that
// is let pass may still not.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "timeline/memory_use.hpp"
#include "training/gradient_type.hpp"
#include "workload/device.hpp"
#include "workload/model.hpp"

namespace farandole {

struct Optimizer {
  std::string name;
  int slots = 0;  // numbers kept per parameter
};
/// sgd, momentum, adam.
std::span<const Optimizer> optimizers();
/// What an update moves per byte of a parameter: gradient and parameter read, parameter written, every slot both.
inline double update_traffic(const Optimizer& optimizer) {
  return 3 + 2 * optimizer.slots;
}
/// That of the update that compute times and measured throughputs contain (workload/compute_time.hpp).
inline Optimizer usual_optimizer() {
  return {"momentum", 1};
}

struct MemoryDemand {
  Precision precision = Precision::fp32;
  int batch = 1;
  Optimizer optimizer;
  Bytes fusion_buffers;
  Bytes server_shard;
  GradientType gradient_type = GradientType::fp32;
};

MemoryUse memory_use(const Model& model, const Device& device, const MemoryDemand& demand);

/// "21.3 GiB = parameters 0.5 GiB + ...", parts without bytes left out.
std::string describe(const MemoryUse& use);

/// What would make a job fit that does not, by name and size, least change first; `ranks` share what can be sharded.
std::vector<std::string> ways_to_fit(const MemoryUse& use, int batch, int ranks);

}  // namespace farandole
