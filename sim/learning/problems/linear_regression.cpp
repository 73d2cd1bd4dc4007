#include "learning/numpy_random.hpp"
#include "learning/problems/problems.hpp"

namespace farandole { inline namespace learning {
namespace {

auto rows_of(const NumericProblem& problem, SampleRange samples) {
  return problem.features.middleRows(samples.begin, samples.count);
}

Vector residuals(const NumericProblem& problem, const Vector& weights, SampleRange samples) {
  return rows_of(problem, samples) * weights - problem.targets.segment(samples.begin, samples.count);
}

double squared_loss(const NumericProblem& problem, const Vector& weights, SampleRange samples) {
  return residuals(problem, weights, samples).squaredNorm() / static_cast<double>(samples.count);
}

Vector squared_loss_gradient(const NumericProblem& problem, const Vector& weights, SampleRange samples) {
  const double scale = 2.0 / static_cast<double>(samples.count);
  return scale * (rows_of(problem, samples).transpose() * residuals(problem, weights, samples));
}

}  // namespace

NumericProblem linear_regression(const LinearRegressionSpec& spec) {
  const auto features = static_cast<Eigen::Index>(spec.coefficients.size());
  NumpyRandom random(spec.seed);
  NumericProblem problem{Matrix(spec.samples, features), {}, Vector(features), squared_loss, squared_loss_gradient};
  for (Eigen::Index sample = 0; sample < spec.samples; ++sample) {
    for (Eigen::Index j = 0; j < features; ++j) {
      problem.features(sample, j) = static_cast<double>(j) + random.normal();
    }
  }
  for (double& weight : problem.start) weight = random.normal();
  problem.targets = problem.features * Eigen::Map<const Vector>(spec.coefficients.data(), features);
  if (spec.noise > 0) {
    for (double& target : problem.targets) target += spec.noise * random.normal();
  }
  return problem;
}

NumericProblem linear_regression(Section& section) {
  LinearRegressionSpec spec;
  spec.samples = read_count(section, "samples", spec.samples);
  if (const auto coefficients = section.maybe("coefficients")) {
    spec.coefficients = read<std::vector<double>>(*coefficients);
    if (spec.coefficients.empty()) coefficients->fail("at least one coefficient");
  }
  require_matrix(spec.samples, spec.coefficients.size(), section.value());
  if (const auto noise = section.maybe("noise")) {
    spec.noise = read<double>(*noise);
    if (spec.noise < 0) noise->fail("a deviation of at least 0");
  }
  spec.seed = read_seed(section, spec.seed);
  return linear_regression(spec);
}

}}  // namespace farandole::learning
