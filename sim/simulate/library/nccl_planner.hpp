// NCCL's releases as libraries.
#pragma once

#include "simulate/library/library.hpp"
#include "simulate/library/nccl_tuning.hpp"

namespace farandole {

/// "nccl-2.7".
Library nccl_library(const NcclTuning& tuning);

}  // namespace farandole
