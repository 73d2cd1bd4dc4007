#include "learning/numpy_random.hpp"
#include "learning/problems/problems.hpp"

namespace farandole { inline namespace learning {
namespace {

using Weights = Eigen::Map<const Matrix>;

Eigen::Index classes_of(const NumericProblem& problem) {
  return problem.start.size() / (problem.features.cols() + 1);
}

/// log p(c | x), a row for each sample; the largest score is taken out first, so that no exponential overflows.
Matrix log_probabilities(const NumericProblem& problem, const Vector& weights, SampleRange samples) {
  const Eigen::Index classes = classes_of(problem);
  const Weights slopes(weights.data(), classes, problem.features.cols());
  Matrix scores = problem.features.middleRows(samples.begin, samples.count) * slopes.transpose();
  scores.rowwise() += weights.tail(classes).transpose();
  scores.colwise() -= scores.rowwise().maxCoeff().eval();
  const Vector totals = scores.array().exp().rowwise().sum().log();
  scores.colwise() -= totals;
  return scores;
}

Eigen::Index class_of(const NumericProblem& problem, Eigen::Index sample) {
  return static_cast<Eigen::Index>(problem.targets[sample]);
}

double softmax_loss(const NumericProblem& problem, const Vector& weights, SampleRange samples) {
  const Matrix logs = log_probabilities(problem, weights, samples);
  double sum = 0;
  for (Eigen::Index i = 0; i < samples.count; ++i) sum -= logs(i, class_of(problem, samples.begin + i));
  return sum / static_cast<double>(samples.count);
}

Vector softmax_loss_gradient(const NumericProblem& problem, const Vector& weights, SampleRange samples) {
  Matrix excess = log_probabilities(problem, weights, samples).array().exp();
  for (Eigen::Index i = 0; i < samples.count; ++i) excess(i, class_of(problem, samples.begin + i)) -= 1;
  excess /= static_cast<double>(samples.count);
  const Matrix slopes = excess.transpose() * problem.features.middleRows(samples.begin, samples.count);
  Vector result(weights.size());
  result << Eigen::Map<const Vector>(slopes.data(), slopes.size()), excess.colwise().sum().transpose();
  return result;
}

Matrix normal_matrix(NumpyRandom& random, Eigen::Index rows, Eigen::Index columns) {
  Matrix result(rows, columns);
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (Eigen::Index column = 0; column < columns; ++column) result(row, column) = random.normal();
  }
  return result;
}

}  // namespace

NumericProblem softmax_regression(const SoftmaxRegressionSpec& spec) {
  NumpyRandom random(spec.seed);
  const Matrix centres = spec.separation * normal_matrix(random, spec.classes, spec.features);
  NumericProblem problem{normal_matrix(random, spec.samples, spec.features),
                         Vector(spec.samples),
                         Vector::Zero(Eigen::Index{spec.classes} * (spec.features + 1)),
                         softmax_loss,
                         softmax_loss_gradient,
                         {spec.classes, spec.features}};
  for (Eigen::Index sample = 0; sample < spec.samples; ++sample) {
    const Eigen::Index own = sample % spec.classes;
    problem.targets[sample] = static_cast<double>(own);
    problem.features.row(sample) += centres.row(own);
  }
  return problem;
}

NumericProblem softmax_regression(Section& section) {
  SoftmaxRegressionSpec spec;
  spec.samples = read_count(section, "samples", spec.samples);
  spec.features = read_count(section, "features", spec.features);
  spec.classes = read_count(section, "classes", spec.classes);
  require_matrix(spec.samples, static_cast<std::size_t>(spec.features), section.value());
  require_matrix(spec.classes, static_cast<std::size_t>(spec.features), section.value());
  if (const auto separation = section.maybe("separation")) {
    spec.separation = read<double>(*separation);
    if (spec.separation < 0) separation->fail("a deviation of at least 0");
  }
  spec.seed = read_seed(section, spec.seed);
  return softmax_regression(spec);
}

}}  // namespace farandole::learning
