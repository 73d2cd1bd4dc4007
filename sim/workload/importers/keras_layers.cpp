#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "config/error.hpp"
#include "units/count.hpp"
#include "workload/importers/imported_model.hpp"

namespace farandole { inline namespace workload {
namespace {

using Whole = std::int64_t;

/// Beyond all parameters and multiply-adds, and so far below what 64 bits hold that some of it can be added up.
constexpr Whole beyond = Whole{1} << 60U;
constexpr Whole most_macs = Whole{1} << 53U;

/// At most `beyond`.
Whole product(const Extents& factors) {
  units::Count all = 1;
  for (const Whole factor : factors) all *= factor;
  return std::min(all.number(), beyond);
}

Whole channels(const Extents& shape) {
  return shape.back();
}

Whole positions(const Extents& shape) {
  return product(shape) / channels(shape);
}

[[noreturn]] void refuse_layer(const KerasSite& site, std::string_view expected) {
  throw InputError(fmt::format("{}:{}: expected {} of {}, a {} from {} to {} values, got {}", site.file, site.row->line,
                               expected, quoted(site.row->name), site.row->kind, product(site.input),
                               product(site.output), site.row->parameters));
}

Tensor tensor(const KerasSite& site, std::string_view what, Extents shape) {
  return {fmt::format("{}/{}", site.row->name, what), std::move(shape)};
}

/// [3, 3] of 9, [7] of 7: a square where it can be one.
Extents kernel_extents(Whole area) {
  const auto root = static_cast<Whole>(std::llround(std::sqrt(static_cast<double>(area))));
  return root * root == area ? Extents{root, root} : Extents{area};
}

bool is_square(Whole number) {
  return kernel_extents(number).size() == 2;
}

struct Kernel {
  Whole area = 0;
  bool has_bias = false;
};

/// From parameters = area x each + rest + (a bias?): with a bias where both fit, unless only without it the area is a
/// square, as most kernels are.
Kernel kernel_of(const KerasSite& site, Whole each, Whole rest, Whole bias) {
  const auto area_of = [&](Whole own) { return own > 0 && own % each == 0 ? own / each : Whole{0}; };
  const Whole with = area_of(site.row->parameters - rest - bias);
  const Whole without = area_of(site.row->parameters - rest);
  if (with == 0 && without == 0) refuse_layer(site, "the parameters of a kernel, with or without a bias,");
  const bool has_bias = with > 0 && (without == 0 || is_square(with) || !is_square(without));
  return {has_bias ? with : without, has_bias};
}

Extents joined(Extents first, std::initializer_list<Whole> last) {
  first.insert(first.end(), last);
  return first;
}

void add_bias(const KerasSite& site, bool has_bias, Whole size, KerasParts& parts) {
  if (has_bias) parts.tensors.push_back(tensor(site, "bias", {size}));
}

template <bool is_transposed>
void convolution(const KerasSite& site, KerasParts& parts) {
  const Whole in = channels(site.input);
  const Whole out = channels(site.output);
  const Kernel kernel = kernel_of(site, product({in, out}), 0, out);
  const Extents extents = kernel_extents(kernel.area);
  parts.tensors = {tensor(site, "kernel", is_transposed ? joined(extents, {out, in}) : joined(extents, {in, out}))};
  parts.macs = product({kernel.area, in, out, positions(is_transposed ? site.input : site.output)});
  add_bias(site, kernel.has_bias, out, parts);
}

void depthwise_convolution(const KerasSite& site, KerasParts& parts) {
  const Whole in = channels(site.input);
  const Whole out = channels(site.output);
  const Kernel kernel = kernel_of(site, out, 0, out);
  parts.tensors = {tensor(site, "depthwise_kernel", joined(kernel_extents(kernel.area), {in, out / in}))};
  parts.macs = product({kernel.area, out, positions(site.output)});
  add_bias(site, kernel.has_bias, out, parts);
}

/// Each channel for itself, then all together: k c + c f parameters.
void separable_convolution(const KerasSite& site, KerasParts& parts) {
  const Whole in = channels(site.input);
  const Whole out = channels(site.output);
  const Kernel kernel = kernel_of(site, in, product({in, out}), out);
  parts.tensors = {tensor(site, "depthwise_kernel", joined(kernel_extents(kernel.area), {in, 1})),
                   tensor(site, "pointwise_kernel", {1, 1, in, out})};
  parts.macs = product({product({kernel.area, in}) + product({in, out}), positions(site.output)});
  add_bias(site, kernel.has_bias, out, parts);
}

void dense(const KerasSite& site, KerasParts& parts) {
  const Whole in = channels(site.input);
  const Whole out = channels(site.output);
  const Whole weights = product({in, out});
  const bool has_bias = site.row->parameters == weights + out;
  if (!has_bias && site.row->parameters != weights) refuse_layer(site, "inputs x units parameters, or units more,");
  parts.tensors = {tensor(site, "kernel", {in, out})};
  parts.macs = product({in, product(site.output)});
  add_bias(site, has_bias, out, parts);
}

/// `trained` of up to two vectors; batch normalisation has two more that are statistics.
template <Whole statistics>
void normalisation(const KerasSite& site, KerasParts& parts) {
  const Whole size = channels(site.output);
  const Whole trained = site.row->parameters - statistics * size;
  if (trained != 0 && trained != size && trained != 2 * size) {
    refuse_layer(site, fmt::format("{} to {} parameters per channel", statistics, statistics + 2));
  }
  // With one of the two it is the offset, as Keras's own networks have it.
  if (trained == 2 * size) parts.tensors.push_back(tensor(site, "gamma", {size}));
  if (trained >= size) parts.tensors.push_back(tensor(site, "beta", {size}));
}

void embedding(const KerasSite& site, KerasParts& parts) {
  const Whole size = channels(site.output);
  if (site.row->parameters % size != 0) refuse_layer(site, "words x size parameters");
  parts.tensors = {tensor(site, "embeddings", {site.row->parameters / size, size})};
}

/// gates x units x (inputs + units), and one or two biases of gates x units.
template <Whole gates>
void recurrent(const KerasSite& site, KerasParts& parts) {
  const Whole in = channels(site.input);
  const Whole units = channels(site.output);
  const Whole each = gates * units;
  const Whole bias = site.row->parameters - product({each, in + units});
  if (bias != 0 && bias != each && bias != 2 * each)
    refuse_layer(site, "gates x units x (inputs + units) parameters and biases");
  parts.tensors = {tensor(site, "kernel", {in, each}), tensor(site, "recurrent_kernel", {units, each})};
  parts.macs = product({positions(site.input), each, in + units});
  if (bias > 0) parts.tensors.push_back(tensor(site, "bias", {bias}));
}

void slope(const KerasSite& site, KerasParts& parts) {
  parts.tensors = {tensor(site, "alpha", {site.row->parameters})};
}

void nothing(const KerasSite& /*site*/, KerasParts& /*parts*/) {}

struct KerasClass {
  std::string_view name;
  std::string_view type;
  void (*fill)(const KerasSite&, KerasParts&);
};

constexpr std::array classes{
    KerasClass{"Dense", "linear", dense},
    KerasClass{"Conv1D", "conv1d", convolution<false>},
    KerasClass{"Conv2D", "conv2d", convolution<false>},
    KerasClass{"Conv3D", "conv3d", convolution<false>},
    KerasClass{"Convolution2D", "conv2d", convolution<false>},
    KerasClass{"Conv1DTranspose", "conv_transpose1d", convolution<true>},
    KerasClass{"Conv2DTranspose", "conv_transpose2d", convolution<true>},
    KerasClass{"Conv3DTranspose", "conv_transpose3d", convolution<true>},
    KerasClass{"DepthwiseConv1D", "depthwise_conv1d", depthwise_convolution},
    KerasClass{"DepthwiseConv2D", "depthwise_conv2d", depthwise_convolution},
    KerasClass{"SeparableConv1D", "separable_conv1d", separable_convolution},
    KerasClass{"SeparableConv2D", "separable_conv2d", separable_convolution},
    KerasClass{"BatchNormalization", "batch_norm2d", normalisation<2>},
    KerasClass{"BatchNormalizationV1", "batch_norm2d", normalisation<2>},
    KerasClass{"LayerNormalization", "layer_norm", normalisation<0>},
    KerasClass{"GroupNormalization", "group_norm", normalisation<0>},
    KerasClass{"Embedding", "embedding", embedding},
    KerasClass{"LSTM", "lstm", recurrent<4>},
    KerasClass{"CuDNNLSTM", "lstm", recurrent<4>},
    KerasClass{"GRU", "gru", recurrent<3>},
    KerasClass{"CuDNNGRU", "gru", recurrent<3>},
    KerasClass{"SimpleRNN", "rnn", recurrent<1>},
    KerasClass{"PReLU", "prelu", slope},
    KerasClass{"ReLU", "relu", nothing},
    KerasClass{"MaxPooling1D", "max_pool1d", nothing},
    KerasClass{"MaxPooling2D", "max_pool2d", nothing},
    KerasClass{"MaxPooling3D", "max_pool3d", nothing},
    KerasClass{"AveragePooling2D", "avg_pool2d", nothing},
    KerasClass{"GlobalAveragePooling2D", "adaptive_avg_pool2d", nothing},
};

/// The class of that name; where the table cut it short, the one that begins so. Null where there is none, or several.
const KerasClass* find_class(const KerasRow& row) {
  const KerasClass* found = nullptr;
  for (const KerasClass& candidate : classes) {
    if (!row.is_cut && candidate.name == row.kind) return &candidate;
    if (!row.is_cut || !candidate.name.starts_with(row.kind)) continue;
    if (found != nullptr && found->type != candidate.type) return nullptr;
    found = &candidate;
  }
  return found;
}

}  // namespace

KerasParts parts_of(const KerasSite& site) {
  const KerasRow& row = *site.row;
  const KerasClass* known = find_class(row);
  if (known == nullptr && row.parameters > 0) {
    constexpr std::string_view nested = "; summary(expand_nested=True) shows the layers within models";
    throw InputError(fmt::format(
        "{}:{}: expected a class of layers whose tensors follow from their number, got {} with {} parameters{}",
        site.file, row.line, quoted(row.kind), row.parameters, row.is_cut ? keras_wider : nested));
  }
  KerasParts parts;
  parts.type = known != nullptr ? std::string(known->type) : snake_case(row.kind);
  if (known != nullptr && row.parameters > 0) known->fill(site, parts);
  if (parts.macs > most_macs) refuse_layer(site, "at most 2^53 multiply-adds");
  return parts;
}

bool moves_nothing(const KerasRow& row) {
  constexpr std::array names{"InputLayer", "Flatten", "Reshape"};
  return row.parameters == 0 && std::ranges::find(names, row.kind) != names.end();
}

}}  // namespace farandole::workload
