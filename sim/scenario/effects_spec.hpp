// What a scenario's "effects" section says: everything that makes a run less than ideal, each off unless it is named.
//
// Read by scenario/read_effects.hpp, applied by scenario/apply_effects.hpp. Ranks and nodes beyond the run's size are
// simply not in it, so that one file can be swept over numbers of ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "training/effects/checkpoint.hpp"
#include "training/effects/distribution.hpp"
#include "training/effects/input_supply.hpp"
#include "training/effects/os_noise.hpp"
#include "workload/device.hpp"

namespace farandole {

struct Straggler {
  std::vector<int> ranks;
  double slowdown = 0;  // 0.1: ten percent more time
};

/// Some ranks sit on other devices, or on devices that run at another speed.
struct OtherDevice {
  std::vector<int> ranks;
  std::vector<int> nodes;
  double speed = 1;              // relative to the platform's device
  std::optional<Device> device;  // instead of a speed
};

struct SlowLink {
  std::vector<int> nodes;  // their NICs
  std::string links;       // or every link whose name starts so
  double rate = 1;         // what is left of the rate
  Seconds added_latency;
};

struct EffectsSpec {
  double device_spread = 0;
  Distribution step_jitter;
  std::vector<Straggler> stragglers;
  std::vector<OtherDevice> other_devices;
  std::vector<SlowLink> slow_links;
  std::optional<OsNoise> os_noise;
  double communication_compute_share = 0;
  double board_slowdown = 0;  // of a device whose neighbour on the board computes too
  std::optional<InputSupply> input;
  std::optional<Checkpoint> checkpoint;  // its size is 0 where the file does not say
};

}  // namespace farandole
