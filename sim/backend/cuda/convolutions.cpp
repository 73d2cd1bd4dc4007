// Convolutions and batch normalisation, by cuDNN.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "backend/cuda/device.hpp"

namespace farandole { inline namespace backend {
namespace {

using Extents = std::vector<int>;

void expect_cudnn(const Cudnn& cudnn, int status, std::string_view tried) {
  if (status != 0) throw std::runtime_error(fmt::format("cuDNN: {}: {}", tried, cudnn.error_text(status)));
}

/// One of cuDNN's descriptors.
class Descriptor {
 public:
  Descriptor(const Cudnn& cudnn, int (*create)(void**), int (*destroy)(void*)) : destroy_(destroy) {
    expect_cudnn(cudnn, create(&descriptor_), "making a descriptor");
  }
  ~Descriptor() { destroy_(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] void* get() const { return descriptor_; }

 private:
  int (*destroy_)(void*);
  void* descriptor_ = nullptr;
};

double elements(const Extents& extents) {
  double product = 1;
  for (const int extent : extents) product *= extent;
  return product;
}

/// Samples, channels and places. At least two extents of places, as cuDNN wants.
Extents with_batch(const std::vector<std::int64_t>& shape, int batch) {
  Extents extents{batch};
  for (const std::int64_t extent : shape) extents.push_back(static_cast<int>(extent));
  while (extents.size() < 4) extents.push_back(1);
  return extents;
}

/// A tensor and its memory.
struct Tensor4 {
  Tensor4(const CudaDevice& device, const CudaTypes& types, const Extents& extents, Bytes element)
      : shape(device.cudnn(), device.cudnn().create_tensor, device.cudnn().destroy_tensor),
        memory(device.runtime(), elements(extents) * element) {
    expect_cudnn(device.cudnn(),
                 device.cudnn().set_tensor(shape.get(), types.format, types.cudnn, static_cast<int>(extents.size()),
                                           extents.data()),
                 "describing a tensor");
  }
  Descriptor shape;
  DeviceMemory memory;
};

/// A convolution from an image to features, whichever of the two is a layer's input.
struct Convolution {
  Extents image;
  Extents features;
  Extents filter;
  Extents stride;
  Extents padding;
  int groups = 1;
};

/// Model files do not state stride and padding: they follow from the extents. The least padding that gives so many
/// features, half of it at each end; where it is odd, the image is longer by one, as frameworks pad it first.
void infer_step(Convolution& convolution, std::size_t axis) {
  int& image = convolution.image[axis];
  const int features = convolution.features[axis];
  const int filter = convolution.filter[axis];
  const int stride = std::max(1, static_cast<int>(std::lround(static_cast<double>(image) / features)));
  const int least = std::max(0, (features - 1) * stride + filter - image);
  const int below = features * stride + filter - image;
  const bool rounds_up = least % 2 == 1 && least + 1 < below;
  const int all = rounds_up ? least + 1 : least;
  if (all >= below) throw std::runtime_error("no stride and padding give its extents");
  image += all % 2;
  convolution.stride.push_back(stride);
  convolution.padding.push_back(all / 2);
}

Convolution convolution_of(const Layer& layer, int batch) {
  const bool transposed = layer.type.starts_with("conv_transpose");
  const auto& weights = layer.tensors.front().shape;
  if (layer.input_shape.size() + 1 != weights.size() || layer.output_shape.size() + 1 != weights.size()) {
    throw std::runtime_error("the model's file does not state its extents");
  }
  Convolution convolution;
  convolution.image = with_batch(transposed ? layer.output_shape : layer.input_shape, batch);
  convolution.features = with_batch(transposed ? layer.input_shape : layer.output_shape, batch);
  convolution.filter.assign(weights.begin(), weights.end());
  convolution.filter.resize(convolution.image.size(), 1);
  convolution.groups = convolution.image[1] / convolution.filter[1];
  for (std::size_t axis = 2; axis < convolution.image.size(); ++axis) infer_step(convolution, axis);
  return convolution;
}

/// A convolution and its data on the device.
class Convolving {
 public:
  Convolving(const CudaDevice& device, const Convolution& convolution, Precision precision)
      : device_(device),
        types_(cuda_types(precision)),
        image_(device, types_, convolution.image, element_size(precision)),
        features_(device, types_, convolution.features, element_size(precision)),
        filter_(device.cudnn(), device.cudnn().create_filter, device.cudnn().destroy_filter),
        filter_memory_(device.runtime(), elements(convolution.filter) * element_size(precision)),
        convolution_(device.cudnn(), device.cudnn().create_convolution, device.cudnn().destroy_convolution) {
    const Cudnn& cudnn = device.cudnn();
    constexpr int correlation = 1;  // CUDNN_CROSS_CORRELATION
    constexpr int fp32 = 0;         // CUDNN_DATA_FLOAT
    const Extents dilation(convolution.stride.size(), 1);
    expect_cudnn(cudnn,
                 cudnn.set_filter(filter_.get(), types_.cudnn, types_.format,
                                  static_cast<int>(convolution.filter.size()), convolution.filter.data()),
                 "describing a filter");
    expect_cudnn(cudnn,
                 cudnn.set_convolution(convolution_.get(), static_cast<int>(convolution.stride.size()),
                                       convolution.padding.data(), convolution.stride.data(), dilation.data(),
                                       correlation, fp32),
                 "describing a convolution");
    expect_cudnn(cudnn, cudnn.set_groups(convolution_.get(), convolution.groups), "describing a convolution");
  }

