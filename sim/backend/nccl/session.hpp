// NCCL as a backend. The only files that include CUDA's headers or <nccl.h> are those of this folder.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.hpp"

namespace farandole {

/// "NCCL 2.28.9, CUDA 13.0", without touching a device.
std::string nccl_version();

/// The devices there are, or why there is none.
std::string nccl_devices();

/// One device a rank, by its number on its node. std::runtime_error where there is none.
std::unique_ptr<Session> open_nccl_session(const SessionOptions& options);

}  // namespace farandole
