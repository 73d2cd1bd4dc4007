// Small linear least squares with parameters that must not be negative, weighted; on Eigen.
#pragma once

#include <Eigen/Core>

namespace farandole {

/// Huber's weights of residuals, and the robust standard deviation they are measured by (at least `floor`).
struct RobustWeights {
  Eigen::VectorXd weights;
  double deviation = 0;
};
RobustWeights huber_weights(const Eigen::VectorXd& residuals, double floor);

/// The x >= 0 that minimises sum_i w_i (a_i x - b_i)^2. Exact: every set of parameters held at zero is tried, so there
/// may be at most 12 columns.
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                           const Eigen::VectorXd& weights);

/// (A' W A)^-1 with columns scaled to length one; columns of zeros get variance zero.
Eigen::MatrixXd covariance(const Eigen::MatrixXd& a, const Eigen::VectorXd& weights);

}  // namespace farandole
