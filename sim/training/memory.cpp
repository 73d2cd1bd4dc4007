#include "training/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "units/format.hpp"

namespace farandole { inline namespace training {
namespace {

bool is_half_size(Bytes element) {
  return element < element_size(GradientType::fp32);
}

GradientType parameter_type_of(const MemoryDemand& demand) {
  const bool was_cast =
      is_half_size(element_size(demand.precision)) && is_half_size(element_size(demand.gradient_type));
  return demand.parameter_type.value_or(was_cast ? demand.gradient_type : GradientType::fp32);
}

/// Nothing updates them, so no single precision is needed where computation is in half.
GradientType frozen_type_of(const MemoryDemand& demand) {
  const bool computes_in_half = is_half_size(element_size(demand.precision));
  return demand.parameter_type.value_or(computes_in_half ? GradientType::bf16 : GradientType::fp32);
}

/// Of single-precision parameters that are cast for computing, every rank keeps the cast ones; those that the optimizer
/// changes are shared as its state is.
Bytes parameters_of(double elements, GradientType type, const MemoryDemand& demand) {
  const Bytes kept = elements * element_size(type);
  const bool casts = !is_half_size(element_size(type)) && is_half_size(element_size(demand.precision));
  if (!casts) return kept * demand.sharding.share(3);
  const Bytes cast = elements * element_size(demand.precision);
  return kept * demand.sharding.share(1) + (demand.sharding.share(3) == 1 ? cast : 0_B);
}

Bytes optimizer_state_of(double elements, const MemoryDemand& demand) {
  const Bytes number = element_size(demand.optimizer_state_type);
  const int master = is_half_size(element_size(parameter_type_of(demand))) && !is_half_size(number) ? 1 : 0;
  return elements * (demand.optimizer.slots + master) * number * demand.sharding.share(1);
}

Bytes gathered(const Model& model, const MemoryDemand& demand) {
  if (demand.sharding.share(3) == 1) return 0_B;
  double outside = 0;
  std::map<std::string, int> numbers;
  std::map<int, double> units;
  for (const Layer& layer : model.layers) {
    const auto parameters = static_cast<double>(layer.parameters());
    if (layer.block.empty() || demand.blocks_per_unit == 0) {
      outside += parameters;
    } else {
      const int block = numbers.try_emplace(layer.block, static_cast<int>(numbers.size())).first->second;
      units[block / demand.blocks_per_unit] += parameters;
    }
  }
  std::array<double, 2> largest{};
  double all = 0;
  for (const auto& [unit, elements] : units) {
    all += elements;
    largest = {std::max(largest[0], elements), std::max(largest[1], std::min(largest[0], elements))};
  }
  const double kept = demand.sharding.kept > 0 ? all / demand.sharding.kept : 0;
  return (outside + largest[0] + largest[1] + kept) * element_size(demand.precision);
}

/// FSDP adds up what a backward pass leaves, in its precision; FSDP2 in that of the reduction, which is no shorter.
Bytes gradients_of(double elements, const MemoryDemand& demand) {
  const Bytes number = element_size(demand.gradient_type);
  const Bytes shard = elements * number * demand.sharding.share(2);
  if (!demand.adds_up_whole) return shard;
  return std::max(shard, elements * std::min(number, element_size(demand.precision)));
}

constexpr Bytes statistic = 4_B;  // single precision

bool is_loss(const Layer& layer) {
  return layer.type.ends_with("cross_entropy");
}

bool is_fused_loss(const Layer& layer) {
  return layer.type == "fused_cross_entropy";
}

Loss loss_of(const Layer& layer, std::optional<Loss> said) {
  return said.value_or(is_fused_loss(layer) ? Loss::fused : Loss::plain);
}

/// Of a plain loss, beside its gradients in single precision.
Bytes freed_logits_of(const Layer& layer, std::optional<Loss> said, Bytes element) {
  const bool are_cast = is_loss(layer) && loss_of(layer, said) == Loss::plain && element < statistic;
  return are_cast ? layer.input_elements * element : 0_B;
}

}  // namespace

std::span<const Optimizer> optimizers() {
  static const std::array<Optimizer, 3> rows{{{"sgd", 0}, {"momentum", 1}, {"adam", 2}}};
  return rows;
}

MemoryUse memory_use(const Model& model, const Device& device, const MemoryDemand& demand) {
  const auto elements = static_cast<double>(model.trainable_parameters());
  const double frozen = static_cast<double>(model.parameters()) - elements;
  MemoryUse use;
  use.parameters = parameters_of(elements, parameter_type_of(demand), demand) +
                   parameters_of(frozen, frozen_type_of(demand), demand);
  use.gradients = gradients_of(elements, demand);
  use.optimizer_state = optimizer_state_of(elements, demand);
  const auto activations = [&](std::optional<Bytes> input) {
    return demand.batch * activations_of_a_sample(model, element_size(demand.precision), demand.recompute,
                                                  demand.in_flight, input, demand.loss);
  };
  use.activations = activations({});
  if (demand.precision == Precision::fp8) use.spared = use.activations - activations(1_B);
  use.spared += demand.batch * freed_logits_of(model.layers.back(), demand.loss, element_size(demand.precision));
  // Assumed: a CUDA context with its kernels, some 0.5 GB, and as much of NCCL's buffers; of small devices a tenth.
  use.outside = device.asynchronous ? std::min(Bytes(1e9), device.memory / 10) : 0_B;
  use.fusion_buffers = demand.fusion_buffers;
  use.gathered = gathered(model, demand);
  use.server_shard = demand.server_shard;
  use.device = device.memory;
  return use;
}

std::string describe(const MemoryUse& use) {
  std::vector<std::string> parts;
  for (const auto& [name, size] :
       {std::pair{"parameters", use.parameters}, std::pair{"gradients", use.gradients},
        std::pair{"optimizer state", use.optimizer_state}, std::pair{"activations", use.activations},
        std::pair{"fusion buffers", use.fusion_buffers}, std::pair{"gathered parameters", use.gathered}}) {
    if (size > Bytes(0)) parts.push_back(fmt::format("{} {}", name, decimal(size)));
  }
  return fmt::format("{} = {}", decimal(use.total()), fmt::join(parts, " + "));
}

int largest_batch(const MemoryUse& use, int batch) {
  const Bytes room = use.device - use.outside - (use.total() - use.activations);
  if (room <= Bytes(0)) return 0;
  return std::min(batch, static_cast<int>(room / (use.activations / batch)));
}

std::vector<std::string> ways_to_fit(const MemoryUse& use, int ranks) {
  std::vector<std::string> ways;
  const Bytes shared = use.optimizer_state * (1 - 1.0 / ranks);
  if (ranks > 1 && use.total() - shared <= use.device - use.outside) {
    ways.push_back(fmt::format("a sharded optimizer, {} less on each of {} ranks", decimal(shared), ranks));
  }
  const double parts = std::ceil(use.total() / (use.device - use.outside));
  ways.push_back(fmt::format("model parallelism, the layers over at least {:.0f} devices", parts));
  return ways;
}

namespace {

/// What the backward pass of a layer needs. Types by how they begin; the first that fits.
struct Need {
  std::string_view type;
  bool input;
  bool output;
};

constexpr std::array needs{
    Need{"lora_add", false, false},      Need{"relu", false, true},         Need{"leaky_relu", false, true},
    Need{"softmax", false, true},        Need{"sigmoid", false, true},      Need{"tanh", false, true},
    Need{"attention", true, true},       Need{"dropout", false, false},     Need{"add", false, false},
    Need{"concat", false, false},        Need{"rotary", false, false},      Need{"embedding", false, false},
    Need{"flatten", false, false},       Need{"avg_pool", false, false},    Need{"adaptive_avg_pool", false, false},
    Need{"cross_entropy", false, false}, Need{"fused_cross", false, false}, Need{"", true, false}};

const Need& need_of(const Layer& layer) {
  return *std::ranges::find_if(needs, [&](const Need& row) { return layer.type.starts_with(row.type); });
}

constexpr Bytes mask_element = 1_B;

/// What it keeps of its logits, and works on besides, in bytes of activations of that size (Loss).
std::pair<Bytes, Bytes> logits_of(const Layer& layer, std::optional<Loss> said, Bytes element) {
  constexpr double chunks = 8;
  const Bytes all = layer.input_elements * element;
  const Bytes logarithms = layer.input_elements * statistic;
  const Bytes worked_on = 2 * logarithms + freed_logits_of(layer, said, element);
  switch (loss_of(layer, said)) {
    case Loss::plain:
      return {logarithms, worked_on};
    case Loss::fused:
      return {all, is_fused_loss(layer) ? 0_B : all};
    case Loss::chunked:
      return {0_B, (logarithms + worked_on + all) / chunks};
  }
  return {};
}

class Activations {
 public:
  Activations(const Model& model, Bytes element, Bytes input, Recompute recompute, std::optional<Loss> loss)
      : layers_(model.layers),
        element_(element),
        input_(input),
        loss_(loss),
        again_(recomputed(model, recompute)),
        recomputes_blocks_(recompute > Recompute::attention),
        first_(model.first_block_backward()) {}

