#include "backend/compute_bench.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/cuda/device.hpp"
#include "workload/kernels.hpp"

namespace farandole { inline namespace backend {
namespace {

struct TypeRow {
  Precision precision;
  CudaTypes types;
};

// cudaDataType, cublasComputeType_t, cudnnDataType_t, cudnnMathType_t, cudnnTensorFormat_t
constexpr std::array type_rows{TypeRow{Precision::fp32, {0, 68, 0, 3, 0}},  // CUBLAS_COMPUTE_32F, CUDNN_FMA_MATH
                               TypeRow{Precision::tf32, {0, 77, 0, 0, 0}},  // CUBLAS_COMPUTE_32F_FAST_TF32
                               TypeRow{Precision::fp16, {2, 68, 2, 1, 1}},  // CUDNN_TENSOR_OP_MATH
                               TypeRow{Precision::bf16, {14, 68, 9, 1, 1}}};

const TypeRow* row_of(Precision precision) {
  const auto* row = std::ranges::find(type_rows, precision, &TypeRow::precision);
  return row == type_rows.end() ? nullptr : row;
}

/// All that the time of a layer depends on.
std::string key_of(const Layer& layer) {
  std::string weights;
  for (const Tensor& tensor : layer.tensors) weights += fmt::format("[{}]", fmt::join(tensor.shape, ","));
  return fmt::format("{} {} [{}] [{}] {} {} {}", layer.type, layer.macs, fmt::join(layer.input_shape, ","),
                     fmt::join(layer.output_shape, ","), layer.input_elements, layer.output_elements, weights);
}

KernelTimes time_layer(const CudaDevice& device, const Layer& layer, Precision precision, int batch) {
  if (layer.macs > 0) {
    return is_convolution(layer) ? time_convolution(device, layer, precision, batch)
                                 : time_products(device, layer, precision, batch);
  }
  if (layer.type.starts_with("batch_norm")) {
    if (const auto times = time_batch_norm(device, layer, precision, batch)) return *times;
  }
  const Movement moved = movement_of(layer);
  if (moved.forward == 0) return {0_s, 0_s, 0_s, "nothing"};
  const Bytes element = batch * element_size(precision);
  return {time_movement(device, moved.forward * element), time_movement(device, moved.backward * element), 0_s, "copy"};
}

/// The same; an error names the layer.
KernelTimes time_or_name(const CudaDevice& device, const Layer& layer, Precision precision, int batch) {
  try {
    return time_layer(device, layer, precision, batch);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(
        fmt::format("layer {} in {} at batch {}: {}", layer.name, name(precision), batch, error.what()));
  }
}

Seconds time_update(const CudaDevice& device, const Model& model) {
  std::map<std::int64_t, Seconds> known;  // by elements
  Seconds sum;
  for (const Layer& layer : model.layers) {
    for (const Tensor& tensor : layer.tensors) {
      const auto [place, is_new] = known.try_emplace(tensor.elements());
      // weights, gradients and momentum are read, weights and momentum written
      if (is_new) place->second = time_movement(device, 5.0 * static_cast<double>(tensor.elements()) * 4_B);
      sum += place->second;
    }
  }
  return sum;
}

TimedModel time_model(const CudaDevice& device, const Model& model, Precision precision, int batch) {
  TimedModel timed{precision, batch, {}, {}};
  std::map<std::string, KernelTimes> known;
  bool needs_gradient = false;  // nothing before the first weights does, and there only by the weights
  for (const Layer& layer : model.layers) {
    const auto [place, is_new] = known.try_emplace(key_of(layer));
    if (is_new) place->second = time_or_name(device, layer, precision, batch);
    const KernelTimes& times = place->second;
    const bool has_weights = needs_gradient || !layer.tensors.empty();
    Seconds backward = has_weights ? times.weight_gradient : 0_s;
    if (needs_gradient) backward += times.input_gradient;
    needs_gradient = has_weights;
    timed.layers.push_back({layer.name, times.forward, backward, times.by});
  }
  timed.update = time_update(device, model);
  return timed;
}

}  // namespace

Seconds TimedModel::forward() const {
  Seconds sum;
  for (const TimedLayer& layer : layers) sum += layer.forward;
  return sum;
}

Seconds TimedModel::backward() const {
  Seconds sum;
  for (const TimedLayer& layer : layers) sum += layer.backward;
  return sum;
}

CudaTypes cuda_types(Precision precision) {
  const TypeRow* row = row_of(precision);
  if (row == nullptr) throw std::invalid_argument("no kernels of " + name(precision));
  return row->types;
}

std::string missing_for_compute() {
  return cuda_libraries().missing;
}

GpuDescription gpu_of_this_machine() {
  return CudaDevice(0, 1).describe();
}

bool can_time(Precision precision) {
  return row_of(precision) != nullptr;
}

TimedKernels time_kernels(const Model& model, const ComputeRequest& request) {
  const CudaDevice device(request.warmup, request.repetitions);
  TimedKernels timed{device.describe(), {}};
  for (const Precision precision : request.precisions) {
    for (const int batch : request.batches) timed.models.push_back(time_model(device, model, precision, batch));
  }
  return timed;
}

}}  // namespace farandole::backend
