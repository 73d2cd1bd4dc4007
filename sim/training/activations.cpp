#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "training/memory.hpp"

namespace farandole { inline namespace training {
namespace {

/// What the backward pass of a layer needs. Types by how they begin; the first that fits.
struct Need {
  std::string_view type;
  bool input;
  bool output;
};

constexpr std::array needs{Need{"relu", false, true},           Need{"leaky_relu", false, true},
                           Need{"softmax", false, true},        Need{"sigmoid", false, true},
                           Need{"tanh", false, true},           Need{"attention", true, true},
                           Need{"dropout", false, false},       Need{"add", false, false},
                           Need{"concat", false, false},        Need{"rotary", false, false},
                           Need{"embedding", false, false},     Need{"flatten", false, false},
                           Need{"avg_pool", false, false},      Need{"adaptive_avg_pool", false, false},
                           Need{"cross_entropy", false, false}, Need{"", true, false}};

const Need& need_of(const Layer& layer) {
  return *std::ranges::find_if(needs, [&](const Need& row) { return layer.type.starts_with(row.type); });
}

constexpr Bytes mask_element = 1_B;
constexpr Bytes statistic = 4_B;  // single precision

/// Beside inputs and outputs.
Bytes kept_besides(const Layer& layer) {
  if (layer.type == "dropout") return layer.output_elements * mask_element;
  if (layer.type == "cross_entropy") return layer.input_elements * statistic;
  if (!is_fused_attention(layer) || layer.output_shape.empty()) return 0_B;
  return layer.output_elements / static_cast<double>(layer.output_shape.back()) * statistic;
}

/// The gradient of the logarithms and that of the logits, in single precision, which are gone a moment later.
Bytes worked_on(const Layer& layer) {
  return layer.type == "cross_entropy" ? 2 * layer.input_elements * statistic : 0_B;
}

class Activations {
 public:
  Activations(const Model& model, Bytes element, Bytes input, Recompute recompute)
      : layers_(model.layers),
        element_(element),
        input_(input),
        again_(recomputed(model, recompute)),
        recomputes_(recompute != Recompute::none) {}

  [[nodiscard]] Bytes most(int in_flight) const {
    Bytes kept = layers_.front().input_elements * element_;
    Bytes most = kept;
    Bytes anew;  // of the block so far
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (begins_block(i)) anew = 0_B;
      kept += held(i);
      if (again_[i] && !ends_block(i)) anew += usual(i);
      most = std::max(most, kept + worked_on(layers_[i]) + anew);
    }
    return most + (in_flight - 1) * kept;
  }

 private:
  [[nodiscard]] bool begins_block(std::size_t i) const { return i == 0 || layers_[i - 1].block != layers_[i].block; }
  [[nodiscard]] bool ends_block(std::size_t i) const {
    return i + 1 == layers_.size() || layers_[i + 1].block != layers_[i].block;
  }
  [[nodiscard]] bool output_needed(std::size_t i) const {
    if (i + 1 == layers_.size()) return !layers_[i].type.ends_with("cross_entropy");  // a loss is one number
    return need_of(layers_[i]).output || need_of(layers_[i + 1]).input;
  }
  [[nodiscard]] Bytes output(std::size_t i) const { return layers_[i].output_elements * element_; }

  /// Of a layer that is not computed anew.
  [[nodiscard]] Bytes usual(std::size_t i) const {
    if (!output_needed(i)) return kept_besides(layers_[i]);
    const bool is_input = i + 1 < layers_.size() && is_product_with_weights(layers_[i + 1]);
    const bool is_of_a_product = is_input && !need_of(layers_[i]).output;
    return kept_besides(layers_[i]) + layers_[i].output_elements * (is_of_a_product ? input_ : element_);
  }

  /// From the pass forward to the pass backward. A block that is computed anew needs its input, the output of the layer
  /// before it; what is saved within it is kept whether or not anything needs it.
  [[nodiscard]] Bytes held(std::size_t i) const {
    const Bytes besides = again_[i] ? 0_B : kept_besides(layers_[i]);
    if (ends_block(i) && is_recomputed_block(i + 1)) return besides + output(i);
    if (again_[i]) return ends_block(i) && output_needed(i) ? output(i) : 0_B;
    return is_recomputed_block(i) ? besides + output(i) : usual(i);
  }

  [[nodiscard]] bool is_recomputed_block(std::size_t i) const {
    return recomputes_ && i < layers_.size() && !layers_[i].block.empty();
  }

  const std::vector<Layer>& layers_;
  Bytes element_;
  Bytes input_;  // of what only a product needs
  std::vector<bool> again_;
  bool recomputes_;
};

}  // namespace

Bytes activations_of_a_sample(const Model& model, Bytes element, Recompute recompute, int in_flight,
                              std::optional<Bytes> input) {
  return Activations(model, element, input.value_or(element), recompute).most(in_flight);
}

}}  // namespace farandole::training
