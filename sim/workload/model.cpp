#include "workload/model.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/recompute.hpp"

namespace farandole { inline namespace workload {
namespace {

template <class Part, class Count>
std::int64_t sum_over(const std::vector<Part>& parts, Count count) {
  std::int64_t sum = 0;
  for (const Part& part : parts) sum += std::invoke(count, part);
  return sum;
}

}  // namespace

std::int64_t Tensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Layer::parameters() const {
  return sum_over(tensors, &Tensor::elements);
}

std::int64_t Layer::trainable_parameters() const {
  return sum_over(tensors, [](const Tensor& tensor) { return tensor.trainable ? tensor.elements() : 0; });
}

std::int64_t Model::parameters() const {
  return sum_over(layers, &Layer::parameters);
}

std::int64_t Model::trainable_parameters() const {
  return sum_over(layers, &Layer::trainable_parameters);
}

int Model::tensors() const {
  return static_cast<int>(sum_over(layers, [](const Layer& layer) { return std::ssize(layer.tensors); }));
}

int Model::trainable_tensors() const {
  return static_cast<int>(
      sum_over(layers, [](const Layer& layer) { return std::ranges::count_if(layer.tensors, &Tensor::trainable); }));
}

std::size_t Model::first_backward() const {
  if (hands_back || is_trained_whole()) return 0;
  const auto trains = [](const Layer& layer) { return layer.trainable_parameters() > 0; };
  return static_cast<std::size_t>(std::ranges::find_if(layers, trains) - layers.begin());
}

std::size_t Model::first_block_backward() const {
  std::size_t first = first_backward();
  if (first == layers.size() || layers[first].block.empty()) return first;
  while (first > 0 && layers[first - 1].block == layers[first].block) --first;
  return first;
}

double Model::macs() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.macs;
  return sum;
}

SplitModel share_experts(const Model& model, int ranks, double imbalance) {
  SplitModel result{model, "1 with a model that has no layers of experts"};
  for (Layer& layer : result.model.layers) {
    if (layer.experts == 0) continue;
    result.refusal.clear();
    if (layer.experts % ranks != 0) {
      result.refusal = fmt::format("a divisor of the {} experts of {}", layer.experts, layer.name);
      break;
    }
    for (Tensor& tensor : layer.tensors) {
      if (tensor.shape.front() == layer.experts) tensor.shape.front() /= ranks;
    }
    layer.experts /= ranks;
    for (double Layer::*part :
         {&Layer::macs, &Layer::input_elements, &Layer::output_elements, &Layer::dispatched, &Layer::combined}) {
      layer.*part *= imbalance;
    }
  }
  result.model.name += fmt::format(", experts over {}", ranks);  // what was measured is of the whole model
  return result;
}

namespace {

/// Products that a layer's outputs each sum.
std::int64_t summed_inputs_of(const Layer& layer) {
  return static_cast<std::int64_t>(std::llround(layer.macs / layer.output_elements));
}

std::int64_t rank_part_of(std::int64_t extent, int ranks) {
  return (extent + ranks - 1) / ranks;
}

/// Of a weight the extent that is (`by_inputs`) or is not the layer's inputs; of a square one the second or the first.
void split_weight(Tensor& weight, std::int64_t inputs, bool by_inputs, int ranks) {
  auto& shape = weight.shape;
  if (shape.size() == 1 && !by_inputs) shape[0] = rank_part_of(shape[0], ranks);
  if (shape.size() != 2) return;
  const std::size_t of_inputs = shape[1] == inputs ? 1 : 0;
  std::int64_t& extent = shape[by_inputs ? of_inputs : 1 - of_inputs];
  extent = rank_part_of(extent, ranks);
}

/// The last extent are columns; where there are three, the first are heads.
void split_shape(std::vector<std::int64_t>& shape, int ranks) {
  if (shape.empty()) return;
  std::int64_t& extent = shape.size() == 3 ? shape.front() : shape.back();
  extent = rank_part_of(extent, ranks);
}

constexpr const char* transformer = "a transformer, whose blocks are branches of products that end in a residual sum";

class Splitter {
 public:
  Splitter(const Model& model, int ranks, bool sequence_parallel)
      : result_{model, {}}, layers_(result_.model.layers), ranks_(ranks), shares_tokens_(sequence_parallel) {}

  SplitModel run() {
    is_split_.assign(layers_.size(), false);
    split_words();
    for (std::size_t begin = 0; begin < layers_.size() && result_.refusal.empty();) {
      std::size_t end = begin + 1;
      while (end < layers_.size() && layers_[end].block == layers_[begin].block) ++end;
      if (!layers_[begin].block.empty()) split_block(begin, end);
      begin = end;
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].type == "lora_a") split_adapter(i);
    }
    if (!has_branches_) refuse(transformer);
    if (shares_tokens_) share_tokens();
    result_.model.name += fmt::format("/{}", ranks_);  // what was measured is of the whole model
    return std::move(result_);
  }

