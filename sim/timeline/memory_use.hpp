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
  Bytes server_shard;  // of the parameter server that keeps most; in its host's memory, so no part of the total
  Bytes device;        // what there is

  [[nodiscard]] Bytes total() const { return parameters + gradients + optimizer_state + activations + fusion_buffers; }
};

}  // namespace farandole
