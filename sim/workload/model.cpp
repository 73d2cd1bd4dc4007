#include "workload/model.hpp"

#include <functional>
#include <numeric>

namespace farandole { inline namespace workload {

std::int64_t Tensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Layer::parameters() const {
  std::int64_t sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.elements();
  return sum;
}

std::int64_t Model::parameters() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.parameters();
  return sum;
}

int Model::tensors() const {
  std::size_t count = 0;
  for (const Layer& layer : layers) count += layer.tensors.size();
  return static_cast<int>(count);
}

double Model::macs() const {
  double sum = 0;
  for (const Layer& layer : layers) sum += layer.macs;
  return sum;
}

}}  // namespace farandole::workload
