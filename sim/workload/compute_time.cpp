#include "workload/compute_time.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "config/error.hpp"
#include "units/format.hpp"
#include "units/mapped.hpp"
#include "workload/kernels.hpp"

namespace farandole { inline namespace workload {
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

/// How many passes the backward pass of a layer costs. Nothing before the first weights that are trained needs a
/// gradient, so that layer computes none by its inputs; and frozen weights need none.
int backward_passes(const Model& model, std::size_t layer, std::size_t first_with_weights) {
  if (layer < first_with_weights) return 0;
  return (model.layers[layer].frozen ? 0 : 1) + (layer > first_with_weights || model.hands_back ? 1 : 0);
}

std::size_t first_with_weights(const Model& model) {
  const auto first =
      std::find_if(model.layers.begin(), model.layers.end(), [](const Layer& layer) { return !layer.tensors.empty(); });
  return std::max(static_cast<std::size_t>(first - model.layers.begin()), model.first_backward());
}

/// SGD with momentum reads weights, gradients and momentum, and writes weights and momentum: five elements of four
/// bytes. Mixed precision moves as much: its gradients are half as long, but it writes the weights a second time, in
/// half precision.
Seconds update_time(const Model& model, const Rates& rates) {
  return 5.0 * static_cast<double>(model.trainable_parameters()) * element_size(Precision::fp32) / rates.memory;
}

ComputeTimes at_roofline(const Model& model, const Device& device, Precision precision, int batch) {
  const Rates rates = rates_of(device, precision);
  const double share = device.assumed_efficiency;
  ComputeTimes times;
  const std::size_t first = first_with_weights(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Seconds pass = roofline(model.layers[i], rates, batch) / share;
    times.forward.push_back(pass);
    times.backward.push_back(backward_passes(model, i, first) * pass);
  }
  times.update = update_time(model, rates) / share;
  times.source = fmt::format("estimated: {:.4g} % of {}", 100 * share, format(rates.peak));
  return times;
}

ComputeTimes of_kernels(const Model& model, const Device& device, Precision precision, int batch,
                        const Fusion& fusion) {
  const Rates rates = rates_of(device, precision);
  ComputeTimes times;
  const std::size_t first = first_with_weights(model);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LayerTimes layer = kernel_times(model.layers, i, device, precision, batch, fusion);
    times.forward.push_back(layer.forward);
    Seconds backward = i < first || model.layers[i].frozen ? 0_s : layer.weight_gradient;
    if (i > first || (i == first && model.hands_back)) backward += layer.input_gradient;
    times.backward.push_back(backward);
  }
  times.update = update_kernels(model, device);
  const KernelRates& kernels = *device.kernels;
  times.source =
      fmt::format("estimated: kernels of {} at {} {}", kernels.known ? kernels.generation : "all generations",
                  format(rates.peak), name(precision));
  if (fusion.normalisation != Normalisation::separate)
    times.source += fmt::format(", normalised {}", name(fusion.normalisation));
  if (fusion.compiled) times.source += ", compiled";
  return times;
}

ComputeTimes estimated(const Model& model, const Device& device, Precision precision, int batch, const Fusion& fusion) {
  if (device.assumed_efficiency > 0) return at_roofline(model, device, precision, batch);
  if (!device.kernels) throw InputError(fmt::format("device {} has no fitted kernels", quoted(device.name)));
  return of_kernels(model, device, precision, batch, fusion);
}

/// A model of no family is one of its own.
const std::string& kin_of(const std::string& model, const std::vector<std::string>& families) {
  const auto is_of = [&](const std::string& family) { return model.find(family) != std::string::npos; };
  const auto family = std::ranges::find_if(families, is_of);
  return family == families.end() ? model : *family;
}

/// Of an estimate, by what was measured of the device beside this model.
TimeBand band_of_estimate(const Model& model, const Device& device, Precision precision) {
  if (!device.bands) return {};
  const EstimateBands& bands = *device.bands;
  if (device.assumed_efficiency > 0) return bands.constant_share;
  if (!device.kernels->known) return bands.generation;
  const auto is_other = [&](const Measurement& row) { return row.model != model.name; };
  const auto is_alike = [&](const Measurement& row) { return is_other(row) && row.precision == precision; };
  const std::string& own = kin_of(model.name, bands.families);
  const auto is_kin = [&](const Measurement& row) { return is_alike(row) && kin_of(row.model, bands.families) == own; };
  if (std::ranges::any_of(device.measurements, is_kin)) return bands.model;
  if (std::ranges::any_of(device.measurements, is_alike)) return bands.family;
  return std::ranges::any_of(device.measurements, is_other) ? bands.precision : bands.device;
}

}  // namespace

