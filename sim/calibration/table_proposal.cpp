#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>
#include <fmt/format.h>

#include "calibration/fit_problem.hpp"
#include "calibration/linear_algebra.hpp"
#include "calibration/next_measurement.hpp"
#include "calibration/predictor.hpp"
#include "config/section.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace calibration {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int most_width_halvings = 8;

VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

/// Half of the least that anything takes, measured or as the file has it, and of the least per byte: as wide is what is
/// believed of a number that the file has nothing of. (A message keeps its sender's and its receiver's processor for no
/// longer than it takes.)
struct Scales {
  double time = std::numeric_limits<double>::infinity();
  double per_byte = std::numeric_limits<double>::infinity();

  void take(const MeasuredTime& row, Seconds taken) {
    time = std::min(time, taken.si() / 2);
    if (row.bytes > Bytes(0)) per_byte = std::min(per_byte, taken.si() / row.bytes.si() / 2);
  }
};

/// The numbers of a fit and what its measurements say of them together.
class FittedNumbers {
 public:
  FittedNumbers(const Fit& fit, std::vector<MeasuredTime> rows) : fit_(fit), rows_(std::move(rows)) {
    for (const FittedParameter& fitted : fit.parameters) {
      parameters_.push_back(fitted.parameter);
      values_.push_back(fitted.value);
    }
  }

  [[nodiscard]] double noise() const { return noise_; }

  Knowledge knowledge(const Scales& scales) {
    VectorXd widths(static_cast<Index>(values_.size()));
    for (std::size_t j = 0; j < values_.size(); ++j) widths[static_cast<Index>(j)] = width_of(j, scales);
    MatrixXd information = MatrixXd::Zero(widths.size(), widths.size());
    if (!rows_.empty()) information = information_of(widths);
    // Scaled by the widths, whose units differ by many powers of ten.
    MatrixXd scaled = widths.asDiagonal() * information * widths.asDiagonal();
    scaled.diagonal().array() += 1;
    const MatrixXd covariance = widths.asDiagonal() * inverse_of(scaled) * widths.asDiagonal();
    VectorXd steps = covariance.diagonal().cwiseSqrt();
    for (std::size_t j = 0; j < values_.size(); ++j) {
      if (fit_.parameters[j].unidentified) steps[static_cast<Index>(j)] = widths[static_cast<Index>(j)];
    }
    return {[this](const VectorXd& numbers) {
              return with(fit_.topology, parameters_, std::vector<double>(numbers.begin(), numbers.end()));
            },
            vector_of(values_), steps, covariance};
  }

 private:
  [[nodiscard]] std::optional<double> width_in_file(const Parameter& parameter) const {
    const auto priors = fit_.topology.find("/priors");
    if (!priors || parameter.kind == ParameterKind::congestion) return std::nullopt;
    for (const auto& [pointer, prior] : priors->members()) {
      if (pointer != parameter.pointer) continue;
      const auto ends = Section(prior).child("between").elements();
      if (ends.size() != 2) return std::nullopt;
      Document changed = fit_.topology;
      double at[2];
      for (std::size_t end = 0; end < 2; ++end) {
        changed.set(pointer, '"' + read<std::string>(ends[end]) + '"');
        at[end] = value_in(changed, parameter);
      }
      return std::abs(at[1] - at[0]) / 2 / to_ninth_decile;
    }
    return std::nullopt;
  }

  [[nodiscard]] double width_of(std::size_t j, const Scales& scales) const {
    if (const auto width = width_in_file(parameters_[j]); width && *width > 0) return *width;
    if (values_[j] > 0) return values_[j] * std::log(2) / to_ninth_decile;
    if (parameters_[j].kind == ParameterKind::time) return scales.time;
    if (parameters_[j].kind == ParameterKind::time_per_byte) return scales.per_byte;
    return parameters_[j].kind == ParameterKind::size ? 65536 : 1;
  }

