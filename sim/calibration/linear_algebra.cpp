#include "calibration/linear_algebra.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

namespace farandole { inline namespace calibration {

Eigen::VectorXd least_squares_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a) {
  return a.completeOrthogonalDecomposition().pseudoInverse();
}

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a) {
  return a.inverse();
}

Eigen::VectorXd symmetric_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  return a.ldlt().solve(b);
}

}}  // namespace farandole::calibration
