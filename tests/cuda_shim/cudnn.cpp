// cuDNN in the shim.
#include <cstddef>
#include <string>
#include <vector>

#include "cuda_shim/cuda_shim.hpp"

using namespace cuda_shim;

namespace {

double element(int cudnn_type) {
  require(cudnn_type == 0 || cudnn_type == 2 || cudnn_type == 9, "a cuDNN type that is none");
  return cudnn_type == 0 ? 4 : 2;
}

struct Shape {
  std::vector<int> extents;
  int format = 0;
  int type = 0;
  [[nodiscard]] double elements() const {
    double product = 1;
    for (const int extent : extents) product *= extent;
    return product;
  }
  [[nodiscard]] double bytes() const { return elements() * element(type); }
};

struct Convolution {
  std::vector<int> padding;
  std::vector<int> stride;
  int groups = 1;
  int math = 0;
};

const Shape& shape(const void* descriptor) {
  require(descriptor != nullptr, "a descriptor that was not made");
  return *static_cast<const Shape*>(descriptor);
}

/// features = (image + 2 padding - filter) / stride + 1, rounded down, on every axis; channels and groups agree.
double convolve(const Shape& image, const Shape& filter, const Shape& features, const Convolution& convolution) {
  require(image.extents.size() == filter.extents.size() && image.extents.size() == features.extents.size(), "axes");
  require(image.type == filter.type && image.type == features.type && image.format == filter.format, "types");
  require(image.extents[0] == features.extents[0], "batch of a convolution");
  require(image.extents[1] == filter.extents[1] * convolution.groups, "channels of a convolution");
  require(features.extents[1] == filter.extents[0] && filter.extents[0] % convolution.groups == 0, "features");
  for (std::size_t i = 0; i + 2 < image.extents.size(); ++i) {
    const int places = image.extents[i + 2] + 2 * convolution.padding[i] - filter.extents[i + 2];
    require(features.extents[i + 2] == places / convolution.stride[i] + 1, "extents of a convolution");
  }
  return features.elements() * filter.elements() / filter.extents[0];
}

double rate_of(const Shape& image, const Convolution& convolution) {
  if (image.type != 0) return 100e12;
  return convolution.math == 3 ? 10e12 : 50e12;  // CUDNN_FMA_MATH: fp32; else tf32
}

struct Algorithm {  // cudnnConvolutionFwdAlgoPerf_t
  int algorithm;
  int status;
  float milliseconds;
  std::size_t workspace;
  int determinism;
  int math;
  int reserved[3];
};

/// The first is not there on this device, as cuDNN lists them too.
int find(const Convolution& convolution, int asked, int* found, Algorithm* algorithms) {
  require(asked >= 2, "room for algorithms");
  *found = 2;
  algorithms[0] = {0, 9, -1.0F, 0, 0, convolution.math, {}};
  algorithms[1] = {1, 0, 1.0F, 4096, 0, convolution.math, {}};
  return 0;
}

int carry_out(const Convolution& convolution, const Shape& image, const Shape& filter, const Shape& features,
              int algorithm, const void* workspace, std::size_t size) {
  require(algorithm == 1 && size == 4096, "the algorithm that was found");
  require_memory(workspace, 4096, "a workspace");
  work(convolve(image, filter, features, convolution), rate_of(image, convolution));
  return 0;
}

}  // namespace

