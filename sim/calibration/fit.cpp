#include "calibration/fit.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "calibration/predictor.hpp"

namespace farandole::inline calibration {
namespace {

constexpr int most_rounds = 12;
constexpr double converged = 1e-7;        // relative change of every prediction
constexpr double least_deviation = 1e-3;  // clocks and rounding; keeps perfect data from weighing everything down
constexpr double most_uncertain = 1.0;    // standard error over value, from which on a parameter counts as unknown

/// The measurements that are fitted to, and the linear problem around a trial.
class Problem {
 public:
  Problem(const Document& topology, std::span<const MeasuredTime> measurements)
      : topology_(topology), rows_(measurements.begin(), measurements.end()) {
    times_.resize(static_cast<Eigen::Index>(rows_.size()));
    for (std::size_t i = 0; i < rows_.size(); ++i) times_[static_cast<Eigen::Index>(i)] = rows_[i].time.si();
  }

  [[nodiscard]] double shortest() const { return times_.minCoeff(); }
  [[nodiscard]] Eigen::VectorXd relative(std::span<const Parameter> parameters, std::span<const double> values) const {
    const Document trial = with(topology_, parameters, values);
    const auto predicted = predict(read_topology(trial.root(), topology_.source()), rows_);
    Eigen::VectorXd result(times_.size());
    for (std::size_t i = 0; i < predicted.size(); ++i) result[static_cast<Eigen::Index>(i)] = predicted[i].si();
    return result.cwiseQuotient(times_);
  }

