#include "workload/kernels.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

namespace farandole { inline namespace workload {
bool is_convolution(const Layer& layer) {
  return layer.type.starts_with("conv") && !layer.tensors.empty() && layer.tensors.front().shape.size() > 2;
}

double columns_of(const Layer& layer) {
  const double products = layer.macs / layer.output_elements;
  const bool weighted = !layer.tensors.empty() && layer.tensors.front().shape.size() > 1;  // not by a bias alone
  if (weighted) return static_cast<double>(layer.tensors.front().elements()) / products;
  return layer.output_shape.empty() ? products : static_cast<double>(layer.output_shape.back());
}

namespace {

/// What a layer without arithmetic reads and writes, in halves of (input + output): 2 is input once and output once.
struct Moves {
  std::string_view type;
  double forward;
  double backward;
  bool pointwise = false;  // at the rate of transformers' layers
};

constexpr std::array moves{Moves{"batch_norm", 3, 5},
                           Moves{"relu", 2, 3},
                           Moves{"dropout", 2, 2, true},
                           Moves{"softmax", 2, 3, true},
                           Moves{"layer_norm", 2, 3, true},
                           Moves{"rms_norm", 2, 3, true},
                           Moves{"cross_entropy", 2, 3, true},
                           Moves{"fused_cross_entropy", 2, 3, true},
                           Moves{"gelu", 2, 3, true},
                           Moves{"silu", 2, 3, true},
                           Moves{"rotary", 2, 2, true},
                           Moves{"multiply", 3, 5, true},
                           Moves{"add", 3, 1, true},
                           Moves{"lora_add", 5, 5, true},
                           Moves{"flatten", 0, 0},
                           Moves{"", 2, 2}};

const Moves& moves_of(const Layer& layer) {
  return *std::ranges::find_if(moves, [&](const Moves& row) { return layer.type.starts_with(row.type); });
}

/// [outputs, inputs of a group, extents of the filter ...]; transposed, the first two have changed places.
struct Filter {
  double outputs = 1;
  double inputs = 1;  // of a group
  double groups = 1;
  double places_in = 1;
  bool fast = false;  // 3 x 3 or larger, moves by one
};

Filter filter_of(const Layer& layer) {
  const auto& shape = layer.tensors.front().shape;
  const bool transposed = layer.type.starts_with("conv_transpose");
  const auto inputs = static_cast<double>(shape[transposed ? 0 : 1]);
  Filter filter{static_cast<double>(shape[transposed ? 1 : 0]), inputs};
  if (!transposed && !layer.input_shape.empty())
    filter.groups = std::max(1.0, static_cast<double>(layer.input_shape.front()) / inputs);
  const bool large = std::all_of(shape.begin() + 2, shape.end(), [](std::int64_t extent) { return extent >= 3; });
  filter.places_in = layer.input_elements / (inputs * filter.groups);
  filter.fast = large && filter.groups == 1 && filter.places_in == layer.output_elements / filter.outputs;
  return filter;
}

/// h of workload/device.hpp.
double intensity(double outputs, double products) {
  return 2 * outputs * products / (outputs + products);
}

double saturation(double intensity, double half) {
  return intensity / (intensity + half);
}

bool on_vector_units(const KernelRates& rates, Precision precision) {
  return precision == Precision::fp32 || !rates.tensor_units;
}

const MathRates& math_of(const KernelRates& rates, Precision precision) {
  if (on_vector_units(rates, precision)) return rates.vector;
  return precision == Precision::tf32 ? rates.tensor32 : rates.tensor16;
}

/// Share of the peak, in multiply-adds of the layer's definition, where every multiprocessor is busy with full tiles.
double full_share(const Layer& layer, const KernelRates& rates, Precision precision) {
  const MathRates& math = math_of(rates, precision);
  if (!is_convolution(layer)) return math.matmul;
  const bool saves = filter_of(layer).fast && on_vector_units(rates, precision);
  return math.convolution * (saves ? rates.fast_filters : 1);
}

/// Of that, what the layer's shape lets them reach.
double reached_share(const Layer& layer, const KernelRates& rates, Precision precision) {
  const MathRates& math = math_of(rates, precision);
  const double products = layer.macs / layer.output_elements;
  if (!is_convolution(layer)) return saturation(intensity(columns_of(layer), products), math.matmul_half);
  const Filter filter = filter_of(layer);
  return saturation(intensity(filter.outputs / filter.groups, products), math.convolution_half);
}

/// A product of `places` rows a sample by `columns`, each the sum of so many `products`.
struct Product {
  double places;
  double columns;
  double products;
};

constexpr double tile = 128;  // rows and columns: the largest common one of cuBLAS and cuDNN

/// Of one tile.
Flop work_of_tile(const Product& product, int batch) {
  return Flop(2 * std::min(tile, product.places * batch) * std::min(tile, product.columns) * product.products);
}

struct Passes {
  Product forward;
  Product input_gradient;
};

Passes passes_of(const Layer& layer) {
  const double products = layer.macs / layer.output_elements;
  if (!is_convolution(layer)) {
    const double columns = columns_of(layer);
    const double places = layer.output_elements / columns;
    return {{places, columns, products}, {places, products, columns}};
  }
  const Filter filter = filter_of(layer);
  const double columns = filter.outputs / filter.groups;
  return {{layer.output_elements / filter.outputs, columns, products},
          {filter.places_in, filter.inputs, columns * products / filter.inputs}};
}

LayerTimes arithmetic(const Layer& layer, const Device& device, Precision precision, int batch) {
  const KernelRates& rates = *device.kernels;
  const FlopPerSecond full = device.peak.at(precision) * full_share(layer, rates, precision);
  const FlopPerSecond rate = full * reached_share(layer, rates, precision);
  const double activations = (layer.input_elements + layer.output_elements) * batch;
  const Bytes moved = (activations + static_cast<double>(layer.parameters())) * element_size(precision);
  const Flop work(2 * layer.macs * batch);  // a multiply-add is two operations
  const Seconds pass = rates.launch + std::max(work / rate, moved / (device.memory_bandwidth * rates.memory));
  if (device.multiprocessors == 0) return {pass, pass, pass};
  const FlopPerSecond one = full / device.multiprocessors;
  const Passes passes = passes_of(layer);
  return {pass + rates.tail * (work_of_tile(passes.forward, batch) / one), pass,
          pass + rates.tail * (work_of_tile(passes.input_gradient, batch) / one)};
}

bool is_normalisation(const Layer& layer) {
  return layer.type.starts_with("batch_norm");
}

bool is_relu(const Layer& layer) {
  return layer.type.starts_with("relu");
}

/// The part of the network that it is named as one of. Between two of them stands the sum with a shortcut, which no
/// list of layers has, and which no convolution computes.
std::string_view network_part_of(const Layer& layer) {
  return std::string_view(layer.name).substr(0, layer.name.rfind('.') + 1);
}

bool begins(const std::vector<Layer>& layers, std::size_t index, std::string_view type) {
  return index < layers.size() && layers[index].type.starts_with(type);
}

/// What a compiler of pointwise kernels leaves of `moves`.
Moves compiled(const std::vector<Layer>& layers, std::size_t index, Moves left) {
  left.pointwise = false;
  const bool gates = begins(layers, index + 1, "multiply") || begins(layers, index + 2, "multiply");
  if (left.type == "dropout" || (left.type == "silu" && gates)) return {left.type, 0, 0};
  const bool is_normalised = begins(layers, index + 1, "layer_norm") || begins(layers, index + 1, "rms_norm");
  if (left.type == "add" && is_normalised) left.forward -= 1;
  return left;
}

/// What is left to move of layer `index`.
Moves normalised(const std::vector<Layer>& layers, std::size_t index, Normalisation normalisation) {
  Moves left = moves_of(layers[index]);
  if (normalisation == Normalisation::separate || index == 0) return left;
  const Layer& before = layers[index - 1];
  if (is_relu(layers[index]) && is_normalisation(before)) return {left.type, 0, 0};
  const bool is_summed_up = is_normalisation(layers[index]) && is_convolution(before);
  if (!is_summed_up || normalisation == Normalisation::with_activation) return left;
  const bool is_applied = normalisation == Normalisation::in_convolution && index + 2 < layers.size() &&
                          is_relu(layers[index + 1]) && is_convolution(layers[index + 2]) &&
                          network_part_of(layers[index + 2]) == network_part_of(layers[index]);
  left.forward = is_applied ? 0 : left.forward - 1;
  return left;
}

Moves moves_of(const std::vector<Layer>& layers, std::size_t index, const Fusion& fusion) {
  if (!fusion.compiled) return normalised(layers, index, fusion.normalisation);
  const Normalisation at_least = std::max(fusion.normalisation, Normalisation::with_activation);
  return compiled(layers, index, normalised(layers, index, at_least));
}

LayerTimes movement(const Layer& layer, const Moves& row, const Device& device, Precision precision, int batch) {
  const KernelRates& rates = *device.kernels;
  if (row.backward == 0) return {};
  const BytesPerSecond rate = device.memory_bandwidth * (row.pointwise ? rates.pointwise : rates.memory);
  const Bytes half = (layer.input_elements + layer.output_elements) / 2 * batch * element_size(precision);
  return {rates.launch + row.forward * half / rate, rates.launch + row.backward * half / rate, 0_s};
}

}  // namespace

LayerTimes kernel_times(const std::vector<Layer>& layers, std::size_t index, const Device& device, Precision precision,
                        int batch, const Fusion& fusion) {
  const Layer& layer = layers[index];
  if (layer.macs > 0) return arithmetic(layer, device, precision, batch);
  return movement(layer, moves_of(layers, index, fusion), device, precision, batch);
}

Movement movement_of(const Layer& layer) {
  const Moves& row = moves_of(layer);
  const double half = (layer.input_elements + layer.output_elements) / 2;
  return {row.forward * half, row.backward * half};
}

ProductRate product_rate(const Device& device, Precision precision) {
  const FlopPerSecond peak = device.peak.at(precision);
  if (!device.kernels) return {peak * (device.assumed_efficiency > 0 ? device.assumed_efficiency : 1), 0};
  const MathRates& math = math_of(*device.kernels, precision);
  return {peak * math.matmul, math.matmul_half};
}

Seconds update_kernels(const Model& model, const Device& device) {
  const Bytes moved = 5.0 * static_cast<double>(model.trainable_parameters()) * element_size(Precision::fp32);
  return model.trainable_tensors() * device.kernels->launch +
         moved / (device.memory_bandwidth * device.kernels->memory);
}

namespace {

/// A multiply-add is two operations. Fused attention may skip what a mask hides, and then has fewer multiply-adds than
/// its two products of every query with every key: [heads, keys, ...] in, [heads, queries, width] out.
Flop forward_flops(const Layer& layer) {
  const bool known = is_fused_attention(layer) && layer.input_shape.size() == 3;
  const double keys = known ? static_cast<double>(layer.input_shape[1]) : 0;
  return Flop(2 * (known ? 2 * keys * layer.output_elements : layer.macs));
}

/// Times that of a forward pass; the gradients by inputs and by weights are as much each.
Flop all_passes(const Model& model, const std::function<Flop(const Layer&)>& forward) {
  const std::size_t first = model.first_backward();
  Flop sum;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    sum += (i < first ? 1 : layer.frozen ? 2 : 3) * forward(layer);
  }
  return sum;
}

}  // namespace

Flop model_flops(const Model& model) {
  return all_passes(model, forward_flops);
}

Flop causal_flops(const Model& model) {
  return all_passes(model, [](const Layer& layer) { return Flop(2 * layer.macs); });
}

Flop hardware_flops(const Model& model, Recompute recompute) {
  Flop sum = model_flops(model);
  const std::vector<bool> again = recomputed(model, recompute);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (again[i]) sum += forward_flops(model.layers[i]);
  }
  return sum;
}

}}  // namespace farandole::workload
