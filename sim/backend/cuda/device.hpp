// CUDA's runtime, cuBLAS and cuDNN as far as timing kernels needs them, and a device that they work on.
//
// They are opened when they are asked for and never linked, so a program that was built without CUDA times kernels
// where it finds them. Their interfaces are declared here: enumerations are ints, handles and descriptors pointers, as
// in cuda_runtime_api.h, cublas_api.h (from CUDA 11 on) and cudnn_ops.h and cudnn_cnn.h (8 and 9). Used within this
// folder.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "backend/compute_bench.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace backend {

struct CudaRuntime {
  int (*get_device_count)(int* count);
  int (*set_device)(int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*device_properties)(void* properties, int device);  // begins with its name, 256 bytes
  int (*memory_info)(std::size_t* free, std::size_t* total);
  int (*allocate)(void** memory, std::size_t size);
  int (*release)(void* memory);
  int (*copy)(void* to, const void* from, std::size_t size, int direction);
  int (*copy_later)(void* to, const void* from, std::size_t size, int direction, void* stream);
  int (*create_event)(void** event);
  int (*destroy_event)(void* event);
  int (*record_event)(void* event, void* stream);
  int (*wait_for_event)(void* event);
  int (*elapsed)(float* milliseconds, void* begin, void* end);
  const char* (*error_text)(int error);
  int (*version)(int* version);
};

struct Cublas {
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*version)(void* handle, int* version);
  int (*multiply)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int a_type,
                  int lda, long long stride_a, const void* b, int b_type, int ldb, long long stride_b, const void* beta,
                  void* c, int c_type, int ldc, long long stride_c, int count, int compute, int algorithm);
};

/// What cuDNN's search says of one algorithm (cudnnConvolution...AlgoPerf_t, the same of all three passes).
struct CudnnAlgorithm {
  int algorithm;
  int status;
  float milliseconds;
  std::size_t workspace;
  int determinism;
  int math_type;
  std::array<int, 3> reserved;
};

struct Cudnn {
  using Find = int(void* handle, const void* first, const void* second, const void* third, const void* fourth,
                   int asked, int* found, CudnnAlgorithm* algorithms);
  using Convolve = int(void* handle, const void* alpha, const void* first_shape, const void* first,
                       const void* second_shape, const void* second, const void* convolution, int algorithm,
                       void* workspace, std::size_t size, const void* beta, const void* result_shape, void* result);
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  std::size_t (*version)();
  const char* (*error_text)(int error);
  int (*create_tensor)(void** tensor);
  int (*destroy_tensor)(void* tensor);
  int (*set_tensor)(void* tensor, int format, int type, int dimensions, const int* extents);
  int (*create_filter)(void** filter);
  int (*destroy_filter)(void* filter);
  int (*set_filter)(void* filter, int type, int format, int dimensions, const int* extents);
  int (*create_convolution)(void** convolution);
  int (*destroy_convolution)(void* convolution);
  int (*set_convolution)(void* convolution, int dimensions, const int* padding, const int* stride, const int* dilation,
                         int mode, int compute);
  int (*set_groups)(void* convolution, int groups);
  int (*set_math)(void* convolution, int math_type);
  Find* find_forward;
  Find* find_input_gradient;
  Find* find_weight_gradient;
  Convolve* forward;
  Convolve* input_gradient;
  Convolve* weight_gradient;
  int (*normalise)(void* handle, int mode, const void* alpha, const void* beta, const void* x_shape, const void* x,
                   const void* y_shape, void* y, const void* parameters_shape, const void* scale, const void* bias,
                   double factor, void* running_mean, void* running_variance, double epsilon, void* saved_mean,
                   void* saved_inverse);
  int (*normalise_back)(void* handle, int mode, const void* alpha, const void* beta, const void* parameters_alpha,
                        const void* parameters_beta, const void* x_shape, const void* x, const void* dy_shape,
                        const void* dy, const void* dx_shape, void* dx, const void* parameters_shape, const void* scale,
                        void* scale_gradient, void* bias_gradient, double epsilon, const void* saved_mean,
                        const void* saved_inverse);
};

struct CudaLibraries {
  CudaRuntime runtime{};
  Cublas cublas{};
  Cudnn cudnn{};
  std::string missing;  // which library or function, and why; empty: all are there
};

/// Opens them once; they stay open.
const CudaLibraries& cuda_libraries();

/// Memory of the device, filled with numbers that are none of them 0, infinite or NaN in any type.
class DeviceMemory {
 public:
  /// std::runtime_error where there is not as much.
  DeviceMemory(const CudaRuntime& runtime, Bytes size);
  ~DeviceMemory() { runtime_.release(memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  [[nodiscard]] void* get() const { return memory_; }

 private:
  const CudaRuntime& runtime_;
  void* memory_ = nullptr;
};

/// The first CUDA device, its libraries, and a clock for what they queue on it.
class CudaDevice {
 public:
  /// The libraries are there. std::runtime_error where no device is.
  CudaDevice(int warmup, int repetitions);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] GpuDescription describe() const;
  [[nodiscard]] const CudaRuntime& runtime() const { return libraries_.runtime; }
  [[nodiscard]] const Cublas& cublas() const { return libraries_.cublas; }
  [[nodiscard]] const Cudnn& cudnn() const { return libraries_.cudnn; }
  [[nodiscard]] void* cublas_handle() const { return cublas_handle_; }
  [[nodiscard]] void* cudnn_handle() const { return cudnn_handle_; }

  /// The median of the repetitions, queued one behind the other, so that the host runs ahead where it can.
  Seconds time(const std::function<void()>& queue) const;

 private:
  const CudaLibraries& libraries_;
  int warmup_;
  std::vector<void*> events_;  // before, between and after the repetitions
  void* cublas_handle_ = nullptr;
  void* cudnn_handle_ = nullptr;
};

/// What the libraries call a precision.
struct CudaTypes {
  int cuda = 0;            // cudaDataType
  int cublas_compute = 0;  // cublasComputeType_t
  int cudnn = 0;           // cudnnDataType_t
  int cudnn_math = 0;      // cudnnMathType_t
  int format = 0;          // cudnnTensorFormat_t: channels last in half precision, as tensor units want them
};
CudaTypes cuda_types(Precision precision);

// The kernels of one layer; each is timed alone. std::runtime_error where a library refuses.

KernelTimes time_products(const CudaDevice& device, const Layer& layer, Precision precision, int batch);
KernelTimes time_convolution(const CudaDevice& device, const Layer& layer, Precision precision, int batch);
/// Nothing where cuDNN does not have it in that precision.
std::optional<KernelTimes> time_batch_norm(const CudaDevice& device, const Layer& layer, Precision precision,
                                           int batch);
/// As a copy that reads and writes as many bytes.
Seconds time_movement(const CudaDevice& device, Bytes moved);

}}  // namespace farandole::backend
