// The numeric problems there are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/section.hpp"
#include "learning/problem.hpp"

namespace farandole { inline namespace learning {

// Multivariate linear regression by mean squared error, without a factor 1/2.
//
//   y = X c + noise,   loss(w) = |X w - y|^2 / m,   gradient(w) = 2/m X^T (X w - y)
//
// Column j of X is normal with mean j and deviation 1. The numbers are those of NumPy's
//   seed(seed); X = multivariate_normal(range(features), eye(features), samples); w = randn(features, 1)
// and, where there is noise, of `randn(samples)` after that. Keys of the section: samples (1000), coefficients
// ([5, 3, 2, 1]), noise (0, a deviation), seed (42).

struct LinearRegressionSpec {
  int samples = 1000;
  std::vector<double> coefficients{5, 3, 2, 1};
  double noise = 0;
  std::uint32_t seed = 42;
};

NumericProblem linear_regression(const LinearRegressionSpec& spec);
NumericProblem linear_regression(Section& section);

// Softmax regression on generated data: as many normal clouds of samples as there are classes, and a linear classifier.
//
//   p(c | x) = exp(w_c x + b_c) / sum over classes,   loss = mean of -log p(class of x | x)
//   gradient by w_c = mean of (p(c | x) - [x is of c]) x
//
// Weights are flat: the rows w_c, class by class, then the biases b_c. Class centres are normal with deviation
// `separation`, samples normal with deviation 1 around the centre of their class, which goes round from sample to
// sample, so that every run of neighbouring samples holds the classes evenly. Weights start at zero. The numbers are
// drawn as NumPy draws them: seed(seed), randn(classes, features), randn(samples, features). Keys of the section:
// samples (16384), features (16), classes (10), separation (1.0), seed (42).

struct SoftmaxRegressionSpec {
  int samples = 16384;
  int features = 16;
  int classes = 10;
  double separation = 1;
  std::uint32_t seed = 42;
};

NumericProblem softmax_regression(const SoftmaxRegressionSpec& spec);
NumericProblem softmax_regression(Section& section);

// What the builders of problems read of their sections: counts and seeds, within bounds that keep a run affordable.

/// From 1 to ten million.
inline int read_count(Section& section, std::string_view key, int fallback) {
  constexpr int most = 10'000'000;
  const auto value = section.maybe(key);
  if (!value) return fallback;
  const int count = read_at_least(*value, 1);
  if (count > most) value->fail("at most 10,000,000");
  return count;
}

/// What NumPy's `seed` takes and a JSON integer of ours holds: from 0 to 2^31 - 1.
inline std::uint32_t read_seed(Section& section, std::uint32_t fallback) {
  const auto value = section.maybe("seed");
  return value ? static_cast<std::uint32_t>(read_at_least(*value, 0)) : fallback;
}

/// Fails at `where` where a matrix of so many rows and columns is more than half a gigabyte.
inline void require_matrix(int rows, std::size_t columns, const Value& where) {
  constexpr int most = 1 << 26;
  require_at_most(Count(rows) * columns, most, "numbers in the samples", where);
}

}}  // namespace farandole::learning
