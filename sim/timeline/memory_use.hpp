// What a job keeps in the memory of one device, part by part.
#pragma once

#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

struct MemoryUse {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer_state;  // and the single-precision copy that a model cast to half precision keeps
  Bytes activations;
  Bytes fusion_buffers;
  Bytes server_shard;  // of the parameter server that keeps most; in its host's memory, so no part of the total
  Bytes device;        // what there is
  Bytes gathered{};    // parameters of sharded layers that are whole while they compute
  Bytes outside{};     // the device's context and communication buffers, no part of the total
  Bytes spared{};      // of the total, that a program may keep shorter or its allocator give back

  [[nodiscard]] Bytes total() const {
    return parameters + gradients + optimizer_state + activations + fusion_buffers + gathered;
  }
  /// Whatever the program does.
  [[nodiscard]] Bytes at_least() const { return total() - spared; }
  [[nodiscard]] bool fits() const { return total() + outside <= device; }

  static void fields(auto& memory, auto& visit) {
    visit("parameters", memory.parameters);
    visit("gradients", memory.gradients);
    visit("optimizer_state", memory.optimizer_state);
    visit("activations", memory.activations);
    visit("fusion_buffers", memory.fusion_buffers);
    visit("server_shard", memory.server_shard);
    visit("gathered", memory.gathered);
    visit.derived("total", memory.total());
    visit("device", memory.device);
    visit("outside", memory.outside);
    visit("spared", memory.spared);
  }
};

}}  // namespace farandole::timeline