 private:
  void refuse(std::string expected) {
    if (result_.refusal.empty()) result_.refusal = std::move(expected);
  }

  void split_block(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_residual_sum(layers_[i])) continue;
      split_branch(begin, i);
      begin = i + 1;
    }
    const auto from = layers_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = layers_.begin() + static_cast<std::ptrdiff_t>(end);
    if (std::any_of(from, to, is_product_with_weights)) refuse(transformer);
  }

  /// Not one of heads by tokens by tokens.
  static bool is_residual_sum(const Layer& layer) {
    return layer.type.starts_with("add") && layer.output_shape.size() < 3;
  }

  /// From the first product with weights up to the last.
  void split_branch(std::size_t begin, std::size_t end) {
    std::size_t first = end;
    std::size_t last = end;
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_product_with_weights(layers_[i])) continue;
      if (first == end) first = i;
      last = i;
    }
    if (first == last) return refuse(fmt::format("two products in the branch that ends in {}", layers_[end].name));
    has_branches_ = true;
    layers_[first].gathers = layers_[first].input_elements;
    layers_[last].sums = layers_[last].output_elements;
    for (std::size_t i = first; i <= last && result_.refusal.empty(); ++i) {
      is_split_[i] = true;
      if (i == last) {
        split_product(layers_[i], true);
      } else if (is_product_with_weights(layers_[i])) {
        if (layers_[i].input_elements != layers_[first].gathers) {
          return refuse(fmt::format("a branch whose products read one input, not {}", layers_[i].name));
        }
        split_product(layers_[i], false);
      } else if (!layers_[i].type.starts_with("lora")) {
        split_between(layers_[i]);
      }
    }
  }

  void expect_divides(std::int64_t extent, const Layer& layer, const char* what) {
    if (extent % ranks_ != 0) refuse(fmt::format("a divisor of the {} {} of {}", extent, what, layer.name));
  }

  /// By outputs, or by inputs: then every rank adds its part of the sums, and the bias comes after.
  void split_product(Layer& layer, bool by_inputs) {
    const std::int64_t inputs = summed_inputs_of(layer);
    if (by_inputs) expect_divides(inputs, layer, "inputs");
    if (!by_inputs && !layer.output_shape.empty()) expect_divides(layer.output_shape.back(), layer, "columns");
    for (Tensor& tensor : layer.tensors) split_weight(tensor, inputs, by_inputs, ranks_);
    split_shape(by_inputs ? layer.input_shape : layer.output_shape, ranks_);
    (by_inputs ? layer.input_elements : layer.output_elements) /= ranks_;
    layer.macs /= ranks_;
  }

  void split_between(Layer& layer) {
    if (layer.output_shape.size() == 3) expect_divides(layer.output_shape.front(), layer, "heads");
    split_shape(layer.input_shape, ranks_);
    split_shape(layer.output_shape, ranks_);
    layer.input_elements /= ranks_;
    layer.output_elements /= ranks_;
    layer.macs /= ranks_;
  }

  /// A, B, the layer that they stand beside, and the sum. Where that is split by its outputs, so is B; where by its
  /// inputs, so is A, and of B's sums every rank makes those of its tokens. The other matrix every rank has whole.
  void split_adapter(std::size_t at) {
    Layer& a = layers_[at];
    Layer& b = layers_[at + 1];
    if (!is_split_[at + 2]) return;
    is_split_[at] = is_split_[at + 1] = true;
    if (layers_[at + 2].sums > 0) {
      split_product(a, true);
      a.sums = a.output_elements;
      if (!shares_tokens_) return;
      for (double Layer::*part : {&Layer::macs, &Layer::input_elements, &Layer::output_elements}) b.*part /= ranks_;
      return;
    }
    split_product(b, false);
    b.gathers = b.input_elements;
    is_split_[at + 3] = true;
    split_between(layers_[at + 3]);
  }

  /// The embedding of the most words, the product that gives a number for each of them, and what is made of these.
  void split_words() {
    std::int64_t words = 0;
    Layer* embedding = nullptr;
    for (Layer& layer : layers_) {
      if (!layer.type.starts_with("embedding") || layer.tensors.empty()) continue;
      const std::int64_t rows = layer.tensors.front().shape.front();
      if (rows > words) embedding = &layer;
      words = std::max(words, rows);
    }
    if (embedding == nullptr) return;
    embedding->tensors.front().shape.front() = rank_part_of(words, ranks_);
    embedding->sums = embedding->output_elements;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Layer& layer = layers_[i];
      if (!layer.block.empty() || layer.output_shape.empty() || layer.output_shape.back() != words) continue;
      const double share = static_cast<double>(rank_part_of(words, ranks_)) / static_cast<double>(words);
      is_split_[i] = true;
      if (layer.macs > 0) {
        layer.gathers = layer.input_elements;
        for (Tensor& tensor : layer.tensors) split_weight(tensor, summed_inputs_of(layer), false, ranks_);
      } else {
        layer.input_elements *= share;
      }
      layer.output_shape.back() = rank_part_of(words, ranks_);
      layer.output_elements *= share;
      layer.macs *= share;
    }
  }

  /// Of what is not split every rank has its part of the tokens; and of the outputs of sums.
  void share_tokens() {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      Layer& layer = layers_[i];
      if (layer.macs > 0 && !is_split_[i]) continue;  // pooled: no sequence any more
      const bool is_embedding = layer.type.starts_with("embedding");
      if (!is_split_[i] && !is_embedding) layer.input_elements /= ranks_;
      if (!is_split_[i]) layer.output_elements /= ranks_;
    }
  }

  SplitModel result_;
  std::vector<Layer>& layers_;
  int ranks_;
  bool shares_tokens_;
  bool has_branches_ = false;
  std::vector<bool> is_split_;
};

}  // namespace

