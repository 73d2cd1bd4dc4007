#include "backend/nccl/check.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace farandole { inline namespace backend {

void expect(cudaError_t answer, const char* tried) {
  if (answer != cudaSuccess) throw std::runtime_error(fmt::format("{}: {}", tried, cudaGetErrorString(answer)));
}

void expect(ncclResult_t answer, const char* tried) {
  if (answer != ncclSuccess) throw std::runtime_error(fmt::format("{}: {}", tried, ncclGetErrorString(answer)));
}

}}  // namespace farandole::backend