  [[nodiscard]] Bytes most(int in_flight) const {
    Bytes kept = first_ == 0 ? layers_.front().input_elements * element_ : 0_B;
    Bytes most = kept;
    Bytes anew;  // of the block so far
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (begins_block(i)) anew = 0_B;
      kept += held(i);
      if (again_[i] && !ends_block(i)) anew += usual(i) - held(i);
      most = std::max(most, kept + (is_loss(layers_[i]) ? logits_of(layers_[i], loss_, element_).second : 0_B) + anew);
    }
    return most + (in_flight - 1) * kept;
  }

 private:
  [[nodiscard]] bool begins_block(std::size_t i) const { return i == 0 || layers_[i - 1].block != layers_[i].block; }
  [[nodiscard]] bool ends_block(std::size_t i) const {
    return i + 1 == layers_.size() || layers_[i + 1].block != layers_[i].block;
  }
  [[nodiscard]] bool output_needed(std::size_t i) const {
    if (i + 1 < first_) return false;
    if (i + 1 == layers_.size()) return !is_loss(layers_[i]);  // a loss is one number
    return (i >= first_ && need_of(layers_[i]).output) || (need_of(layers_[i + 1]).input && !only_frozen_read(i));
  }

  /// The gradient of a frozen product's input needs its weights alone. What is before it in the list is its input, but
  /// for another product, or what is made of one: then that is read later, and the input was made before that one.
  [[nodiscard]] bool only_frozen_read(std::size_t i) const {
    const Layer& made = layers_[i];
    if (!layers_[i + 1].frozen) return false;
    if (made.type == "lora_b") return true;
    if (is_product_with_weights(made) || made.type == "rotary" || made.type == "lora_add") return false;
    if (made.output_shape != layers_[i + 1].input_shape) return false;
    for (std::size_t reader = i + 1; reader < layers_.size() && !ends_branch(layers_[reader]); ++reader) {
      const bool trains = layers_[reader].trainable_parameters() > 0;
      if (trains && layers_[reader].input_shape == made.output_shape) return false;
    }
    return true;
  }

