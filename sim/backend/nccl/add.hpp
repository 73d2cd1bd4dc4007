// Adds on a device: the one thing that neither the CUDA runtime nor NCCL does for two arrays of one rank.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace farandole { inline namespace backend {

/// sums[i] += summands[i], in the order of the stream.
cudaError_t add_on_device(const float* summands, float* sums, std::size_t count, cudaStream_t stream);

}}  // namespace farandole::backend
