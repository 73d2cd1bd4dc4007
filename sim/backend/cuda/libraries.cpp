#include <array>
#include <span>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "backend/cuda/device.hpp"

namespace farandole { inline namespace backend {
namespace {

/// One shared library under the first name that the system knows; the version of CUDA decides which there is.
class Library {
 public:
  Library(std::span<const char* const> names, std::string& missing) : name_(names.front()), missing_(missing) {
    if (!missing.empty()) return;
    for (const char* name : names) {
      handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
    missing = fmt::format("{} is not found: {}", name_, dlerror());
  }

  template <class Function>
  void find(const char* name, Function*& function) const {
    if (!missing_.empty()) return;
    void* address = dlsym(handle_, name);
    if (address == nullptr) missing_ = fmt::format("{} has no {}", name_, name);
    function = reinterpret_cast<Function*>(address);
  }

 private:
  std::string name_;
  std::string& missing_;
  void* handle_ = nullptr;
};

constexpr std::array runtime_names{"libcudart.so", "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
constexpr std::array cublas_names{"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
constexpr std::array cudnn_names{"libcudnn.so", "libcudnn.so.9", "libcudnn.so.8"};

void open_runtime(CudaRuntime& runtime, std::string& missing) {
  const Library library(runtime_names, missing);
  library.find("cudaGetDeviceCount", runtime.get_device_count);
  library.find("cudaSetDevice", runtime.set_device);
  library.find("cudaDeviceGetAttribute", runtime.device_attribute);
  library.find("cudaGetDeviceProperties", runtime.device_properties);
  library.find("cudaMemGetInfo", runtime.memory_info);
  library.find("cudaMalloc", runtime.allocate);
  library.find("cudaFree", runtime.release);
  library.find("cudaMemcpy", runtime.copy);
  library.find("cudaMemcpyAsync", runtime.copy_later);
  library.find("cudaEventCreate", runtime.create_event);
  library.find("cudaEventDestroy", runtime.destroy_event);
  library.find("cudaEventRecord", runtime.record_event);
  library.find("cudaEventSynchronize", runtime.wait_for_event);
  library.find("cudaEventElapsedTime", runtime.elapsed);
  library.find("cudaGetErrorString", runtime.error_text);
  library.find("cudaRuntimeGetVersion", runtime.version);
}

void open_cublas(Cublas& cublas, std::string& missing) {
  const Library library(cublas_names, missing);
  library.find("cublasCreate_v2", cublas.create);
  library.find("cublasDestroy_v2", cublas.destroy);
  library.find("cublasGetVersion_v2", cublas.version);
  library.find("cublasGemmStridedBatchedEx", cublas.multiply);
}

void open_cudnn(Cudnn& cudnn, std::string& missing) {
  const Library library(cudnn_names, missing);
  library.find("cudnnCreate", cudnn.create);
  library.find("cudnnDestroy", cudnn.destroy);
  library.find("cudnnGetVersion", cudnn.version);
  library.find("cudnnGetErrorString", cudnn.error_text);
  library.find("cudnnCreateTensorDescriptor", cudnn.create_tensor);
  library.find("cudnnDestroyTensorDescriptor", cudnn.destroy_tensor);
  library.find("cudnnSetTensorNdDescriptorEx", cudnn.set_tensor);
  library.find("cudnnCreateFilterDescriptor", cudnn.create_filter);
  library.find("cudnnDestroyFilterDescriptor", cudnn.destroy_filter);
  library.find("cudnnSetFilterNdDescriptor", cudnn.set_filter);
  library.find("cudnnCreateConvolutionDescriptor", cudnn.create_convolution);
  library.find("cudnnDestroyConvolutionDescriptor", cudnn.destroy_convolution);
  library.find("cudnnSetConvolutionNdDescriptor", cudnn.set_convolution);
  library.find("cudnnSetConvolutionGroupCount", cudnn.set_groups);
  library.find("cudnnSetConvolutionMathType", cudnn.set_math);
  library.find("cudnnFindConvolutionForwardAlgorithm", cudnn.find_forward);
  library.find("cudnnFindConvolutionBackwardDataAlgorithm", cudnn.find_input_gradient);
  library.find("cudnnFindConvolutionBackwardFilterAlgorithm", cudnn.find_weight_gradient);
  library.find("cudnnConvolutionForward", cudnn.forward);
  library.find("cudnnConvolutionBackwardData", cudnn.input_gradient);
  library.find("cudnnConvolutionBackwardFilter", cudnn.weight_gradient);
  library.find("cudnnBatchNormalizationForwardTraining", cudnn.normalise);
  library.find("cudnnBatchNormalizationBackward", cudnn.normalise_back);
}

CudaLibraries open() {
  CudaLibraries libraries;
  open_runtime(libraries.runtime, libraries.missing);
  open_cublas(libraries.cublas, libraries.missing);
  open_cudnn(libraries.cudnn, libraries.missing);
  return libraries;
}

}  // namespace

const CudaLibraries& cuda_libraries() {
  static const CudaLibraries libraries = open();
  return libraries;
}

}}  // namespace farandole::backend
