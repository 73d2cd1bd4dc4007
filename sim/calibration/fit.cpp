#include "calibration/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/fit_problem.hpp"
#include "calibration/linear_algebra.hpp"
#include "calibration/predictor.hpp"
#include "config/section.hpp"
#include "timeline/quantile.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr double most_uncertain = 1.0;  // standard error over value, from which on a parameter counts as unknown

double parameter_standard_error(const Solution& solution, std::size_t index) {
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
std::optional<std::pair<std::size_t, std::string>> least_known(const Solution& solution,
                                                               std::span<const Parameter> parameters) {
  std::optional<std::pair<std::size_t, std::string>> found;
  double most = most_uncertain;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    if (solution.jacobian.col(static_cast<Eigen::Index>(j)).cwiseAbs().maxCoeff() <= 0)
      return std::pair{j, std::string("not identifiable from these data")};
    const double value = solution.values[j];
    const double uncertainty = value > 0 ? parameter_standard_error(solution, j) / value : 0;
    if (uncertainty <= most) continue;
    most = uncertainty;
    const std::string other = confused_with(solution, parameters, j);
    found = std::pair{j, other.empty() ? fmt::format("its standard error is {:.0f} % of it", 100 * uncertainty)
                                       : "the measurements cannot tell it from the " + other};
  }
  return found;
}

std::vector<double> values_in(const Document& topology, std::span<const Parameter> parameters) {
  return mapped(parameters, [&](const Parameter& parameter) { return value_in(topology, parameter); });
}

std::vector<double> relative_errors(const Document& topology, std::span<const MeasuredTime> measurements) {
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
  const Eigen::VectorXd now = vector_of(solution.values)(free);
  const Eigen::MatrixXd jacobian = solution.jacobian(Eigen::all, free);
  const Eigen::VectorXd next = non_negative_least_squares(jacobian, jacobian * now - solution.residuals, weights);
  moved(free) = next - now;
  const Eigen::VectorXd predicted = (1 + solution.residuals.array() + (solution.jacobian * moved).array()).matrix();
  return {predicted.begin(), predicted.end()};
}

/// The parameters of links and messages, into `result`.
void fit_parameters(const Document& topology, std::span<const MeasuredTime> counted, Fit& result) {
  const FitProblem problem(topology, counted, result.scatter);
  std::vector<Parameter> free = parameters_of(topology, counted);
  Solution solution = best_solution(problem, free, values_in(topology, free));
  while (const auto unknown = least_known(solution, free)) {
    const auto& [index, reason] = *unknown;
    const Parameter& parameter = free[index];
    const double kept = value_in(topology, parameter);
    result.parameters.push_back({parameter, kept, kept, 0, reason});
    free.erase(free.begin() + static_cast<std::ptrdiff_t>(index));
    if (free.empty()) break;
    solution = best_solution(problem, free, values_in(topology, free));
  }
  for (std::size_t j = 0; j < free.size(); ++j) {
    result.parameters.push_back({free[j], value_in(topology, free[j]), solution.values[j],
                                 parameter_standard_error(solution, j), std::nullopt});
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
    return mapped(relative_errors(refitted, rows), [](double error) { return 1 + error; });
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
  Fit result{topology, {}, {}, {}, {}, scatter_of(measurements)};
  if (counted.empty()) {
    for (const Parameter& parameter : parameters_of(topology)) {
      const double kept = value_in(topology, parameter);
      result.parameters.push_back(
          {parameter, kept, kept, 0, "libraries' collectives are fitted apart and do not show it"});
    }
    result.spread = spread_of_libraries(result.topology, of_libraries);
  } else {
    fit_parameters(topology, counted, result);
  }
  widen_by_scatter(result.spread, result.scatter);
  result.libraries = fit_libraries(result.topology, of_libraries);
  adopt_library(result.topology, measurements);
  result.errors = relative_errors(result.topology, measurements);
  return result;
}

namespace {

constexpr double huber_limit = 1.345;    // 95 % efficient where errors are normal
constexpr double mad_to_sigma = 1.4826;  // of a normal distribution

/// Lengths of the weighted columns; one where a column is zero.
Eigen::VectorXd lengths(const Eigen::MatrixXd& weighted) {
  return weighted.colwise().norm().unaryExpr([](double length) { return length > 0 ? length : 1.0; }).transpose();
}

}  // namespace

RobustWeights huber_weights(const Eigen::VectorXd& residuals, double floor) {
  const Eigen::VectorXd sizes = residuals.cwiseAbs();
  const double deviation =
      std::max(floor, mad_to_sigma * median(std::vector<double>(sizes.data(), sizes.data() + sizes.size())));
  const double limit = huber_limit * deviation;
  return {sizes.unaryExpr([limit](double size) { return size > limit ? limit / size : 1.0; }), deviation};
}

Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                           const Eigen::VectorXd& weights) {
  const Eigen::VectorXd roots = weights.cwiseSqrt();
  const Eigen::MatrixXd weighted = roots.asDiagonal() * a;
  const Eigen::VectorXd target = roots.cwiseProduct(b);
  const Eigen::VectorXd scale = lengths(weighted);
  Eigen::VectorXd best = Eigen::VectorXd::Zero(a.cols());
  double least = std::numeric_limits<double>::infinity();
  for (unsigned free = 0; free < 1U << static_cast<unsigned>(a.cols()); ++free) {
    std::vector<Eigen::Index> columns;
    for (Eigen::Index column = 0; column < a.cols(); ++column) {
      if ((free >> static_cast<unsigned>(column) & 1U) != 0) columns.push_back(column);
    }
    const Eigen::MatrixXd part = (weighted * scale.cwiseInverse().asDiagonal())(Eigen::all, columns);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
    if (!columns.empty()) x(columns) = least_squares_solution(part, target);
    x = x.cwiseQuotient(scale);
    const double error = (weighted * x - target).squaredNorm();
    // A set with more held at zero wins a tie, so that nothing is fitted without need.
    if (x.minCoeff() >= 0 && error < least * (1 - 1e-12)) {
      least = error;
      best = x;
    }
  }
  return best;
}

