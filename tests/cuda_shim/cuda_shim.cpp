// CUDA's runtime and cuBLAS in the shim.
#include "cuda_shim/cuda_shim.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace {

std::size_t allocated = 0;
std::map<const char*, std::pair<std::unique_ptr<char[]>, std::size_t>> allocations;

std::size_t setting(const char* name, std::size_t usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : static_cast<std::size_t>(std::atoi(text));
}

std::size_t memory() {
  return setting("CUDA_SHIM_GIB", 140) << 30U;
}

}  // namespace

namespace cuda_shim {

double now = 0;

void require(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "cuda_shim: %s\n", what.c_str());
  std::_Exit(70);
}

void require_memory(const void* begin, double bytes, const std::string& what) {
  auto next = allocations.upper_bound(static_cast<const char*>(begin));
  require(next != allocations.begin(), what + " is no memory of the device");
  const auto& [start, block] = *--next;
  const auto offset = static_cast<double>(static_cast<const char*>(begin) - start);
  require(offset + bytes <= static_cast<double>(block.second), what + " does not fit into its memory");
}

void work(double multiply_adds, double rate) {
  now += launch + 2 * multiply_adds / rate;
}

}  // namespace cuda_shim

using namespace cuda_shim;

extern "C" {

std::size_t cuda_shim_allocated() {
  return allocated;
}

int cudaGetDeviceCount(int* count) {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  *count = visible != nullptr && *visible == '\0' ? 0 : 1;
  return *count == 0 ? 100 : 0;
}
int cudaSetDevice(int device) {
  return device == 0 ? 0 : 101;
}
int cudaDeviceGetAttribute(int* value, int attribute, int) {
  require(attribute == 16 || attribute == 75 || attribute == 76, "an attribute");
  const int usual = attribute == 75 ? 9 : 0;
  *value = attribute == 16 ? static_cast<int>(setting("CUDA_SHIM_MULTIPROCESSORS", 132)) : usual;
  return 0;
}
int cudaGetDeviceProperties(void* properties, int) {
  std::memset(properties, 1, 1032);
  std::strcpy(static_cast<char*>(properties), "Shim GPU");
  return 0;
}
int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = memory();
  *free = memory() - allocated;
  return 0;
}
int cudaMalloc(void** place, std::size_t size) {
  if (allocated + size > memory()) return 2;
  auto block = std::make_unique_for_overwrite<char[]>(size);
  *place = block.get();
  allocated += size;
  const char* key = block.get();
  allocations.emplace(key, std::pair(std::move(block), size));
  return 0;
}
int cudaFree(void* place) {
  const auto found = allocations.find(static_cast<const char*>(place));
  require(found != allocations.end(), "memory that was not allocated is freed");
  allocated -= found->second.second;
  allocations.erase(found);
  return 0;
}
int cudaMemcpy(void* to, const void* from, std::size_t size, int direction) {
  require(direction == 1 || direction == 3, "a direction");
  require_memory(to, static_cast<double>(size), "a copy");
  if (direction == 3) require_memory(from, static_cast<double>(size), "a copy's source");
  return 0;
}
int cudaMemcpyAsync(void* to, const void* from, std::size_t size, int direction, void*) {
  now += launch + 2 * static_cast<double>(size) / bandwidth;
  return cudaMemcpy(to, from, size, direction);
}
int cudaEventCreate(void** event) {
  return make<double>(event);
}
int cudaEventDestroy(void* event) {
  return destroy<double>(event);
}
int cudaEventRecord(void* event, void*) {
  *static_cast<double*>(event) = now;
  return 0;
}
int cudaEventSynchronize(void*) {
  return 0;
}
int cudaEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = static_cast<float>(1e3 * (*static_cast<double*>(end) - *static_cast<double*>(begin)));
  return 0;
}
const char* cudaGetErrorString(int error) {
  return error == 100 ? "no CUDA-capable device is detected" : "an error";
}
int cudaRuntimeGetVersion(int* version) {
  *version = 12040;
  return 0;
}

int cublasCreate_v2(void** handle) {
  return make<int>(handle);
}
int cublasDestroy_v2(void* handle) {
  return destroy<int>(handle);
}
int cublasGetVersion_v2(void*, int* version) {
  *version = 120401;
  return 0;
}
int cublasGemmStridedBatchedEx(void*, int op_a, int op_b, int m, int n, int k, const void*, const void* a, int a_type,
                               int lda, long long stride_a, const void* b, int b_type, int ldb, long long stride_b,
                               const void*, void* c, int c_type, int ldc, long long stride_c, int count, int compute,
                               int) {
  if (lda < (op_a == 0 ? m : k) || ldb < (op_b == 0 ? k : n) || ldc < m) return 7;  // CUBLAS_STATUS_INVALID_VALUE
  require(a_type == b_type && a_type == c_type && (a_type == 0 || a_type == 2 || a_type == 14), "types of a product");
  require(compute == 68 || (compute == 77 && a_type == 0), "how a product is computed");
  const double size = a_type == 0 ? 4 : 2;
  const auto whole = [&](double leading, double columns, long long stride) {
    return (static_cast<double>(stride) * (count - 1) + leading * columns) * size;
  };
  require_memory(a, whole(lda, op_a == 0 ? k : m, stride_a), "A");
  require_memory(b, whole(ldb, op_b == 0 ? n : k, stride_b), "B");
  require_memory(c, whole(ldc, n, stride_c), "C");
  const double single = compute == 77 ? 50e12 : 10e12;
  work(static_cast<double>(m) * n * k * count, a_type == 0 ? single : 100e12);
  return 0;
}

}  // extern "C"
