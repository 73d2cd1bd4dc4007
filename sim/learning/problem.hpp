// A numeric problem: samples, weights to start from, and the mean loss with its gradient over any run of samples.
//
// A kind of problem is a builder in learning/problems/ and a row of `problems()`; the builder reads its own keys of a
// scenario's "learning" section. Weights are one flat vector. Loss and gradient are means over the samples of the
// range; a range lies within the samples and holds at least one.
#pragma once

#include <functional>
#include <span>

#include <Eigen/Core>

#include "config/named.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace learning {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct SampleRange {
  Eigen::Index begin = 0;
  Eigen::Index count = 0;
};

/// The part of the weights that is a matrix, from the first weight on, row by row; the rest is a vector.
struct MatrixShape {
  Eigen::Index rows = 0;
  Eigen::Index columns = 0;
};

struct NumericProblem {
  Matrix features;  // a row for each sample
  Vector targets;   // a number for each sample: the value to predict, or which class it is of
  Vector start;
  double (*loss)(const NumericProblem& problem, const Vector& weights, SampleRange samples) = nullptr;
  Vector (*gradient)(const NumericProblem& problem, const Vector& weights, SampleRange samples) = nullptr;
  MatrixShape matrix{};

  [[nodiscard]] SampleRange all() const { return {0, features.rows()}; }
};

using ProblemRow = Entry<std::function<NumericProblem(Section& section)>>;

std::span<const ProblemRow> problems();

}}  // namespace farandole::learning
