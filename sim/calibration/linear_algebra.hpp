// Eigen's dense solvers, called by the estimators of this room through one source: what a decomposition instantiates
// takes longer to compile than the estimator that uses it.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include <Eigen/Core>

#include "config/error.hpp"

namespace farandole { inline namespace calibration {

/// The shortest x of those for which |a x - b| is least (complete orthogonal decomposition).
Eigen::VectorXd least_squares_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);
/// Moore and Penrose's inverse.
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a);
/// Of a regular square matrix; not finite where it is singular.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a);
/// x of a x = b for a symmetric, positive or negative semidefinite a (LDLT).
Eigen::VectorXd symmetric_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

/// A number of each of the items.
template <class Items, class NumberOf = std::identity>
Eigen::VectorXd vector_of(const Items& items, NumberOf number_of = {}) {
  Eigen::VectorXd numbers(std::ssize(items));
  std::ranges::transform(items, numbers.data(), number_of);
  return numbers;
}

/// The same; not a number where that is an InputError.
template <class Items, class NumberOf>
Eigen::VectorXd vector_of_possible(const Items& items, NumberOf number_of) {
  return vector_of(items, [&](const auto& item) {
    try {
      return number_of(item);
    } catch (const InputError&) {
      return std::numeric_limits<double>::quiet_NaN();
    }
  });
}

}}  // namespace farandole::calibration
