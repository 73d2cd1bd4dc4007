#include "calibration/validation.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "calibration/calibrated_file.hpp"
#include "calibration/fit.hpp"
#include "calibration/predictor.hpp"
#include "timeline/size_class.hpp"

namespace farandole {
namespace {

constexpr double eight_in_ten = 1.2816;  // standard deviations each way that hold 80 % of a normal distribution

ValidationPoint point(const MeasuredTime& row, Seconds predicted) {
  ValidationPoint result = validation_point(predicted, row.time, row.doubt.value_or(""));
  result.family = row.family;
  result.row = row_name(row);
  result.operation = row.operation;
  result.ranks = row.ranks;
  result.bytes = row.bytes;
  return result;
}

std::vector<Seconds> predict_on(const Document& topology, std::span<const MeasuredTime> measurements) {
  return predict(read_topology(topology.root(), topology.source()), measurements);
}

/// Per measurement, the variance of the logarithm of its prediction that comes from the parameters' errors.
std::vector<double> parameter_variance(const Document& topology, const CalibrationNote& note,
                                       std::span<const MeasuredTime> measurements,
                                       const std::vector<Seconds>& predicted) {
  std::vector<double> variance(measurements.size());
  for (const auto& [pointer, error] : note.standard_errors) {
    if (error <= 0) continue;
    const Parameter parameter{"", pointer, kind_of(pointer)};
    const auto moved = predict_on(with(topology, parameter, value_in(topology, parameter) + error), measurements);
    for (std::size_t i = 0; i < moved.size(); ++i) variance[i] += std::pow(moved[i] / predicted[i] - 1, 2);
  }
  return variance;
}

void add_bands(const Document& topology, const CalibrationNote& note, std::span<const MeasuredTime> measurements,
               const std::vector<Seconds>& predicted, std::vector<ValidationPoint>& points) {
  const auto variance = parameter_variance(topology, note, measurements, predicted);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double scatter = note.scatter[size_class_of(measurements[i].bytes)];
    if (scatter < 0) continue;
    const double width = eight_in_ten * std::sqrt(variance[i] + scatter * scatter);
    points[i].band = Band{points[i].predicted * std::max(0.0, 1 - width), points[i].predicted * (1 + width)};
  }
}

/// Which fold each measurement belongs to.
std::vector<std::string> folds(std::span<const MeasuredTime> measurements, HoldOut hold_out) {
  std::set<double> sizes;
  for (const MeasuredTime& row : measurements) sizes.insert(row.bytes.si());
  std::vector<std::string> result;
  for (const MeasuredTime& row : measurements) {
    switch (hold_out) {
      case HoldOut::sizes:
        result.emplace_back(std::distance(sizes.begin(), sizes.find(row.bytes.si())) % 2 == 0 ? "even" : "odd");
        break;
      case HoldOut::scales:
        result.push_back(std::to_string(row.ranks));
        break;
      case HoldOut::operations:
        result.push_back(row.operation);
        break;
    }
  }
  return result;
}

}  // namespace

std::vector<ValidationPoint> validate(const Document& topology, std::span<const MeasuredTime> measurements) {
  const auto predicted = predict_on(topology, measurements);
  std::vector<ValidationPoint> points;
  for (std::size_t i = 0; i < measurements.size(); ++i) points.push_back(point(measurements[i], predicted[i]));
  if (const auto note = calibration_in(topology)) add_bands(topology, *note, measurements, predicted, points);
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

}  // namespace farandole