  /// J' W J / noise^2; narrows the widths of what is not identified to where the rows are linear in it.
  MatrixXd information_of(VectorXd& widths) {
    const FitProblem problem(fit_.topology, rows_, fit_.scatter);
    const VectorXd here = problem.relative(parameters_, values_);
    const MatrixXd jacobian = problem.jacobian(parameters_, values_, here);
    const RobustWeights robust = weights_of((here.array() - 1).matrix(), problem.scatter());
    noise_ = std::max(noise_, robust.deviation);
    for (std::size_t j = 0; j < values_.size(); ++j) {
      const auto column = static_cast<Index>(j);
      for (int halving = 0; fit_.parameters[j].unidentified && halving < most_width_halvings; ++halving) {
        std::vector<double> moved = values_;
        moved[j] += widths[column];
        const VectorXd bent = problem.relative(parameters_, moved) - here - widths[column] * jacobian.col(column);
        if (bent.cwiseAbs().maxCoeff() <= noise_) break;
        widths[column] /= 2;
      }
    }
    return jacobian.transpose() * robust.weights.asDiagonal() * jacobian / (noise_ * noise_);
  }

  const Fit& fit_;
  std::vector<MeasuredTime> rows_;
  std::vector<Parameter> parameters_;
  std::vector<double> values_;
  double noise_ = least_noise;
};

/// Those that the machine can run, and how long what they take and what was measured is.
std::vector<PossibleRow> runnable(const Topology& machine, Scales& scales) {
  std::vector<PossibleRow> rows = possible_rows(machine);
  std::erase_if(rows, [&](const PossibleRow& possible) {
    try {
      const Seconds taken = predict(machine, {&possible.row, 1}).front();
      if (taken > Seconds(0)) scales.take(possible.row, taken);
      return !(taken > Seconds(0));
    } catch (const InputError&) {
      return true;
    }
  });
  return rows;
}

Candidates row_candidates(const std::vector<PossibleRow>& possible, double noise, const Scatter& scatter) {
  Candidates candidates;
  std::vector<MeasuredTime> rows;
  for (const PossibleRow& one : possible) {
    candidates.list.push_back({one.what, std::hypot(noise, scatter.of(one.row))});
    rows.push_back(one.row);
  }
  candidates.log_times = [rows](const Document& topology) {
    const auto times = predict(read_topology(topology.root(), topology.source()), rows);
    VectorXd logs(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) logs[static_cast<Index>(i)] = std::log(times[i].si());
    return logs;
  };
  return candidates;
}

void propose_parameters(const Fit& fit, const std::vector<MeasuredTime>& rows, const std::vector<MeasuredTime>& times,
                        std::vector<NextMeasurement>& proposals) {
  const auto is_open = [](const FittedParameter& fitted) { return fitted.unidentified.has_value(); };
  if (std::ranges::none_of(fit.parameters, is_open)) return;
  Scales scales;
  for (const MeasuredTime& row : times) scales.take(row, row.time);
  const auto possible = runnable(read_topology(fit.topology.root(), fit.topology.source()), scales);
  FittedNumbers numbers(fit, rows);
  const Knowledge known = numbers.knowledge(scales);
  const Candidates candidates = row_candidates(possible, numbers.noise(), fit.scatter);
  const MatrixXd slopes = slopes_of(candidates, known);
  for (std::size_t j = 0; j < fit.parameters.size(); ++j) {
    if (!is_open(fit.parameters[j])) continue;
    NextMeasurement next{fit.parameters[j].parameter.pointer, "", std::nullopt, 1};
    const auto column = static_cast<Index>(j);
    if (const auto found = most_telling(candidates, slopes, known.covariance, column)) {
      next.what = possible[found->candidate].what;
      next.row = possible[found->candidate].row;
      next.left = found->variance / known.covariance(column, column);
    }
    proposals.push_back(std::move(next));
  }
}

}  // namespace

std::vector<NextMeasurement> propose_for(const Fit& fit, std::span<const MeasuredTime> measurements) {
  const Topology machine = read_topology(fit.topology.root(), fit.topology.source());
  std::vector<MeasuredTime> counted;
  std::vector<MeasuredTime> of_messages;
  for (const MeasuredTime& row : measurements) {
    if (row.doubt) continue;
    counted.push_back(row);
    if (!is_piecewise(row, machine)) of_messages.push_back(row);
  }
  std::vector<NextMeasurement> proposals;
  if (counted.empty()) return proposals;
  propose_parameters(fit, of_messages, counted, proposals);
  for (const LibraryFit& library : fit.libraries) propose_pieces(library, counted, machine, fit.scatter, proposals);
  return proposals;
}

}}  // namespace farandole::calibration
