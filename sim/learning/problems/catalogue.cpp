#include <vector>

#include "learning/problem.hpp"
#include "learning/problems/problems.hpp"

namespace farandole { inline namespace learning {

std::span<const ProblemRow> problems() {
  static const std::vector<ProblemRow> rows{
      {"linear_regression", "recover the coefficients of a linear function of normal features, by mean squared error",
       [](Section& section) { return linear_regression(section); }},
      {"softmax_regression", "tell normal clouds of samples apart, by cross-entropy of a linear classifier",
       [](Section& section) { return softmax_regression(section); }},
  };
  return rows;
}

}}  // namespace farandole::learning