  /// What is behind it reads something else.
  static bool ends_branch(const Layer& layer) {
    return is_fused_attention(layer) || layer.type == "matmul" || layer.type.starts_with("add") ||
           layer.type.ends_with("norm");
  }

  /// Beside inputs and outputs.
  [[nodiscard]] Bytes kept_besides(const Layer& layer) const {
    if (layer.type == "dropout") return layer.output_elements * mask_element;
    if (is_loss(layer)) return logits_of(layer, loss_, element_).first;
    if (!is_fused_attention(layer) || layer.output_shape.empty()) return 0_B;
    return layer.output_elements / static_cast<double>(layer.output_shape.back()) * statistic;
  }
  [[nodiscard]] Bytes output(std::size_t i) const { return layers_[i].output_elements * element_; }

  /// Of a layer that is not computed anew.
  [[nodiscard]] Bytes usual(std::size_t i) const {
    if (i < first_) return output_needed(i) ? output(i) : 0_B;
    if (!output_needed(i)) return kept_besides(layers_[i]);
    const bool is_input = i + 1 < layers_.size() && is_product_with_weights(layers_[i + 1]);
    const bool is_of_a_product = is_input && !need_of(layers_[i]).output;
    return kept_besides(layers_[i]) + layers_[i].output_elements * (is_of_a_product ? input_ : element_);
  }

  /// From the pass forward to the pass backward. A block that is computed anew needs its input, the output of the layer
  /// before it; what is saved within it is kept whether or not anything needs it.
  [[nodiscard]] Bytes held(std::size_t i) const {
    if (i < first_) return usual(i);
    const Bytes besides = again_[i] ? 0_B : kept_besides(layers_[i]);
    if (ends_block(i) && is_recomputed_block(i + 1)) return besides + output(i);
    if (again_[i] && ends_block(i)) return output_needed(i) ? output(i) : 0_B;
    if (again_[i]) return recomputes_blocks_ || again_[i + 1] ? 0_B : usual(i) - kept_besides(layers_[i]);
    return is_recomputed_block(i) ? besides + output(i) : usual(i);
  }

  [[nodiscard]] bool is_recomputed_block(std::size_t i) const {
    return recomputes_blocks_ && i < layers_.size() && !layers_[i].block.empty();
  }

  const std::vector<Layer>& layers_;
  Bytes element_;
  Bytes input_;  // of what only a product needs
  std::optional<Loss> loss_;
  std::vector<bool> again_;
  bool recomputes_blocks_;  // from their inputs; else what is computed anew lies within one
  std::size_t first_;       // of the first block that has a backward pass
};

}  // namespace

Bytes activations_of_a_sample(const Model& model, Bytes element, Recompute recompute, int in_flight,
                              std::optional<Bytes> input, std::optional<Loss> loss) {
  return Activations(model, element, input.value_or(element), recompute, loss).most(in_flight);
}

}}  // namespace farandole::training
