#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/model.hpp"
#include "workload/recompute.hpp"

namespace farandole { inline namespace workload {
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

/// The embedding of the most words, where the layer that gives a number for each of them has no weight of its own.
const Tensor* tied_tensor(const std::vector<Layer>& layers) {
  const Tensor* words = nullptr;
  for (const Layer& layer : layers) {
    const bool embeds = layer.type.starts_with("embedding") && !layer.tensors.empty();
    if (embeds && (words == nullptr || layer.tensors.front().shape.front() > words->shape.front())) {
      words = &layer.tensors.front();
    }
    const bool is_head = words != nullptr && layer.macs > 0 && layer.block.empty() && !layer.output_shape.empty() &&
                         layer.output_shape.back() == words->shape.front();
    if (!is_head) continue;
    const bool has_own = std::ranges::any_of(layer.tensors, [](const Tensor& own) { return own.shape.size() > 1; });
    if (!has_own) return words;
  }
  return nullptr;
}

/// The first layer that makes numbers for words of what the blocks give.
Layer& head_of(Model& last, const Tensor& words) {
  return *std::ranges::find_if(last.layers, [&](const Layer& layer) {
    return layer.macs > 0 && layer.block.empty() && !layer.output_shape.empty() &&
           layer.output_shape.back() == words.shape.front();
  });
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
    if (!is_last) staged.handed_on.push_back(part.layers.back().output_elements);
    begin = end;
  }
  if (const Tensor* tied = tied_tensor(model.layers)) {
    head_of(staged.stages.back(), *tied).tensors.push_back(*tied);
    staged.tied = static_cast<double>(tied->elements());
  }
  return staged;
}

}}  // namespace farandole::workload
