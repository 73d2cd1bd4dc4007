// NCCL as a backend, in the module "nccl" (backend/modules.hpp). The only files that include CUDA's headers or <nccl.h>
// are those of this folder.
#pragma once

#include <string>

#include "backend/backend.hpp"

namespace farandole {

/// "NCCL 2.28.9, CUDA 13.0", without touching a device.
std::string nccl_version();

/// The devices there are, or why there is none.
std::string nccl_devices();

/// Fills in the versions and how a session is opened: one device a rank, by its number on its node; std::runtime_error
/// where there is none.
extern "C" __attribute__((visibility("default"))) void farandole_nccl_backend(BackendRow& row);

}  // namespace farandole
