#include "workload/recompute.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "config/named.hpp"

namespace farandole { inline namespace workload {
namespace {

constexpr std::array recompute_names{"none", "attention", "selective", "full"};  // in the order of Recompute

/// Counts the products of the block that it walks through.
class SavedByTurns {
 public:
  bool saves(const Layer& layer) {
    if (layer.block != block_) {
      block_ = layer.block;
      products_ = 0;
    }
    if (is_fused_attention(layer)) return true;
    return is_product_with_weights(layer) && ++products_ % 2 == 1;
  }

 private:
  std::string block_;
  int products_ = 0;
};

}  // namespace

std::string name(Recompute recompute) {
  return recompute_names.at(static_cast<std::size_t>(recompute));
}

Recompute read_recompute(const Value& where) {
  return static_cast<Recompute>(read_place(where, "what is recomputed", recompute_names));
}

std::vector<bool> recomputed(const Model& model, Recompute recompute) {
  std::vector<bool> again;
  SavedByTurns saved;
  bool is_inside = false;  // attention, between its two products without weights
  const auto attends = [&](const Layer& layer) {
    const bool is_product = layer.type == "matmul";
    return std::exchange(is_inside, is_inside != is_product) || is_product || is_fused_attention(layer);
  };
  const std::size_t first = model.first_block_backward();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    const bool kept = (recompute == Recompute::selective && saved.saves(layer)) ||
                      (recompute == Recompute::attention && !attends(layer));
    again.push_back(recompute != Recompute::none && !layer.block.empty() && !kept && i >= first);
  }
  return again;
}

bool has_blocks(const Model& model) {
  return std::ranges::any_of(model.layers, [](const Layer& layer) { return !layer.block.empty(); });
}

bool is_product_with_weights(const Layer& layer) {
  return layer.macs > 0 && (layer.type == "linear" || layer.type.starts_with("conv"));
}

bool is_fused_attention(const Layer& layer) {
  return layer.type == "attention";
}

}}  // namespace farandole::workload
