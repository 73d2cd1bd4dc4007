#include "workload/throughput.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "config/error.hpp"

namespace farandole {
namespace {

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

bool fits(const Measurement& row, const Model& model, const ThroughputQuery& query) {
  return row.model == model.name && row.variant == model.variant && row.precision == query.precision &&
         (query.set.empty() || row.set == query.set);
}

int distance(const Measurement& row, int batch) {
  return row.batch == 0 ? std::numeric_limits<int>::max() : std::abs(row.batch - batch);
}

}  // namespace

const Measurement* find_measurement(const Device& device, const Model& model, const ThroughputQuery& query) {
  check_set(device, query.set);
  const Measurement* best = nullptr;
  for (const Measurement& row : device.measurements) {
    if (!fits(row, model, query)) continue;
    if (best == nullptr || distance(row, query.batch) < distance(*best, query.batch)) best = &row;
  }
  return best;
}

std::string describe(const Measurement& row, int batch) {
  std::string at;
  if (row.batch == 0) {
    at = " (batch not stated)";
  } else if (row.batch != batch) {
    at = fmt::format(" (measured at batch {})", row.batch);
  }
  return fmt::format("measured: {} samples/s, {}{}", row.samples_per_second, row.set, at);
}

}  // namespace farandole