  /// d (predicted / measured) / d parameter, by forward differences; times are linear between few kinks.
  [[nodiscard]] Eigen::MatrixXd jacobian(std::span<const Parameter> parameters, const std::vector<double>& values,
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

 private:
  /// A thousandth of the shortest time, or of the shortest time per byte, measured; of sizes a packet or so.
  [[nodiscard]] double smallest_step(ParameterKind kind) const {
    if (kind == ParameterKind::size) return 1024;
    double least = times_.minCoeff();
    if (kind == ParameterKind::time_per_byte) {
      for (const MeasuredTime& row : rows_) {
        if (row.bytes > Bytes(0)) least = std::min(least, row.time.si() / row.bytes.si());
      }
    }
    return 1e-3 * least;
  }

  const Document& topology_;
  std::vector<MeasuredTime> rows_;
  Eigen::VectorXd times_;
};

struct Solution {
  std::vector<double> values;
  Eigen::VectorXd residuals;
  Eigen::MatrixXd jacobian;
  Eigen::MatrixXd covariance;
  Eigen::VectorXd weights;
};

Solution solve(const Problem& problem, std::span<const Parameter> parameters, std::vector<double> values) {
  Solution solution{std::move(values), {}, {}, {}, {}};
  RobustWeights robust;
  for (int round = 0; round < most_rounds; ++round) {
    const Eigen::VectorXd here = problem.relative(parameters, solution.values);
    solution.jacobian = problem.jacobian(parameters, solution.values, here);
    const Eigen::VectorXd residuals = here.array() - 1;
    robust = huber_weights(residuals, least_deviation);
    const Eigen::VectorXd now =
        Eigen::Map<const Eigen::VectorXd>(solution.values.data(), static_cast<Eigen::Index>(solution.values.size()));
    const Eigen::VectorXd next =
        non_negative_least_squares(solution.jacobian, solution.jacobian * now - residuals, robust.weights);
    solution.values.assign(next.data(), next.data() + next.size());
    if ((solution.jacobian * (next - now)).cwiseAbs().maxCoeff() < converged) break;
  }
  solution.residuals = problem.relative(parameters, solution.values).array() - 1;
  solution.weights = huber_weights(solution.residuals, least_deviation).weights;
  solution.covariance = covariance(solution.jacobian, robust.weights) * robust.deviation * robust.deviation;
  return solution;
}

constexpr const char* processors_time = "/occupancy/send";

/// Messages do not show what they keep a processor with while that takes less than their latency, so nothing leads a
/// fit away from zero there. From above the way back is straight: another start is at the shortest time measured.
std::optional<std::vector<double>> start_above(const Problem& problem, std::span<const Parameter> parameters,
                                               std::vector<double> values) {
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    if (!parameters[j].pointer.ends_with(processors_time)) continue;
    values[j] = problem.shortest();
    return values;
  }
  return std::nullopt;
}

Solution best_solution(const Problem& problem, std::span<const Parameter> parameters,
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

double standard_error(const Solution& solution, std::size_t index) {
  const auto i = static_cast<Eigen::Index>(index);
  return std::sqrt(std::max(0.0, solution.covariance(i, i)));
}

/// What moves the predictions most like parameter `index` does.
std::string confused_with(const Solution& solution, std::span<const Parameter> parameters, std::size_t index) {
  const Eigen::VectorXd own = solution.jacobian.col(static_cast<Eigen::Index>(index)).normalized();
  std::string other;
  double most = 0.9;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    if (j == index) continue;
    const double likeness = std::abs(own.dot(solution.jacobian.col(static_cast<Eigen::Index>(j)).normalized()));
    if (likeness > most) {
      most = likeness;
      other = parameters[j].name;
    }
  }
  return other;
}

/// The parameter the data say least about, and why; nothing where all are settled.
struct Unidentified {
  std::size_t index;
  std::string reason;
};
std::optional<Unidentified> least_known(const Solution& solution, std::span<const Parameter> parameters) {
  std::optional<Unidentified> found;
  double most = most_uncertain;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    if (solution.jacobian.col(static_cast<Eigen::Index>(j)).cwiseAbs().maxCoeff() <= 0)
      return Unidentified{j, "not identifiable from these data"};
    const double value = solution.values[j];
    const double uncertainty = value > 0 ? standard_error(solution, j) / value : 0;
    if (uncertainty <= most) continue;
    most = uncertainty;
    const std::string other = confused_with(solution, parameters, j);
    found = Unidentified{j, other.empty() ? fmt::format("its standard error is {:.0f} % of it", 100 * uncertainty)
                                          : "the measurements cannot tell it from the " + other};
  }
  return found;
}

std::vector<double> values_in(const Document& topology, std::span<const Parameter> parameters) {
  std::vector<double> values;
  for (const Parameter& parameter : parameters) values.push_back(value_in(topology, parameter));
  return values;
}

std::vector<double> errors_of(const Document& topology, std::span<const MeasuredTime> measurements) {
  const auto predicted = predict(read_topology(topology.root(), topology.source()), measurements);
  std::vector<double> errors;
  for (std::size_t i = 0; i < measurements.size(); ++i) errors.push_back(predicted[i] / measurements[i].time - 1);
  return errors;
}

/// What a fit without some measurements predicts of all, over what was measured: a step of the same least squares from
/// the whole fit's solution, where times are linear in the parameters but for few kinks. What the rest does not depend
/// on at all has the file's value.
std::vector<double> without(const std::vector<bool>& left_out, const Solution& solution,
                            const std::vector<double>& in_file) {
  const Eigen::Index columns = solution.jacobian.cols();
  Eigen::VectorXd weights = solution.weights;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (left_out[i]) weights[static_cast<Eigen::Index>(i)] = 0;
  }
  const Eigen::MatrixXd seen = weights.cwiseSign().asDiagonal() * solution.jacobian;
  std::vector<Eigen::Index> free;
  Eigen::VectorXd moved = Eigen::VectorXd::Zero(columns);
  for (Eigen::Index j = 0; j < columns; ++j) {
    if (seen.col(j).cwiseAbs().maxCoeff() > 0) {
      free.push_back(j);
    } else {
      moved[j] = in_file[static_cast<std::size_t>(j)] - solution.values[static_cast<std::size_t>(j)];
    }
  }
  if (free.empty()) return {};
  Eigen::VectorXd now(static_cast<Eigen::Index>(free.size()));
  for (std::size_t k = 0; k < free.size(); ++k)
    now[static_cast<Eigen::Index>(k)] = solution.values[static_cast<std::size_t>(free[k])];
  const Eigen::MatrixXd jacobian = solution.jacobian(Eigen::all, free);
  const Eigen::VectorXd next = non_negative_least_squares(jacobian, jacobian * now - solution.residuals, weights);
  moved(free) = next - now;
  const Eigen::VectorXd predicted = (1 + solution.residuals.array() + (solution.jacobian * moved).array()).matrix();
  return {predicted.begin(), predicted.end()};
}

