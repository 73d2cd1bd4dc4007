// The CUDA devices of this machine and how they reach one another.
#pragma once

#include <string>

#include "timeline/result.hpp"

namespace farandole {

/// std::runtime_error that says why where there is none.
int device_count();

/// "NVIDIA A100-SXM4-40GB, 39.4 GiB, compute capability 8.0, PCI 0000:07:00.0".
std::string device_text(int device);

/// One entry per pair of devices that this process sees: whether one reads the other's memory, by atomics too (NVLink),
/// and how fast relative to the others (0 is fastest). Empty for one device.
Settings device_links();

}  // namespace farandole
