#include "calibration/fit_problem.hpp"

#include <algorithm>
#include <optional>

#include "calibration/linear_algebra.hpp"
#include "calibration/predictor.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr int most_fit_rounds = 12;

Solution solve(const FitProblem& problem, std::span<const Parameter> parameters, std::vector<double> values) {
  Solution solution{std::move(values), {}, {}, {}, {}};
  RobustWeights robust;
  for (int round = 0; round < most_fit_rounds; ++round) {
    const Eigen::VectorXd here = problem.relative(parameters, solution.values);
    solution.jacobian = problem.jacobian(parameters, solution.values, here);
    const Eigen::VectorXd residuals = here.array() - 1;
    robust = weights_of(residuals, problem.scatter());
    const Eigen::VectorXd now = vector_of(solution.values);
    const Eigen::VectorXd next =
        non_negative_least_squares(solution.jacobian, solution.jacobian * now - residuals, robust.weights);
    solution.values.assign(next.data(), next.data() + next.size());
    if ((solution.jacobian * (next - now)).cwiseAbs().maxCoeff() < converged) break;
  }
  solution.residuals = problem.relative(parameters, solution.values).array() - 1;
  solution.weights = weights_of(solution.residuals, problem.scatter()).weights;
  solution.covariance = covariance(solution.jacobian, robust.weights) * robust.deviation * robust.deviation;
  return solution;
}

constexpr const char* processors_time = "/occupancy/send";

/// Messages do not show what they keep a processor with while that takes less than their latency, so nothing leads a
/// fit away from zero there. From above the way back is straight: another start is at the shortest time measured.
std::optional<std::vector<double>> start_above(const FitProblem& problem, std::span<const Parameter> parameters,
                                               std::vector<double> values) {
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    if (!parameters[j].pointer.ends_with(processors_time)) continue;
    values[j] = problem.shortest();
    return values;
  }
  return std::nullopt;
}

}  // namespace

FitProblem::FitProblem(const Document& topology, std::span<const MeasuredTime> measurements, const Scatter& scatter)
    : topology_(topology),
      rows_(measurements.begin(), measurements.end()),
      times_(vector_of(rows_, [](const MeasuredTime& row) { return row.time.si(); })),
      scatter_(vector_of(rows_, [&](const MeasuredTime& row) { return scatter.of(row); })) {}

double FitProblem::shortest_per_byte() const {
  double least = times_.minCoeff();
  for (const MeasuredTime& row : rows_) {
    if (row.bytes > Bytes(0)) least = std::min(least, row.time.si() / row.bytes.si());
  }
  return least;
}

Eigen::VectorXd FitProblem::relative(std::span<const Parameter> parameters, std::span<const double> values) const {
  const Document trial = with(topology_, parameters, values);
  const auto predicted = predict(read_topology(trial.root(), topology_.source()), rows_);
  return vector_of(predicted, &Seconds::si).cwiseQuotient(times_);
}

Eigen::MatrixXd FitProblem::jacobian(std::span<const Parameter> parameters, const std::vector<double>& values,
                                     const Eigen::VectorXd& here) const {
  Eigen::MatrixXd columns(times_.size(), static_cast<Eigen::Index>(values.size()));
  for (std::size_t j = 0; j < values.size(); ++j) {
    std::vector<double> moved = values;
    const double step = std::max(1e-3 * values[j], smallest_step(parameters[j].kind));
    moved[j] += step;
    columns.col(static_cast<Eigen::Index>(j)) = (relative(parameters, moved) - here) / step;
  }
  return columns;
}

/// A thousandth of the shortest time, or of the shortest time per byte, measured; of sizes a packet or so.
double FitProblem::smallest_step(ParameterKind kind) const {
  if (kind == ParameterKind::size) return 1024;
  if (kind == ParameterKind::share || kind == ParameterKind::congestion) return 1e-3;
  return 1e-3 * (kind == ParameterKind::time_per_byte ? shortest_per_byte() : shortest());
}

RobustWeights weights_of(const Eigen::VectorXd& residuals, const Eigen::VectorXd& scatter) {
  if (scatter.maxCoeff() <= 0) return huber_weights(residuals, least_deviation);
  const double deviation = huber_weights(residuals, least_deviation).deviation;
  const Eigen::ArrayXd kept = deviation / (deviation * deviation + scatter.array().square()).sqrt();
  RobustWeights robust = huber_weights((residuals.array() * kept).matrix(), least_deviation);
  robust.weights.array() *= kept.square();
  return robust;
}

Solution best_solution(const FitProblem& problem, std::span<const Parameter> parameters,
                       const std::vector<double>& values) {
  Solution solution = solve(problem, parameters, values);
  const auto above = start_above(problem, parameters, values);
  if (!above) return solution;
  Solution other = solve(problem, parameters, *above);
  const auto left_over = [&](const Solution& of) {
    return (problem.relative(parameters, of.values).array() - 1).abs().sum();
  };
  return left_over(other) < left_over(solution) ? other : solution;
}

}}  // namespace farandole::calibration