Seconds ComputeTimes::passes() const {
  Seconds sum;
  for (const Seconds time : forward) sum += time;
  for (const Seconds time : backward) sum += time;
  return sum;
}

Seconds ComputeTimes::total() const {
  return passes() + update;
}

void stretch(ComputeTimes& times, double factor) {
  for (Seconds& time : times.forward) time *= factor;
  for (Seconds& time : times.backward) time *= factor;
  times.update *= factor;
}

void add_recomputation(ComputeTimes& times, const Model& model, Recompute recompute) {
  const std::vector<bool> again = recomputed(model, recompute);
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (again[i]) times.backward[i] += times.forward[i];
  }
}

/// `times` where they take the device longer than `dispatch` a pass takes the host; else every pass takes that.
static void keep_pace(ComputeTimes& times, Seconds dispatch, std::size_t first_backward) {
  const auto passes = static_cast<double>(2 * times.forward.size() - first_backward);
  if (times.passes() >= passes * dispatch) return;
  std::ranges::fill(times.forward, dispatch);
  std::fill(times.backward.begin() + static_cast<std::ptrdiff_t>(first_backward), times.backward.end(), dispatch);
}

namespace {

/// The steps that are known of a model on a device, and from where.
std::pair<std::vector<DeviceStep>, std::string> known_of(const Model& model, const Device& device,
                                                         const ComputeDemand& demand) {
  const auto rows = find_measurements(device, model, {demand.precision, demand.measurement_set});
  if (!demand.steps.empty()) return {demand.steps, "given: the time of one device"};
  if (rows.empty()) return {};
  return {steps_of(rows), describe(rows, demand.batch)};
}

/// An estimate of this model's step on this device.
using StepOf = std::function<ComputeTimes(int batch, const Fusion& fusion)>;

/// Makes of steps that other programs took what this one would take; returns the largest factor between them.
double convert(std::vector<DeviceStep>& steps, const Fusion& fusion, const StepOf& estimate) {
  double largest = 1;
  for (DeviceStep& step : steps) {
    const Fusion theirs{step.normalisation.value_or(fusion.normalisation), fusion.compiled && !step.published};
    if (theirs == fusion) continue;
    const double factor = estimate(step.batch, fusion).total() / estimate(step.batch, theirs).total();
    step.time *= factor;
    largest = std::max({largest, factor, 1 / factor});
  }
  Seconds longest;  // of smaller batches
  std::erase_if(
      steps, [&](const DeviceStep& step) { return step.time <= std::exchange(longest, std::max(longest, step.time)); });
  return largest;
}

void add_band(ComputeTimes& times, const Model& model, const Device& device, const ComputeDemand& demand,
              const std::vector<DeviceStep>& steps, double converted) {
  times.band = band_of_estimate(model, device, demand.precision);
  if (steps.empty() && times.band.is_open()) times.source += fmt::format(", 80 % interval {}", describe(times.band));
  if (steps.empty() || !device.bands) return;
  const auto batches = mapped(steps, &DeviceStep::batch);
  const TimeBand beside = band_beside(batches, demand.batch, device.bands->batch_doubled, times.band);
  times.band = {std::max(times.band.least, beside.least / converted),
                std::min(times.band.most, beside.most * converted)};
}

}  // namespace

ComputeTimes compute_times(const Model& model, const Device& device, const ComputeDemand& demand) {
  if (demand.batch < 1) throw std::invalid_argument("compute_times: the batch must be positive");
  auto [steps, source] = known_of(model, device, demand);
  const auto theirs = steps.empty() ? std::nullopt : steps.front().normalisation;
  const Fusion fusion{demand.normalisation.value_or(theirs.value_or(Normalisation::separate)), demand.compiled};
  const StepOf estimate = [&](int batch, const Fusion& kind) {
    return estimated(model, device, demand.precision, batch, kind);
  };
  ComputeTimes times = estimate(demand.batch, fusion);
  const double converted = convert(steps, fusion, estimate);
  Seconds dispatch = demand.dispatch.value_or(0_s);
  if (!steps.empty()) {
    const auto step = [&](int batch) { return estimate(batch, fusion).total(); };
    stretch(times, corrected_step(steps, demand.batch, step) / times.total());
    times.measured = true;
    times.source = source;
    const DeviceStep& shortest = steps.front();
    const ComputeTimes smallest = estimate(shortest.batch, fusion);
    const Seconds passes = shortest.time * (smallest.passes() / smallest.total());
    dispatch = std::min(dispatch, passes / static_cast<double>(2 * model.layers.size() - model.first_backward()));
  }
  keep_pace(times, dispatch, model.first_backward());
  const auto own = std::ranges::find(steps, demand.batch, &DeviceStep::batch);
  if (own != steps.end()) times.update += own->update;
  add_band(times, model, device, demand, steps, converted);
  add_recomputation(times, model, demand.recompute);
  return times;
}

