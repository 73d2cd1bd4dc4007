#include "calibration/scatter.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "timeline/validation.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr int enough_degrees = 8;  // of freedom: a standard error of a quarter

/// Times that were repeated, as they add up.
struct Sum {
  double squares = 0;
  int settings = 0;
  int degrees = 0;

  void add(double deviation, int count) {
    squares += (count - 1) * deviation * deviation;
    degrees += count - 1;
    ++settings;
  }
  void add(const Sum& other) {
    squares += other.squares;
    degrees += other.degrees;
    settings += other.settings;
  }
  [[nodiscard]] std::optional<ScatterOfSizes> result() const {
    if (degrees < 1) return std::nullopt;
    const double deviation = std::sqrt(squares / degrees);
    return ScatterOfSizes{deviation, deviation / std::sqrt(2.0 * degrees), settings, degrees};
  }
};

/// Everything in which two rows differ that are not repeats.
auto setting_of(const MeasuredTime& row) {
  return std::tuple(row.operation, row.algorithm, row.ranks, row.nodes, row.devices_per_process, row.eager, row.servers,
                    row.segments, row.bytes.si());
}

}  // namespace

double Scatter::between_rows_of(std::size_t size_class) const {
  if (!of_all_sizes) return 0;
  const auto& own = between_rows[size_class];
  return own && own->degrees >= enough_degrees ? own->deviation : of_all_sizes->deviation;
}

bool Scatter::shows_anything() const {
  const auto is_there = [](const auto& sizes) { return sizes.has_value(); };
  return of_all_sizes.has_value() || std::ranges::any_of(of_repetitions, is_there);
}

double Scatter::of(const MeasuredTime& row) const {
  if (of_all_sizes) return between_rows_of(size_class_of(row.bytes));
  return row.repetitions ? row.repetitions->deviation / std::sqrt(row.repetitions->count) : 0;
}

Scatter scatter_of(std::span<const MeasuredTime> rows) {
  std::map<decltype(setting_of(rows.front())), std::vector<double>> settings;
  std::vector<Sum> repetitions(size_classes.size());
  for (const MeasuredTime& row : rows) {
    if (row.doubt) continue;
    settings[setting_of(row)].push_back(row.time.si());
    if (row.repetitions) repetitions[size_class_of(row.bytes)].add(row.repetitions->deviation, row.repetitions->count);
  }
  std::vector<Sum> between(size_classes.size());
  Sum all;
  for (const auto& [setting, times] : settings) {
    if (times.size() < 2) continue;
    const Bytes size(std::get<double>(setting));
    between[size_class_of(size)].add(relative_deviation(times), static_cast<int>(times.size()));
  }
  for (const Sum& sum : between) all.add(sum);
  return {mapped(between, &Sum::result), mapped(repetitions, &Sum::result), all.result()};
}

double relative_deviation(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value / mean - 1) * (value / mean - 1);
  return std::sqrt(squares / (n - 1));
}

double deviation_of_range(double range, int count) {
  // The mean range of n standard normal values is the integral of 1 - F^n - (1 - F)^n.
  constexpr double end = 8;
  constexpr int cells = 3200;
  double mean = 0;
  for (int cell = 0; cell < cells; ++cell) {
    const double x = -end + 2 * end * (cell + 0.5) / cells;
    const double below = std::erfc(-x / std::numbers::sqrt2) / 2;
    mean += (1 - std::pow(below, count) - std::pow(1 - below, count)) * 2 * end / cells;
  }
  return range / mean;
}

}}  // namespace farandole::calibration
