// In place of CUDA's runtime, cuBLAS and cuDNN where there is no GPU: what of them `farandole bench --compute` calls.
//
// Nothing is computed. Memory is the host's, and every operand of a call must lie whole within one allocation;
// descriptors must agree with one another as cuDNN demands. A clock of its own goes on by what a call would do: 4 us
// and its multiply-adds at 100 TFLOP/s in half precision, 50 in tf32 and 10 in fp32, or its bytes at 1 TB/s. So times
// tell which work was asked for. CUDA_VISIBLE_DEVICES="" hides the device; CUDA_SHIM_MULTIPROCESSORS and CUDA_SHIM_GIB
// change it. What is wrong ends the program with a line on standard error.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace cuda_shim {

constexpr double launch = 4e-6;
constexpr double bandwidth = 1e12;

extern double now;  // seconds

void require(bool right, const std::string& what);

/// All of the operand lies in one allocation.
void require_memory(const void* begin, double bytes, const std::string& what);

void work(double multiply_adds, double rate);

template <class T>
int make(void** descriptor) {
  *descriptor = std::make_unique<T>().release();
  return 0;
}

template <class T>
int destroy(void* descriptor) {
  const std::unique_ptr<T> owned(static_cast<T*>(descriptor));
  return 0;
}

}  // namespace cuda_shim