  [[nodiscard]] Seconds forward() const {
    const Cudnn& cudnn = device_.cudnn();
    return time(cudnn.find_forward, cudnn.forward, image(), filter(), features());
  }
  [[nodiscard]] Seconds input_gradient() const {
    const Cudnn& cudnn = device_.cudnn();
    return time(cudnn.find_input_gradient, cudnn.input_gradient, filter(), features(), image());
  }
  [[nodiscard]] Seconds weight_gradient() const {
    const Cudnn& cudnn = device_.cudnn();
    return time(cudnn.find_weight_gradient, cudnn.weight_gradient, image(), features(), filter());
  }

 private:
  struct Operand {
    void* shape;
    void* data;
  };
  [[nodiscard]] Operand image() const { return {image_.shape.get(), image_.memory.get()}; }
  [[nodiscard]] Operand features() const { return {features_.shape.get(), features_.memory.get()}; }
  [[nodiscard]] Operand filter() const { return {filter_.get(), filter_memory_.get()}; }

  /// By the algorithm that cuDNN finds the fastest.
  [[nodiscard]] Seconds time(Cudnn::Find* find, Cudnn::Convolve* convolve, const Operand& first, const Operand& second,
                             const Operand& result) const {
    const Cudnn& cudnn = device_.cudnn();
    expect_cudnn(cudnn, cudnn.set_math(convolution_.get(), types_.cudnn_math), "choosing units");
    std::array<CudnnAlgorithm, 8> found{};
    int count = 0;
    // all three searches have the convolution behind the first two operands
    expect_cudnn(cudnn,
                 find(device_.cudnn_handle(), first.shape, second.shape, convolution_.get(), result.shape,
                      int{found.size()}, &count, found.data()),
                 "looking for an algorithm");
    const auto end = found.begin() + count;
    const auto best = std::find_if(found.begin(), end, [](const CudnnAlgorithm& row) { return row.status == 0; });
    if (best == end) throw std::runtime_error("cuDNN has no algorithm for a convolution");
    expect_cudnn(cudnn, cudnn.set_math(convolution_.get(), best->math_type), "choosing units");
    const DeviceMemory workspace(device_.runtime(), Bytes(static_cast<double>(best->workspace)));
    const float one = 1;
    const float zero = 0;
    return device_.time([&] {
      expect_cudnn(
          cudnn,
          convolve(device_.cudnn_handle(), &one, first.shape, first.data, second.shape, second.data, convolution_.get(),
                   best->algorithm, workspace.get(), best->workspace, &zero, result.shape, result.data),
          "a convolution");
    });
  }

  const CudaDevice& device_;
  CudaTypes types_;
  Tensor4 image_;
  Tensor4 features_;
  Descriptor filter_;
  DeviceMemory filter_memory_;
  Descriptor convolution_;
};

}  // namespace

KernelTimes time_convolution(const CudaDevice& device, const Layer& layer, Precision precision, int batch) {
  const Convolving convolving(device, convolution_of(layer, batch), precision);
  const bool transposed = layer.type.starts_with("conv_transpose");
  const Seconds there = convolving.forward();
  const Seconds back = convolving.input_gradient();
  return {transposed ? back : there, convolving.weight_gradient(), transposed ? there : back, "cuDNN"};
}

std::optional<KernelTimes> time_batch_norm(const CudaDevice& device, const Layer& layer, Precision precision,
                                           int batch) {
  if (layer.input_shape.size() < 2) return std::nullopt;
  constexpr int persistent = 2;  // CUDNN_BATCHNORM_SPATIAL_PERSISTENT
  constexpr double epsilon = 1e-5;
  const CudaTypes types = cuda_types(precision);
  const Cudnn& cudnn = device.cudnn();
  const Extents extents = with_batch(layer.input_shape, batch);
  const Tensor4 input(device, types, extents, element_size(precision));
  const Tensor4 output(device, types, extents, element_size(precision));
  Extents channels(extents.size(), 1);
  channels[1] = extents[1];
  CudaTypes of_parameters = types;
  of_parameters.cudnn = 0;  // CUDNN_DATA_FLOAT, in mixed precision too
  const Tensor4 scale(device, of_parameters, channels, 4_B);
  const DeviceMemory bias(device.runtime(), extents[1] * 4_B);
  const DeviceMemory mean(device.runtime(), extents[1] * 4_B);
  const DeviceMemory variance(device.runtime(), extents[1] * 4_B);
  const DeviceMemory saved_mean(device.runtime(), extents[1] * 4_B);
  const DeviceMemory saved_inverse(device.runtime(), extents[1] * 4_B);
  const float one = 1;
  const float zero = 0;
  int status = 0;
  const Seconds forward = device.time([&] {
    if (status != 0) return;
    status = cudnn.normalise(device.cudnn_handle(), persistent, &one, &zero, input.shape.get(), input.memory.get(),
                             output.shape.get(), output.memory.get(), scale.shape.get(), scale.memory.get(), bias.get(),
                             0.1, mean.get(), variance.get(), epsilon, saved_mean.get(), saved_inverse.get());
  });
  const Seconds backward = device.time([&] {
    if (status != 0) return;
    status = cudnn.normalise_back(device.cudnn_handle(), persistent, &one, &zero, &one, &zero, input.shape.get(),
                                  input.memory.get(), output.shape.get(), output.memory.get(), output.shape.get(),
                                  output.memory.get(), scale.shape.get(), scale.memory.get(), mean.get(),
                                  variance.get(), epsilon, saved_mean.get(), saved_inverse.get());
  });
  if (status != 0) return std::nullopt;
  return KernelTimes{forward, backward, 0_s, "cuDNN"};
}

}}  // namespace farandole::backend
