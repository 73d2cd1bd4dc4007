#include "calibration/validation.hpp"

#include <set>

#include "calibration/fit.hpp"
#include "calibration/library_fit.hpp"
#include "calibration/predictor.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

ValidationPoint point(const MeasuredTime& row, const Topology& machine, Seconds predicted) {
  ValidationPoint result = validation_point(predicted, row.time, row.doubt.value_or(""));
  result.family = row.family;
  result.row = row_name(row);
  result.operation = row.operation;
  result.ranks = row.ranks;
  result.nodes = nodes_of(row, machine);
  result.bytes = row.bytes;
  return result;
}

/// Which fold each measurement belongs to.
std::vector<std::string> folds(std::span<const MeasuredTime> measurements, HoldOut hold_out) {
  std::set<double> sizes;
  for (const MeasuredTime& row : measurements) sizes.insert(row.bytes.si());
  return mapped(measurements, [&](const MeasuredTime& row) -> std::string {
    if (hold_out == HoldOut::operations) return row.operation;
    if (hold_out == HoldOut::scales) return std::to_string(row.ranks);
    return std::distance(sizes.begin(), sizes.find(row.bytes.si())) % 2 == 0 ? "even" : "odd";
  });
}

}  // namespace

std::vector<ValidationPoint> validate(const Document& topology, std::span<const MeasuredTime> measurements) {
  const Topology machine = read_topology(topology.root(), topology.source());
  const auto predicted = predict(machine, measurements);
  const auto spread = spread_in(topology);
  std::vector<ValidationPoint> points;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    points.push_back(point(measurements[i], machine, predicted[i]));
    const auto band = spread ? spread->band_of(measurements[i]) : std::nullopt;
    if (band) points[i].band = Band{points[i].predicted * band->least, points[i].predicted * band->most};
  }
  return points;
}

std::vector<ValidationPoint> cross_validate(const Document& topology, std::span<const MeasuredTime> measurements,
                                            HoldOut hold_out) {
  const auto fold_of = folds(measurements, hold_out);
  std::vector<ValidationPoint> points(measurements.size());
  for (const std::string& fold : std::set<std::string>(fold_of.begin(), fold_of.end())) {
    std::vector<MeasuredTime> rest;
    std::vector<MeasuredTime> held;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      (fold_of[i] == fold ? held : rest).push_back(measurements[i]);
      if (fold_of[i] == fold) places.push_back(i);
    }
    const Document calibrated = calibrated_file(fit(topology, rest), {"cross-validation", {}});
    const auto predicted = validate(calibrated, held);
    for (std::size_t i = 0; i < places.size(); ++i) points[places[i]] = predicted[i];
  }
  return points;
}

}}  // namespace farandole::calibration
