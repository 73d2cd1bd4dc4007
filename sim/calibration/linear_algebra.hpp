// Eigen's dense solvers, called by the estimators of this room through one source: what a decomposition instantiates
// takes longer to compile than the estimator that uses it.
#pragma once

#include <Eigen/Core>

namespace farandole { inline namespace calibration {

/// The shortest x of those for which |a x - b| is least (complete orthogonal decomposition).
Eigen::VectorXd least_squares_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);
/// Moore and Penrose's inverse.
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a);
/// Of a regular square matrix; not finite where it is singular.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a);
/// x of a x = b for a symmetric, positive or negative semidefinite a (LDLT).
Eigen::VectorXd symmetric_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

}}  // namespace farandole::calibration
