// The least squares of a fit: measurements, the simulator as their model, and the linear problem around a trial.
//
// Used inside this room: by the fits (fit.cpp, piecewise.cpp) and by what would tell more (next_measurement.cpp).
// Residuals are relative, predicted / measured - 1. Of a measurement whose scatter s between repeats is known, what is
// left over with deviation d counts d^2 / (d^2 + s^2) times: the share of its variance that is not scatter.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "calibration/fit.hpp"
#include "calibration/measured_time.hpp"
#include "calibration/scatter.hpp"
#include "config/document.hpp"

namespace farandole { inline namespace calibration {

inline constexpr double converged = 1e-7;  // relative change of every prediction
inline constexpr double least_deviation =
    1e-3;  // clocks and rounding; keeps perfect data from weighing everything down

/// The measurements that are fitted to; `topology` must outlive it.
class FitProblem {
 public:
  FitProblem(const Document& topology, std::span<const MeasuredTime> measurements, const Scatter& scatter);

  /// Seconds.
  [[nodiscard]] double shortest() const { return times_.minCoeff(); }
  [[nodiscard]] const Eigen::VectorXd& scatter() const { return scatter_; }
  /// predicted / measured with these values.
  [[nodiscard]] Eigen::VectorXd relative(std::span<const Parameter> parameters, std::span<const double> values) const;
  /// d (predicted / measured) / d parameter, by forward differences; times are linear between few kinks.
  [[nodiscard]] Eigen::MatrixXd jacobian(std::span<const Parameter> parameters, const std::vector<double>& values,
                                         const Eigen::VectorXd& here) const;

 private:
  /// Seconds per byte; that of one byte where no measurement has any.
  [[nodiscard]] double shortest_per_byte() const;
  [[nodiscard]] double smallest_step(ParameterKind kind) const;

  const Document& topology_;
  std::vector<MeasuredTime> rows_;
  Eigen::VectorXd times_;
  Eigen::VectorXd scatter_;
};

/// Huber's weights times what scatter leaves of them, and the deviation of the residuals so weighted.
RobustWeights weights_of(const Eigen::VectorXd& residuals, const Eigen::VectorXd& scatter);

struct Solution {
  std::vector<double> values;
  Eigen::VectorXd residuals;
  Eigen::MatrixXd jacobian;
  Eigen::MatrixXd covariance;
  Eigen::VectorXd weights;
};

/// The better one of what is found from the file's values and from too much of the processor's time for a message.
Solution best_solution(const FitProblem& problem, std::span<const Parameter> parameters,
                       const std::vector<double>& values);

}}  // namespace farandole::calibration
