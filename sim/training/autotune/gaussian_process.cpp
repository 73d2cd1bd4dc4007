#include <cmath>
#include <limits>
#include <numbers>

#include "training/autotune/autotuner.hpp"

namespace farandole { inline namespace training {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Matrix kernel(const Matrix& a, const Matrix& b, double length, double height) {
  Matrix squares(a.rows(), b.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    squares.row(i) = (b.rowwise() - a.row(i)).rowwise().squaredNorm().transpose();
  }
  return height * height * (-squares.array() / (2 * length * length)).exp().matrix();
}

Matrix with_noise(const Matrix& places, double length, double height, double noise) {
  return kernel(places, places, length, height) + noise * noise * Matrix::Identity(places.rows(), places.rows());
}

/// Minus the logarithm of how likely the values are.
double negative_log_likelihood(const Eigen::LLT<Matrix>& covariance, const Vector& values) {
  if (covariance.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
  const double determinant = covariance.matrixLLT().diagonal().array().log().sum();
  const auto count = static_cast<double>(values.size());
  return values.dot(covariance.solve(values)) / 2 + determinant + count / 2 * std::log(2 * std::numbers::pi);
}

}  // namespace

void GaussianProcess::fit(const Matrix& places, const Vector& values) {
  const auto f = [&](const Vector& at) {
    return negative_log_likelihood(Eigen::LLT<Matrix>(with_noise(places, at[0], at[1], noise_)), values);
  };
  const Minimum best = minimise(f, Vector::Ones(2));
  length_ = best.at[0];
  height_ = best.at[1];
  places_ = places;
  covariance_.compute(with_noise(places, length_, height_, noise_));
  weights_ = covariance_.solve(values);
}

GaussianProcess::Posterior GaussianProcess::predict(const Matrix& places) const {
  constexpr double least = 1e-8;  // of a variance, against rounding
  const Matrix between = kernel(places_, places, length_, height_);
  const Matrix explained = between.transpose() * covariance_.solve(between);
  Posterior posterior;
  posterior.mean = between.transpose() * weights_;
  posterior.deviation = (height_ * height_ + least - explained.diagonal().array()).max(0).sqrt();
  return posterior;
}

}}  // namespace farandole::training
