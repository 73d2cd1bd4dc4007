// What a job keeps in the memory of one device, part by part.
#pragma once

#include "units/quantity.hpp"

namespace farandole {

struct MemoryUse {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer_state;  // and the single-precision parameters that mixed precision keeps beside the others
  Bytes activations;
  Bytes fusion_buffers;
  Bytes server_shard;  // of a parameter server that lives on the device
  Bytes device;        // what there is

  [[nodiscard]] Bytes total() const {
    return parameters + gradients + optimizer_state + activations + fusion_buffers + server_shard;
  }
};

}  // namespace farandole
