// The electric power of a node.
//
//   draw = host + devices * (idle + busy share * (full load - idle))
//
// linear in the share of the time in which devices compute, as SimGrid's plug-in for the energy of hosts has it (a test
// compares the two), and as measurements of GPUs under training loads suggest between their ends. While devices
// communicate or wait they count as idle.
#pragma once

#include "units/amount.hpp"

namespace farandole {

struct NodePower {
  Watts host;  // everything but the devices
  Watts device_idle;
  Watts device_busy;
};

/// `busy`: from 0 to 1, in the mean of the devices.
constexpr Watts draw(const NodePower& power, int devices, double busy) {
  return power.host + (power.device_idle + (power.device_busy - power.device_idle) * busy) * devices;
}

}  // namespace farandole