/// The parameters of links and messages, into `result`.
void fit_parameters(const Document& topology, std::span<const MeasuredTime> counted, Fit& result) {
  const Problem problem(topology, counted);
  std::vector<Parameter> free = parameters_of(topology, counted);
  Solution solution = best_solution(problem, free, values_in(topology, free));
  while (const auto unknown = least_known(solution, free)) {
    const Parameter& parameter = free[unknown->index];
    const double kept = value_in(topology, parameter);
    result.parameters.push_back({parameter, kept, kept, 0, unknown->reason});
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(unknown->index));
    if (free.empty()) break;
    solution = best_solution(problem, free, values_in(topology, free));
  }
  for (std::size_t j = 0; j < free.size(); ++j) {
    result.parameters.push_back(
        {free[j], value_in(topology, free[j]), solution.values[j], standard_error(solution, j), std::nullopt});
  }
  result.topology = with(topology, free, solution.values);
  if (free.empty()) return;
  const std::vector<double> in_file = values_in(topology, free);
  result.spread =
      spread_of(counted, [&](const std::vector<bool>& left_out) { return without(left_out, solution, in_file); });
}

/// Likewise of libraries: fits of their own without some rows.
Spread spread_of_libraries(const Document& topology, const std::vector<MeasuredTime>& rows) {
  return spread_of(rows, [&](const std::vector<bool>& left_out) {
    std::vector<MeasuredTime> rest;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!left_out[i]) rest.push_back(rows[i]);
    }
    Document refitted = topology;
    fit_libraries(refitted, rest);
    std::vector<double> ratios;
    for (const double error : errors_of(refitted, rows)) ratios.push_back(1 + error);
    return ratios;
  });
}

FittedParameter of_piece(Parameter parameter, const PieceValue& found, double before) {
  return {std::move(parameter), before, found.value, found.standard_error,
          found.unidentified.empty() ? std::nullopt : std::optional(found.unidentified)};
}

}  // namespace

std::vector<FittedParameter> all_parameters(const Fit& fit) {
  std::vector<FittedParameter> all = fit.parameters;
  for (const LibraryFit& library : fit.libraries) {
    for (std::size_t k = 0; k < library.pieces.size(); ++k) {
      const FittedPiece& piece = library.pieces[k];
      const std::string pointer = fmt::format("{}/pieces/{}/", library.pointer, k);
      const std::string what = piece_name(library, k);
      all.push_back(of_piece({"latency of " + what, pointer + "latency", ParameterKind::time}, piece.latency,
                             piece.way.latency.si()));
      all.push_back(of_piece({"rate of " + what, pointer + "rate", ParameterKind::time_per_byte}, piece.time_per_byte,
                             1 / piece.way.rate.si()));
    }
  }
  return all;
}

Fit fit(const Document& topology, std::span<const MeasuredTime> measurements) {
  const Topology machine = read_topology(topology.root(), topology.source());
  std::vector<MeasuredTime> counted;
  std::vector<MeasuredTime> of_libraries;
  for (const MeasuredTime& row : measurements) {
    if (!row.doubt) (is_piecewise(row, machine) ? of_libraries : counted).push_back(row);
  }
  if (counted.empty() && of_libraries.empty())
    throw InputError("expected at least one measurement without a doubt to fit to, got none");
  Fit result{topology, {}, {}, {}, {}};
  if (!counted.empty()) fit_parameters(topology, counted, result);
  if (counted.empty()) result.spread = spread_of_libraries(result.topology, of_libraries);
  result.libraries = fit_libraries(result.topology, of_libraries);
  adopt_library(result.topology, measurements);
  result.errors = errors_of(result.topology, measurements);
  return result;
}

}  // namespace farandole::inline calibration