SplitModel split_model(const Model& model, int ranks, bool sequence_parallel) {
  return Splitter(model, ranks, sequence_parallel).run();
}

namespace {

/// Where each block begins, and behind them where the last ends; empty where anything stands between two of them.
std::vector<std::size_t> cuts_of(const std::vector<Layer>& layers) {
  std::vector<std::size_t> cuts;
  bool is_over = false;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string before = i == 0 ? "" : layers[i - 1].block;
    if (layers[i].block == before) continue;
    if (is_over && !layers[i].block.empty()) return {};
    is_over = layers[i].block.empty();
    cuts.push_back(i);
  }
  if (!cuts.empty() && !is_over) cuts.push_back(layers.size());
  return cuts;
}

/// Whether it makes numbers for words of what the blocks give.
bool is_head(const Layer& layer, const Tensor& words) {
  return layer.macs > 0 && layer.block.empty() && !layer.output_shape.empty() &&
         layer.output_shape.back() == words.shape.front();
}

/// The embedding of the most words, where the layer that gives a number for each of them has no weight of its own.
const Tensor* tied_tensor(const std::vector<Layer>& layers) {
  const Tensor* words = nullptr;
  for (const Layer& layer : layers) {
    const bool embeds = layer.type.starts_with("embedding") && !layer.tensors.empty();
    if (embeds && (words == nullptr || layer.tensors.front().shape.front() > words->shape.front())) {
      words = &layer.tensors.front();
    }
    if (words == nullptr || !is_head(layer, *words)) continue;
    const bool has_own = std::ranges::any_of(layer.tensors, [](const Tensor& own) { return own.shape.size() > 1; });
    if (!has_own) return words;
  }
  return nullptr;
}

std::string refusal_of(std::size_t number, int stages, const std::vector<int>& blocks) {
  if (blocks.empty()) {
    if (number % static_cast<std::size_t>(stages) == 0) return {};
    return fmt::format("a divisor of the model's {} blocks, or how many each stage has as \"pipeline_blocks\"", number);
  }
  const auto sum = std::accumulate(blocks.begin(), blocks.end(), std::size_t{0});
  if (sum == number && blocks.size() == static_cast<std::size_t>(stages)) return {};
  return fmt::format("\"pipeline_blocks\" of {} stages that sum to the model's {} blocks, not {}", stages, number,
                     fmt::join(blocks, " + "));
}

}  // namespace

StagedModel stage_model(const Model& model, int stages, const std::vector<int>& blocks) {
  StagedModel staged;
  const std::vector<std::size_t> cuts = cuts_of(model.layers);
  if (cuts.empty()) {
    staged.refusal = "1 with a model whose blocks do not follow one another";
    return staged;
  }
  const std::size_t number = cuts.size() - 1;
  staged.refusal = refusal_of(number, stages, blocks);
  if (!staged.refusal.empty()) return staged;
  std::size_t next = 0;
  auto begin = model.layers.begin();
  for (int stage = 0; stage < stages; ++stage) {
    next += blocks.empty() ? number / static_cast<std::size_t>(stages)
                           : static_cast<std::size_t>(blocks[static_cast<std::size_t>(stage)]);
    const bool is_last = stage + 1 == stages;
    const auto end = is_last ? model.layers.end() : model.layers.begin() + static_cast<std::ptrdiff_t>(cuts[next]);
    Model& part = staged.stages.emplace_back(model);
    part.layers.assign(begin, end);
    part.name += fmt::format(", stage {} of {}", stage + 1, stages);  // what was measured is of the whole model
    part.hands_back = !model.is_trained_whole() && stage > 0;
    if (part.trainable_tensors() == 0) staged.refusal = "stages each of which trains something";
    if (!is_last) staged.handed_on.push_back(part.layers.back().output_elements);
    begin = end;
  }
  if (const Tensor* tied = tied_tensor(model.layers)) {
    const auto takes_words = [&](const Layer& layer) { return is_head(layer, *tied); };
    std::ranges::find_if(staged.stages.back().layers, takes_words)->tensors.push_back(*tied);
    staged.tied = tied->trainable ? static_cast<double>(tied->elements()) : 0;
  }
  return staged;
}

}}  // namespace farandole::workload
