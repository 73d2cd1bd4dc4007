// Multivariate linear regression by mean squared error, without a factor 1/2.
//
//   y = X c + noise,   loss(w) = |X w - y|^2 / m,   gradient(w) = 2/m X^T (X w - y)
//
// Column j of X is normal with mean j and deviation 1. The numbers are those of NumPy's
//   seed(seed); X = multivariate_normal(range(features), eye(features), samples); w = randn(features, 1)
// and, where there is noise, of `randn(samples)` after that. Keys of the section: samples (1000), coefficients
// ([5, 3, 2, 1]), noise (0, a deviation), seed (42).
#pragma once

#include <cstdint>
#include <vector>

#include "learning/problem.hpp"

namespace farandole {

struct LinearRegressionSpec {
  int samples = 1000;
  std::vector<double> coefficients{5, 3, 2, 1};
  double noise = 0;
  std::uint32_t seed = 42;
};

NumericProblem linear_regression(const LinearRegressionSpec& spec);
NumericProblem linear_regression(Section& section);

}  // namespace farandole
