// How far repeats of one setting lie apart: the noise of measurements, as they show it themselves.
//
// Two kinds. Between rows: the same operation of the same size on the same ranks, measured again (a table run several
// times, in one file or in several; nccl-tests' -N), each row a mean or median of its own. Of repetitions: single
// operations within a row, where the file tells of them (nccl-tests' -I, `farandole bench`). Both as the standard
// deviation of times over their mean, pooled over settings of a size class (timeline/validation.hpp):
//   s^2 = sum_k (n_k - 1) s_k^2 / nu,  nu = sum_k (n_k - 1),  with a standard error of s / sqrt(2 nu)
// which is that of normal errors. What MPI benchmarks print as fastest and slowest is between ranks, not repeats, and
// is not read as such. Nothing that is simulated of a collective is drawn at random, so no number of a topology is
// fitted to it: rows that scatter weigh less in a fit (fit_problem.hpp), and no band is narrower (spread.hpp).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "calibration/measured_time.hpp"

namespace farandole { inline namespace calibration {

/// Of one size class.
struct ScatterOfSizes {
  double deviation = 0;
  double standard_error = 0;
  int settings = 0;  // that were measured more than once; of repetitions, rows
  int degrees = 0;   // nu
};

struct Scatter {
  // Per size class; empty where nothing was repeated.
  std::vector<std::optional<ScatterOfSizes>> between_rows{};
  std::vector<std::optional<ScatterOfSizes>> of_repetitions{};
  std::optional<ScatterOfSizes> of_all_sizes{};  // between rows

  [[nodiscard]] bool shows_anything() const;
  /// Of a row's time, by rows of its size class, of all sizes where it has too few, or by its own repetitions as those
  /// of a mean; 0 where nothing says.
  [[nodiscard]] double of(const MeasuredTime& row) const;
  /// Between rows of a size class, likewise; 0 where nothing says.
  [[nodiscard]] double between_rows_of(std::size_t size_class) const;
};

/// Rows with a doubt are not looked at.
Scatter scatter_of(std::span<const MeasuredTime> rows);

/// Standard deviation over mean, of two values or more.
double relative_deviation(std::span<const double> values);

/// The standard deviation that makes `count` values, at least two, lie so far apart in the mean, where they are normal
/// (L. H. C. Tippett, Biometrika 17, 1925).
double deviation_of_range(double range, int count);

}}  // namespace farandole::calibration