namespace {

// A published rate that does not say its batch is one that fills the device; beyond that the rate hardly moves.
constexpr int filling_batch = 128;

// Two batches closer than this say more of their noise than of what a sample takes.
constexpr double far_apart = 1.5;

using Rows = std::vector<const Measurement*>;

std::vector<std::string> sets(const Device& device) {
  std::vector<std::string> names;
  for (const Measurement& row : device.measurements) {
    if (std::find(names.begin(), names.end(), row.set) == names.end()) names.push_back(row.set);
  }
  return names;
}

/// A platform that names a set it means to use must not fall back to an estimate over a slip of the hand.
void check_set(const Device& device, const std::string& set) {
  const auto known = sets(device);
  if (set.empty() || std::find(known.begin(), known.end(), set) != known.end()) return;
  throw InputError(fmt::format("device {} has no set of measurements {}{}", quoted(device.name), quoted(set),
                               suggestion(set, known)));
}

int batch_of(const Measurement& row) {
  return row.batch == 0 ? filling_batch : row.batch;
}

Seconds time_of(const Measurement& row) {
  return Seconds(batch_of(row) / row.samples_per_second);
}

void keep_rising(Rows& rows) {
  std::ranges::stable_sort(rows, {}, [](const Measurement* row) { return batch_of(*row); });
  Rows rising;
  for (const Measurement* row : rows) {
    if (rising.empty() || (batch_of(*row) > batch_of(*rising.back()) && time_of(*row) > time_of(*rising.back()))) {
      rising.push_back(row);
    }
  }
  rows = std::move(rising);
}

Seconds on_line(const DeviceStep& low, const DeviceStep& high, double batch) {
  const double share = (batch - low.batch) / (high.batch - low.batch);
  return low.time + share * (high.time - low.time);
}

}  // namespace

Rows find_measurements(const Device& device, const Model& model,
                       const std::pair<Precision, std::string>& precision_and_set) {
  const auto& [precision, set] = precision_and_set;
  check_set(device, set);
  Rows rows;
  for (const Measurement& row : device.measurements) {
    if (row.model != model.name || row.variant != model.variant || row.precision != precision) continue;
    const bool fits = rows.empty() ? set.empty() || row.set == set : row.set == rows.front()->set;
    if (fits) rows.push_back(&row);
  }
  const auto states = [](const Measurement* row) { return row->batch > 0; };
  if (std::ranges::any_of(rows, states)) rows = those_of(rows, states);
  keep_rising(rows);
  return rows;
}

std::vector<DeviceStep> steps_of(const Rows& rows) {
  return mapped(rows, [](const Measurement* row) {
    return DeviceStep{batch_of(*row), time_of(*row), row->normalisation, true};
  });
}

Seconds corrected_step(const std::vector<DeviceStep>& steps, int batch, const StepTime& estimate) {
  const auto above = std::ranges::lower_bound(steps, batch, {}, &DeviceStep::batch);
  if (above != steps.end() && above->batch == batch) return above->time;
  if (steps.size() > 1) {
    const auto high = std::clamp(above, steps.begin() + 1, steps.end() - 1);
    const bool inside = above != steps.begin() && above != steps.end();
    const bool reaches_out = high->batch >= far_apart * (high - 1)->batch && on_line(*(high - 1), *high, 0) >= 0_s;
    if (inside || reaches_out) return on_line(*(high - 1), *high, batch);
  }
  const DeviceStep& nearest = above == steps.end() ? steps.back() : steps.front();
  return estimate(batch) * (nearest.time / estimate(nearest.batch));
}

std::string describe(const Rows& rows, int batch) {
  const auto nearest =
      *std::ranges::min_element(rows, {}, [&](const Measurement* row) { return std::abs(batch_of(*row) - batch); });
  std::string at;
  if (nearest->batch == 0) {
    at = " (batch not stated)";
  } else if (nearest->batch != batch) {
    at = fmt::format(" (measured at batch {})", nearest->batch);
  }
  return fmt::format("measured: {} samples/s, {}{}", nearest->samples_per_second, nearest->set, at);
}

}}  // namespace farandole::workload