Eigen::MatrixXd covariance(const Eigen::MatrixXd& a, const Eigen::VectorXd& weights) {
  const Eigen::MatrixXd weighted = weights.cwiseSqrt().asDiagonal() * a;
  const Eigen::VectorXd inverse = lengths(weighted).cwiseInverse();
  const Eigen::MatrixXd scaled = weighted * inverse.asDiagonal();
  const Eigen::MatrixXd normal = scaled.transpose() * scaled;
  const Eigen::MatrixXd inverted = pseudo_inverse(normal);
  return inverse.asDiagonal() * inverted * inverse.asDiagonal();
}

namespace {

using Json = nlohmann::ordered_json;

const char* unit_of(ParameterKind kind) {
  if (kind == ParameterKind::time) return "s";
  if (kind == ParameterKind::share || kind == ParameterKind::congestion) return "of 1";
  return kind == ParameterKind::size ? "B" : "s/B";
}

Json fitted(const FittedParameter& parameter) {
  Json result{{"name", parameter.parameter.name},
              {"pointer", parameter.parameter.pointer},
              {"value", shown(parameter.parameter, parameter.value)}};
  if (parameter.unidentified) {
    result["not_identified"] = *parameter.unidentified;
  } else {
    result["standard_error"] = fmt::format("{:.3g} {}", parameter.standard_error, unit_of(parameter.parameter.kind));
  }
  return result;
}

Json fit_residuals(const Fit& fit) {
  const auto sizes = mapped(fit.errors, [](double error) { return std::abs(error); });
  return {{"measurements", sizes.size()},
          {"median", percent_text(median(sizes))},
          {"worst", percent_text(std::ranges::max(sizes))}};
}

Json by_size(const std::vector<std::optional<ScatterOfSizes>>& sizes) {
  Json classes = Json::object();
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    if (!sizes[c]) continue;
    classes[size_classes[c].name] = {{"deviation", percent_text(sizes[c]->deviation)},
                                     {"standard_error", percent_text(sizes[c]->standard_error)},
                                     {"settings", sizes[c]->settings}};
  }
  return classes;
}

}  // namespace

std::string percent_text(double fraction) {
  return fmt::format("{:.2f} %", 100 * fraction);
}

Document calibrated_file(const Fit& fit, const CalibrationSource& provenance) {
  Json note{{"comment", "Written by farandole calibrate; the values stand where the parameters' pointers say."},
            {"date", provenance.date},
            {"source", provenance.sources},
            {"parameters", mapped(all_parameters(fit), fitted)},
            {"residuals", fit_residuals(fit)},
            {"bands", Json::parse(spread_text(fit.spread))}};
  if (fit.scatter.shows_anything()) {
    note["repeats"] = {{"comment", "Standard deviation over the mean, of one setting that was measured again"},
                       {"between_rows", by_size(fit.scatter.between_rows)},
                       {"of_repetitions", by_size(fit.scatter.of_repetitions)}};
  }
  if (const auto& errors = provenance.held_out) {
    note["held_out"] = {{"what", errors->what},
                        {"median", percent_text(errors->median)},
                        {"nine_of_ten_below", percent_text(errors->p90)},
                        {"worst", percent_text(errors->worst)}};
  }
  if (provenance.forced) {
    note["forced"] = fmt::format("written by --force: the median error left is above {:.0f} %", 100 * most_error_left);
  }
  Document file = fit.topology;
  file.remove("/calibration");
  file.set("/calibration", note.dump());
  return file;
}

std::optional<Spread> spread_in(const Document& topology) {
  const auto bands = topology.find("/calibration/bands");
  return bands ? std::optional(read_spread(*bands)) : std::nullopt;
}

}}  // namespace farandole::calibration
