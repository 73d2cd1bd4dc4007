// NCCL as a backend, in the module "nccl" (config/modules.hpp). The only files that include CUDA's headers or <nccl.h>
// are those of this folder.
#pragma once

#include <string>

#include "backend/backend.hpp"
#include "backend/nccl/endpoint.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace backend {

/// "NCCL 2.28.9, CUDA 13.0", without touching a device.
std::string nccl_version();

/// Fills in the versions and how a session is opened: one device a rank, by its number on its node; std::runtime_error
/// where there is none.
extern "C" __attribute__((visibility("default"))) void farandole_nccl_backend(BackendRow& row);

// NCCL's own collectives, on data laid out as backend/data_place.hpp lays it out.

/// `size` in elements, as the operation counts bytes. Empty for an operation that NCCL does not have. The endpoint must
/// outlive it.
CollectiveRun nccl_collective(const NcclEndpoint& endpoint, const Schedule& layout, std::int64_t size);

// The CUDA devices of this machine and how they reach one another.

/// std::runtime_error that says why where there is none.
int device_count();

/// "NVIDIA A100-SXM4-40GB, 39.4 GiB, compute capability 8.0, PCI 0000:07:00.0".
std::string device_text(int device);

/// One entry per pair of devices that this process sees: whether one reads the other's memory, by atomics too (NVLink),
/// and how fast relative to the others (0 is fastest). Empty for one device.
Settings device_links();

}}  // namespace farandole::backend
