#include <fmt/format.h>

#include "workload/model.hpp"

namespace farandole { inline namespace workload {

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

}}  // namespace farandole::workload
