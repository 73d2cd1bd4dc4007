#include <algorithm>

#include <fmt/format.h>

#include "config/error.hpp"
#include "workload/compute_time.hpp"

namespace farandole { inline namespace workload {
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

void keep_stated(Rows& rows) {
  const auto states = [](const Measurement* row) { return row->batch > 0; };
  if (std::ranges::any_of(rows, states)) std::erase_if(rows, [&](const Measurement* row) { return !states(row); });
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
  keep_stated(rows);
  keep_rising(rows);
  return rows;
}

std::vector<DeviceStep> steps_of(const Rows& rows) {
  std::vector<DeviceStep> steps;
  for (const Measurement* row : rows) steps.push_back({batch_of(*row), time_of(*row), row->normalisation, true});
  return steps;
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
