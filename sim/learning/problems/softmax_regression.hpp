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
#pragma once

#include <cstdint>

#include "learning/problem.hpp"

namespace farandole {

struct SoftmaxRegressionSpec {
  int samples = 16384;
  int features = 16;
  int classes = 10;
  double separation = 1;
  std::uint32_t seed = 42;
};

NumericProblem softmax_regression(const SoftmaxRegressionSpec& spec);
NumericProblem softmax_regression(Section& section);

}  // namespace farandole
