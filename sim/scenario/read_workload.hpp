// Reads what a scenario trains: its "workload".
#pragma once

#include <vector>

#include "scenario/scenario.hpp"

namespace farandole {

/// `device`: of the platform.
WorkloadSpec read_workload(const Value& where, const Catalogue& catalogue, const Device& device);

/// [{"batch": 128, "time": "61 ms"}, ...]: what one device takes alone. In order of batch; a larger one takes longer,
/// and a sample of it no longer.
std::vector<DeviceStep> read_device_steps(const Value& where);

}  // namespace farandole