extern "C" {

int cudnnCreate(void** handle) {
  return make<int>(handle);
}
int cudnnDestroy(void* handle) {
  return destroy<int>(handle);
}
std::size_t cudnnGetVersion() {
  return 90100;
}
const char* cudnnGetErrorString(int) {
  return "an error of cuDNN";
}
int cudnnCreateTensorDescriptor(void** tensor) {
  return make<Shape>(tensor);
}
int cudnnDestroyTensorDescriptor(void* tensor) {
  return destroy<Shape>(tensor);
}
int cudnnSetTensorNdDescriptorEx(void* tensor, int format, int type, int dimensions, const int* extents) {
  *static_cast<Shape*>(tensor) = {{extents, extents + dimensions}, format, type};
  return 0;
}
int cudnnCreateFilterDescriptor(void** filter) {
  return make<Shape>(filter);
}
int cudnnDestroyFilterDescriptor(void* filter) {
  return destroy<Shape>(filter);
}
int cudnnSetFilterNdDescriptor(void* filter, int type, int format, int dimensions, const int* extents) {
  *static_cast<Shape*>(filter) = {{extents, extents + dimensions}, format, type};
  return 0;
}
int cudnnCreateConvolutionDescriptor(void** convolution) {
  return make<Convolution>(convolution);
}
int cudnnDestroyConvolutionDescriptor(void* convolution) {
  return destroy<Convolution>(convolution);
}
int cudnnSetConvolutionNdDescriptor(void* convolution, int dimensions, const int* padding, const int* stride,
                                    const int* dilation, int mode, int compute) {
  require(mode == 1 && compute == 0 && dilation[0] == 1, "how a convolution is computed");
  *static_cast<Convolution*>(convolution) = {{padding, padding + dimensions}, {stride, stride + dimensions}};
  return 0;
}
int cudnnSetConvolutionGroupCount(void* convolution, int groups) {
  static_cast<Convolution*>(convolution)->groups = groups;
  return 0;
}
int cudnnSetConvolutionMathType(void* convolution, int math) {
  static_cast<Convolution*>(convolution)->math = math;
  return 0;
}

int cudnnFindConvolutionForwardAlgorithm(void*, const void* image, const void* filter, const void* convolution,
                                         const void* features, int asked, int* found, Algorithm* algorithms) {
  const auto& how = *static_cast<const Convolution*>(convolution);
  convolve(shape(image), shape(filter), shape(features), how);
  return find(how, asked, found, algorithms);
}
int cudnnFindConvolutionBackwardDataAlgorithm(void*, const void* filter, const void* features, const void* convolution,
                                              const void* image, int asked, int* found, Algorithm* algorithms) {
  const auto& how = *static_cast<const Convolution*>(convolution);
  convolve(shape(image), shape(filter), shape(features), how);
  return find(how, asked, found, algorithms);
}
int cudnnFindConvolutionBackwardFilterAlgorithm(void*, const void* image, const void* features, const void* convolution,
                                                const void* filter, int asked, int* found, Algorithm* algorithms) {
  const auto& how = *static_cast<const Convolution*>(convolution);
  convolve(shape(image), shape(filter), shape(features), how);
  return find(how, asked, found, algorithms);
}
int cudnnConvolutionForward(void*, const void*, const void* image, const void* x, const void* filter, const void* w,
                            const void* convolution, int algorithm, void* workspace, std::size_t size, const void*,
                            const void* features, void* y) {
  require_memory(x, shape(image).bytes(), "an image");
  require_memory(w, shape(filter).bytes(), "a filter");
  require_memory(y, shape(features).bytes(), "features");
  return carry_out(*static_cast<const Convolution*>(convolution), shape(image), shape(filter), shape(features),
                   algorithm, workspace, size);
}
int cudnnConvolutionBackwardData(void*, const void*, const void* filter, const void* w, const void* features,
                                 const void* dy, const void* convolution, int algorithm, void* workspace,
                                 std::size_t size, const void*, const void* image, void* dx) {
  require_memory(w, shape(filter).bytes(), "a filter");
  require_memory(dy, shape(features).bytes(), "features");
  require_memory(dx, shape(image).bytes(), "an image");
  return carry_out(*static_cast<const Convolution*>(convolution), shape(image), shape(filter), shape(features),
                   algorithm, workspace, size);
}
int cudnnConvolutionBackwardFilter(void*, const void*, const void* image, const void* x, const void* features,
                                   const void* dy, const void* convolution, int algorithm, void* workspace,
                                   std::size_t size, const void*, const void* filter, void* dw) {
  require_memory(x, shape(image).bytes(), "an image");
  require_memory(dy, shape(features).bytes(), "features");
  require_memory(dw, shape(filter).bytes(), "a filter");
  return carry_out(*static_cast<const Convolution*>(convolution), shape(image), shape(filter), shape(features),
                   algorithm, workspace, size);
}

int cudnnBatchNormalizationForwardTraining(void*, int mode, const void*, const void*, const void* input, const void* x,
                                           const void* output, void* y, const void* parameters, const void* scale,
                                           const void* bias, double, void* mean, void* variance, double epsilon,
                                           void* saved_mean, void* saved_inverse) {
  require(mode == 2 && epsilon >= 1e-5, "how batches are normalised");
  require(shape(parameters).type == 0 && shape(parameters).elements() == shape(input).extents[1], "parameters");
  require_memory(x, shape(input).bytes(), "a batch");
  require_memory(y, shape(output).bytes(), "a normalised batch");
  for (const void* each : {scale, bias, static_cast<const void*>(mean), static_cast<const void*>(variance),
                           static_cast<const void*>(saved_mean), static_cast<const void*>(saved_inverse)}) {
    require_memory(each, shape(parameters).bytes(), "parameters");
  }
  now += launch + 3 * shape(input).bytes() / bandwidth;
  return 0;
}
int cudnnBatchNormalizationBackward(void*, int mode, const void*, const void*, const void*, const void*,
                                    const void* input, const void* x, const void* gradient, const void* dy,
                                    const void* result, void* dx, const void* parameters, const void* scale,
                                    void* scale_gradient, void* bias_gradient, double, const void* saved_mean,
                                    const void* saved_inverse) {
  require(mode == 2, "how batches are normalised");
  require_memory(x, shape(input).bytes(), "a batch");
  require_memory(dy, shape(gradient).bytes(), "a gradient");
  require_memory(dx, shape(result).bytes(), "a gradient");
  for (const void* each : {scale, static_cast<const void*>(scale_gradient), static_cast<const void*>(bias_gradient),
                           saved_mean, saved_inverse}) {
    require_memory(each, shape(parameters).bytes(), "parameters");
  }
  now += launch + 5 * shape(input).bytes() / bandwidth;
  return 0;
}

}  // extern "C"
