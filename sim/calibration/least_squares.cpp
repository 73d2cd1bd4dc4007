#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "calibration/fit.hpp"
#include "calibration/linear_algebra.hpp"
#include "timeline/quantile.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr double huber_limit = 1.345;    // 95 % efficient where errors are normal
constexpr double mad_to_sigma = 1.4826;  // of a normal distribution

/// Lengths of the weighted columns; one where a column is zero.
Eigen::VectorXd lengths(const Eigen::MatrixXd& weighted) {
  return weighted.colwise().norm().unaryExpr([](double length) { return length > 0 ? length : 1.0; }).transpose();
}

}  // namespace

RobustWeights huber_weights(const Eigen::VectorXd& residuals, double floor) {
  const Eigen::VectorXd sizes = residuals.cwiseAbs();
  const double deviation =
      std::max(floor, mad_to_sigma * median(std::vector<double>(sizes.data(), sizes.data() + sizes.size())));
  const double limit = huber_limit * deviation;
  return {sizes.unaryExpr([limit](double size) { return size > limit ? limit / size : 1.0; }), deviation};
}

Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                           const Eigen::VectorXd& weights) {
  const Eigen::VectorXd roots = weights.cwiseSqrt();
  const Eigen::MatrixXd weighted = roots.asDiagonal() * a;
  const Eigen::VectorXd target = roots.cwiseProduct(b);
  const Eigen::VectorXd scale = lengths(weighted);
  Eigen::VectorXd best = Eigen::VectorXd::Zero(a.cols());
  double least = std::numeric_limits<double>::infinity();
  for (unsigned free = 0; free < 1U << static_cast<unsigned>(a.cols()); ++free) {
    std::vector<Eigen::Index> columns;
    for (Eigen::Index column = 0; column < a.cols(); ++column) {
      if ((free >> static_cast<unsigned>(column) & 1U) != 0) columns.push_back(column);
    }
    const Eigen::MatrixXd part = (weighted * scale.cwiseInverse().asDiagonal())(Eigen::all, columns);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
    if (!columns.empty()) {
      const Eigen::VectorXd solved = least_squares_solution(part, target);
      for (std::size_t i = 0; i < columns.size(); ++i) x[columns[i]] = solved[static_cast<Eigen::Index>(i)];
    }
    x = x.cwiseQuotient(scale);
    const double error = (weighted * x - target).squaredNorm();
    // A set with more held at zero wins a tie, so that nothing is fitted without need.
    if (x.minCoeff() >= 0 && error < least * (1 - 1e-12)) {
      least = error;
      best = x;
    }
  }
  return best;
}

Eigen::MatrixXd covariance(const Eigen::MatrixXd& a, const Eigen::VectorXd& weights) {
  const Eigen::MatrixXd weighted = weights.cwiseSqrt().asDiagonal() * a;
  const Eigen::VectorXd inverse = lengths(weighted).cwiseInverse();
  const Eigen::MatrixXd scaled = weighted * inverse.asDiagonal();
  const Eigen::MatrixXd normal = scaled.transpose() * scaled;
  const Eigen::MatrixXd inverted = pseudo_inverse(normal);
  return inverse.asDiagonal() * inverted * inverse.asDiagonal();
}

}}  // namespace farandole::calibration
