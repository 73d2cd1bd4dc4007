// What CUDA and NCCL answer, as exceptions that say what was tried. Used within this folder.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

namespace farandole { inline namespace backend {

/// std::runtime_error unless it went well.
void expect(cudaError_t answer, const char* tried);
void expect(ncclResult_t answer, const char* tried);

}}  // namespace farandole::backend
