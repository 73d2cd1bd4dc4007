#include "workload/compute_time.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "config/error.hpp"
#include "units/format.hpp"
#include "workload/throughput.hpp"

namespace farandole {
namespace {

struct Rates {
  FlopPerSecond peak;
  BytesPerSecond memory;
  Bytes element;
};

Rates rates_of(const Device& device, Precision precision) {
  const auto peak = device.peak.find(precision);
  if (peak == device.peak.end()) {
    throw InputError(fmt::format("device {} has no peak rate for {}", quoted(device.name), name(precision)));
  }
  return Rates{peak->second, device.memory_bandwidth, element_size(precision)};
}

/// One pass over a layer: as slow as the slower of its arithmetic and its memory traffic.
Seconds roofline(const Layer& layer, const Rates& rates, int batch) {
  const Flop work(2 * layer.macs * batch);  // a multiply-add is two operations
  const double activations = (layer.input_elements + layer.output_elements) * batch;
  const Bytes moved = (activations + static_cast<double>(layer.parameters())) * rates.element;
  return std::max(work / rates.peak, moved / rates.memory);
}

/// How many passes the backward pass of a layer costs. Nothing before the first weights needs a gradient, so that
/// layer computes none by its inputs.
int backward_passes(std::size_t layer, std::size_t first_with_weights) {
  if (layer < first_with_weights) return 0;
  return layer == first_with_weights ? 1 : 2;
}

std::size_t first_with_weights(const Model& model) {
  const auto first =
      std::find_if(model.layers.begin(), model.layers.end(), [](const Layer& layer) { return !layer.tensors.empty(); });
  return static_cast<std::size_t>(first - model.layers.begin());
}

/// SGD with momentum reads weights, gradients and momentum, and writes weights and momentum: five elements of four
/// bytes. Mixed precision moves as much: its gradients are half as long, but it writes the weights a second time, in
/// half precision.
Seconds update_time(const Model& model, const Rates& rates) {
  return 5.0 * static_cast<double>(model.parameters()) * element_size(Precision::fp32) / rates.memory;
}

ComputeTimes at_peak(const Model& model, const Rates& rates, int batch) {
  ComputeTimes times;
  const std::size_t first = first_with_weights(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Seconds pass = roofline(model.layers[i], rates, batch);
    times.forward.push_back(pass);
    times.backward.push_back(backward_passes(i, first) * pass);
  }
  times.update = update_time(model, rates);
  return times;
}

void scale(ComputeTimes& times, double factor) {
  for (Seconds& time : times.forward) time *= factor;
  for (Seconds& time : times.backward) time *= factor;
  times.update *= factor;
}

}  // namespace

Seconds ComputeTimes::total() const {
  Seconds sum = update;
  for (const Seconds time : forward) sum += time;
  for (const Seconds time : backward) sum += time;
  return sum;
}

ComputeTimes compute_times(const Model& model, const Device& device, Precision precision, int batch,
                           const std::string& measurement_set) {
  if (batch < 1) throw std::invalid_argument("compute_times: the batch must be positive");
  const Rates rates = rates_of(device, precision);
  ComputeTimes times = at_peak(model, rates, batch);
  if (const auto* row = find_measurement(device, model, {precision, batch, measurement_set})) {
    scale(times, Seconds(batch / row->samples_per_second) / times.total());
    times.measured = true;
    times.source = describe(*row, batch);
  } else {
    scale(times, 1 / device.assumed_efficiency);
    times.source = fmt::format("estimated: {:.4g} % of {}", 100 * device.assumed_efficiency, format(rates.peak));
  }
  return times;
}

}  // namespace farandole
