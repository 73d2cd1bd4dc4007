#include <vector>

#include "workload/kernels.hpp"

namespace farandole { inline namespace workload {
namespace {

/// A multiply-add is two operations. Fused attention may skip what a mask hides, and then has fewer multiply-adds than
/// its two products of every query with every key: [heads, keys, ...] in, [heads, queries, width] out.
Flop forward_flops(const Layer& layer) {
  const bool known = is_fused_attention(layer) && layer.input_shape.size() == 3;
  const double keys = known ? static_cast<double>(layer.input_shape[1]) : 0;
  return Flop(2 * (known ? 2 * keys * layer.output_elements : layer.macs));
}

}  // namespace

Flop model_flops(const Model& model) {
  Flop sum;
  for (const Layer& layer : model.layers) sum += 3 * forward_flops(layer);
  return sum;
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
