#include "calibration/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "calibration/linear_algebra.hpp"
#include "config/section.hpp"
#include "timeline/quantile.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int most_steps = 8;
constexpr int most_step_halvings = 4;
constexpr double settled_step = 0.03;       // a step of so many standard deviations is none
constexpr double least_information = 0.02;  // chi^2 over the prior's 80 %, below which runs do not depend on a number
constexpr double most_left = 0.9;           // of the prior's variance, above which a number is not identified
constexpr double partly_left = 0.5;
constexpr double out_of_shape = 1.5;     // by which F may differ from its parabola at the ends of the 80 %
constexpr double nothing_to_tell = 0.5;  // of chi^2 / 2: runs that differ by so little do not bound a number
constexpr int grid = 21;                 // points of a line; between them F is taken to be straight
constexpr double infinite = std::numeric_limits<double>::infinity();

/// A point and what the runs say there.
struct At {
  VectorXd logs;
  VectorXd residuals;
  double loss = infinite;
};

class Inference {
 public:
  Inference(std::span<const Unknown> unknowns, const Misfit& misfit, VectorXd noise)
      : misfit_(misfit),
        noise_(std::move(noise)),
        centre_(vector_of(unknowns, &Unknown::centre)),
        width_(vector_of(unknowns, &Unknown::width)),
        free_(unknowns.size(), true),
        jacobian_(MatrixXd::Zero(noise_.size(), centre_.size())),
        covariance_(width_.cwiseAbs2().asDiagonal()) {}

  Posterior run() {
    const At start = at(centre_);
    At best = descend(scan(start));
    enlarge_noise(best);
    best = descend(at(best.logs));
    if (fix_unidentified()) {
      VectorXd logs = best.logs;
      for (Index j = 0; j < size(); ++j) {
        if (!is_free(j)) logs[j] = centre_[j];
      }
      best = descend(at(logs));
    }
    return result(start, best);
  }

 private:
  [[nodiscard]] Index size() const { return centre_.size(); }
  [[nodiscard]] bool is_free(Index j) const { return free_[static_cast<std::size_t>(j)]; }
  [[nodiscard]] double deviation(Index j) const { return std::sqrt(covariance_(j, j)); }

  [[nodiscard]] double of_runs(const VectorXd& residuals) const {
    if (!residuals.allFinite()) return infinite;
    return residuals.cwiseQuotient(noise_).squaredNorm() / 2;
  }
  At at(const VectorXd& logs) {
    ++evaluations_;
    At point{logs, misfit_(logs), 0};
    point.loss = of_runs(point.residuals) + (logs - centre_).cwiseQuotient(width_).squaredNorm() / 2;
    return point;
  }
  At moved(const At& from, Index j, double by) { return at(from.logs + by * VectorXd::Unit(size(), j)); }

  /// Both ends of every prior's 80 %: where the runs change by nothing, the number is left out of everything that
  /// follows; where they are met better, the descent begins there, since nothing leads away from a plateau.
  At scan(const At& start) {
    At best = start;
    for (Index j = 0; j < size(); ++j) {
      double most = 0;
      for (const double end : {-to_ninth_decile, to_ninth_decile}) {
        const At there = moved(start, j, end * width_[j]);
        const double change = of_runs(there.residuals - start.residuals);
        most = std::max(most, 2 * change);
        if (there.loss < best.loss) best = there;
      }
      free_[static_cast<std::size_t>(j)] = !(most < least_information);
    }
    return best;
  }

  /// Central differences half a standard deviation wide on either side; one side where the other cannot be.
  void differentiate(const At& here) {
    for (Index j = 0; j < size(); ++j) {
      if (!is_free(j)) continue;
      const double step = std::clamp(deviation(j) / 2, 0.02 * width_[j], width_[j] / 2);
      const At above = moved(here, j, step);
      const At below = moved(here, j, -step);
      if (above.loss < infinite && below.loss < infinite) {
        jacobian_.col(j) = (above.residuals - below.residuals) / (2 * step);
      } else if (above.loss < infinite) {
        jacobian_.col(j) = (above.residuals - here.residuals) / step;
      } else if (below.loss < infinite) {
        jacobian_.col(j) = (here.residuals - below.residuals) / step;
      }
    }
    covariance_ = inverse_of(precision(noise_));
  }
  [[nodiscard]] MatrixXd precision(const VectorXd& noise) const {
    const MatrixXd weighted = noise.cwiseInverse().asDiagonal() * jacobian_;
    MatrixXd sum = weighted.transpose() * weighted;
    sum.diagonal() += width_.cwiseAbs2().cwiseInverse();
    return sum;
  }

  /// Where Gauss-Newton leads from here, with what is not free held.
  [[nodiscard]] VectorXd step_from(const At& here) const {
    const VectorXd weights = noise_.cwiseAbs2().cwiseInverse();
    VectorXd downhill = -(jacobian_.transpose() * weights.asDiagonal() * here.residuals) -
                        (here.logs - centre_).cwiseQuotient(width_.cwiseAbs2());
    MatrixXd curvature = precision(noise_);
    for (Index j = 0; j < size(); ++j) {
      if (is_free(j)) continue;
      curvature.row(j).setZero();
      curvature.col(j).setZero();
      curvature(j, j) = 1;
      downhill[j] = 0;
    }
    return symmetric_solution(curvature, downhill);
  }

  At descend(At here) {
    if (std::ranges::none_of(free_, [](bool free) { return free; })) return here;
    for (int round = 0; round < most_steps; ++round) {
      differentiate(here);
      const VectorXd whole = step_from(here);
      double share = 1;
      At next = at(here.logs + whole);
      for (int halving = 0; halving < most_step_halvings && !(next.loss < here.loss); ++halving) {
        share /= 2;
        next = at(here.logs + share * whole);
      }
      if (!(next.loss < here.loss)) return here;
      const double length =
          (next.logs - here.logs).cwiseQuotient(covariance_.diagonal().cwiseSqrt()).cwiseAbs().maxCoeff();
      here = next;
      if (length < settled_step) break;
    }
    return here;
  }

  void enlarge_noise(const At& best) {
    double informed = 0;
    for (Index j = 0; j < size(); ++j) informed += 1 - covariance_(j, j) / (width_[j] * width_[j]);
    const double freedom = static_cast<double>(noise_.size()) - informed;
    if (freedom < 1) return;
    enlarged_ = std::sqrt(std::max(1.0, 2 * of_runs(best.residuals) / freedom));
    noise_ *= enlarged_;
    covariance_ = inverse_of(precision(noise_));
  }

  [[nodiscard]] double left(Index j) const { return covariance_(j, j) / (width_[j] * width_[j]); }

  /// Holds what the runs say next to nothing of at its prior; whether anything was moved by that.
  bool fix_unidentified() {
    const std::vector<bool> before = free_;
    for (Index j = 0; j < size(); ++j) {
      if (left(j) > most_left) free_[static_cast<std::size_t>(j)] = false;
    }
    return free_ != before;
  }

  Posterior result(const At& start, const At& best) {
    Posterior posterior;
    VectorXd medians = best.logs;
    for (Index j = 0; j < size(); ++j) {
      posterior.marginals.push_back(is_free(j) ? marginal(best, j) : prior(j));
      medians[j] = posterior.marginals.back().middle;
    }
    const bool is_moved = (medians - best.logs).cwiseAbs().maxCoeff() > 0;
    const At there = is_moved ? at(medians) : best;
    posterior.at = there.residuals.allFinite() ? medians : best.logs;
    posterior.after = there.residuals.allFinite() ? there.residuals : best.residuals;
    posterior.before = start.residuals;
    posterior.covariance = covariance_;
    posterior.enlarged = enlarged_;
    posterior.evaluations = evaluations_;
    return posterior;
  }

  [[nodiscard]] Marginal prior(Index j) const {
    const double reach = to_ninth_decile * width_[j];
    return {centre_[j] - reach, centre_[j], centre_[j] + reach, 1, Identified::no, PosteriorShape::normal, {}};
  }

  /// What the variance would be without each of the runs.
  [[nodiscard]] std::vector<double> shares(Index j) const {
    std::vector<double> gains;
    for (Index i = 0; i < noise_.size(); ++i) {
      VectorXd without = noise_;
      without[i] = infinite;
      gains.push_back(std::max(0.0, std::log(inverse_of(precision(without))(j, j) / covariance_(j, j))));
    }
    const double all = std::max(1e-300, std::accumulate(gains.begin(), gains.end(), 0.0));
    for (double& gain : gains) gain /= all;
    return gains;
  }

  Marginal marginal(const At& best, Index j) {
    const double reach = to_ninth_decile * deviation(j);
    Marginal found{best.logs[j] - reach,   best.logs[j], best.logs[j] + reach, left(j), {},
                   PosteriorShape::normal, shares(j)};
    const VectorXd line = covariance_.col(j) / covariance_(j, j);
    bool is_normal = true;
    for (const double end : {-reach, reach}) {
      const double rise = at(best.logs + end * line).loss - best.loss;
      const double parabola = to_ninth_decile * to_ninth_decile / 2;
      if (!(rise < out_of_shape * parabola && rise > parabola / out_of_shape)) is_normal = false;
    }
    if (!is_normal) integrate(best, line, j, found);
    if (found.left > most_left) return prior(j);
    found.identified = found.left < partly_left ? Identified::yes : Identified::partly;
    return found;
  }

  /// How far it is to where F has risen so much that nothing is left to add up.
  double reach_of(const At& best, const VectorXd& line, Index j, double side) {
    double reach = 3 * deviation(j);
    while (reach < 6 * width_[j] && at(best.logs + side * reach * line).loss - best.loss < 8) reach *= 2;
    return std::min(reach, 6 * width_[j]);
  }

  /// Quantiles of exp(-F) on the line.
  void integrate(const At& best, const VectorXd& line, Index j, Marginal& found) {
    const double least = best.logs[j] - reach_of(best, line, j, -1);
    const double most = best.logs[j] + reach_of(best, line, j, 1);
    std::vector<double> losses;
    std::vector<double> runs;
    for (int k = 0; k < grid; ++k) {
      const double to = least + (most - least) * k / (grid - 1);
      const At there = at(best.logs + (to - best.logs[j]) * line);
      losses.push_back(std::min(there.loss - best.loss, 1e3));
      runs.push_back(std::min(of_runs(there.residuals), 1e6));
    }
    take_quantiles(losses, least, most, found);
    const double variance = std::pow((found.high - found.low) / 2 / to_ninth_decile, 2);
    found.left = std::min(1.0, variance / (width_[j] * width_[j]));
    found.shape = runs.back() - of_runs(best.residuals) < nothing_to_tell    ? PosteriorShape::open_above
                  : runs.front() - of_runs(best.residuals) < nothing_to_tell ? PosteriorShape::open_below
                                                                             : PosteriorShape::skewed;
  }

  static void take_quantiles(const std::vector<double>& losses, double least, double most, Marginal& found) {
    std::vector<double> sums{0};
    constexpr int fine = 400;
    for (int k = 0; k < fine; ++k) {
      const double place = (k + 0.5) / fine * (grid - 1);
      const auto cell = static_cast<std::size_t>(place);
      const double share = place - static_cast<double>(cell);
      sums.push_back(sums.back() + std::exp(-((1 - share) * losses[cell] + share * losses[cell + 1])));
    }
    const auto quantile = [&](double probability) {
      const auto above = std::ranges::lower_bound(sums, probability * sums.back());
      return least + (most - least) * static_cast<double>(above - sums.begin()) / fine;
    };
    found.low = quantile(0.1);
    found.middle = quantile(0.5);
    found.high = quantile(0.9);
  }

  const Misfit& misfit_;
  VectorXd noise_;
  VectorXd centre_;
  VectorXd width_;
  std::vector<bool> free_;
  MatrixXd jacobian_;  // of the misfit; columns of zeros where a number changes nothing
  MatrixXd covariance_;
  double enlarged_ = 1;
  int evaluations_ = 0;
};

const char* in_words(Identified identified) {
  if (identified == Identified::yes) return "yes";
  return identified == Identified::partly ? "partly" : "no";
}

std::string in_words(const Unknown& unknown, const Marginal& marginal) {
  if (marginal.shape == PosteriorShape::normal) return "";
  if (marginal.shape == PosteriorShape::skewed) return "not normal; quantiles are integrated";
  const bool is_rate = unknown.parameter.kind == ParameterKind::time_per_byte;
  const bool has_no_upper_end = (marginal.shape == PosteriorShape::open_above) != is_rate;
  return has_no_upper_end ? "flat: the runs set no upper end" : "flat: the runs set no lower end";
}

}  // namespace

Posterior infer(std::span<const Unknown> unknowns, const Misfit& misfit, const VectorXd& noise) {
  return Inference(unknowns, misfit, noise).run();
}

Inferred infer_runs(const Document& topology, std::span<const std::string> files, const RunSources& how,
                    std::vector<Unknown> unknowns, const Catalogue& catalogue) {
  Inferred result{std::move(unknowns), {}, {}, {}, {}, {}, {}};
  for (TrainingRow& row : read_training(files, how, topology, catalogue))
    (row.note.empty() ? result.fitted : result.shown).push_back(std::move(row));
  const VectorXd noise = vector_of(result.fitted, &TrainingRow::noise);
  result.posterior = infer(result.unknowns, misfit_of(topology, result.unknowns, result.fitted, catalogue), noise);
  result.proposals = propose(topology, result.unknowns, result.posterior, result.fitted, catalogue);
  const auto errors_of_shown = [&](const VectorXd& logs) {
    const Document tried = with(topology, result.unknowns, logs);
    return vector_of(result.shown, [&](const TrainingRow& row) {
      return std::log(step_on(tried, row.scenario, catalogue) / row.step);
    });
  };
  result.shown_before = errors_of_shown(vector_of(result.unknowns, &Unknown::centre));
  result.shown_after = errors_of_shown(result.posterior.at);
  return result;
}

InferenceReport report_of(const Inferred& found) {
  InferenceReport report{{}, {}, found.posterior.enlarged, 0};
  for (std::size_t j = 0; j < found.unknowns.size(); ++j) {
    const Unknown& unknown = found.unknowns[j];
    const Marginal& marginal = found.posterior.marginals[j];
    const double reach = to_ninth_decile * unknown.width;
    report.numbers.push_back({unknown.parameter.name, unknown.parameter.pointer,
                              between(unknown.parameter, unknown.centre - reach, unknown.centre + reach),
                              between(unknown.parameter, marginal.low, marginal.high),
                              shown(unknown.parameter, std::exp(marginal.middle)), informed_by(marginal, found.fitted),
                              in_words(marginal.identified), in_words(unknown, marginal), "", marginal.left,
                              marginal.left});
  }
  for (const Proposal& proposal : found.proposals) {
    report.numbers[proposal.unknown].proposal = proposal.run;
    report.numbers[proposal.unknown].left_after = proposal.left;
  }
  const auto add = [&](const std::vector<TrainingRow>& rows, const VectorXd& before, const VectorXd& after) {
    for (Index i = 0; i < before.size(); ++i) {
      const TrainingRow& row = rows[static_cast<std::size_t>(i)];
      report.runs.push_back(
          {row.family, row.name, row.step.si(), std::expm1(before[i]), std::expm1(after[i]), row.noise, row.note});
    }
  };
  add(found.fitted, found.posterior.before, found.posterior.after);
  add(found.shown, found.shown_before, found.shown_after);
  report.simulations = found.posterior.evaluations * static_cast<int>(found.fitted.size());
  return report;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr double least_share = 0.05;
constexpr std::size_t most_rows = 4;

Json recorded(const Unknown& unknown, const Marginal& marginal, const std::vector<TrainingRow>& rows) {
  const double reach = to_ninth_decile * unknown.width;
  Json result{{"name", unknown.parameter.name},
              {"pointer", unknown.parameter.pointer},
              {"value", shown(unknown.parameter, std::exp(marginal.middle))},
              {"between", between(unknown.parameter, marginal.low, marginal.high)},
              {"prior", between(unknown.parameter, unknown.centre - reach, unknown.centre + reach)}};
  if (marginal.identified == Identified::no) {
    result["not_identified"] = "the runs leave more than nine tenths of its prior's variance";
  } else {
    result["rows"] = informed_by(marginal, rows);
  }
  return result;
}

/// The calibration section as it is, or an empty one.
Json section_of(const Document& file, const CalibrationSource& provenance) {
  const auto there = file.find("/calibration");
  if (there) return file.to_ordered_json().at("calibration");
  return {{"comment", "Written by farandole calibrate; the values stand where the parameters' pointers say."},
          {"date", provenance.date},
          {"source", Json::array()},
          {"parameters", Json::array()}};
}

Json posterior_residuals(const Posterior& posterior) {
  const auto sizes = mapped(posterior.after, [](double error) { return std::abs(std::expm1(error)); });
  return {{"measurements", sizes.size()},
          {"median", percent_text(median(sizes))},
          {"worst", percent_text(quantile(sizes, 1))}};
}

/// One of a pointer takes the place of an earlier one.
void put_parameter(Json& parameters, const Json& parameter) {
  for (Json& other : parameters) {
    if (other.at("pointer") != parameter.at("pointer")) continue;
    other = parameter;
    return;
  }
  parameters.push_back(parameter);
}

}  // namespace

std::string informed_by(const Marginal& marginal, const std::vector<TrainingRow>& rows) {
  auto order = places_of(marginal.shares, [](double share) { return share >= least_share; });
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return marginal.shares[i]; });
  order.resize(std::min(order.size(), most_rows));
  const auto named = mapped(
      order, [&](std::size_t i) { return fmt::format("{} ({:.0f} %)", rows[i].name, 100 * marginal.shares[i]); });
  return fmt::format("{}", fmt::join(named, "; "));
}

Document calibrated_file(const Document& file, std::span<const Unknown> unknowns, const Posterior& posterior,
                         const std::vector<TrainingRow>& rows, const CalibrationSource& provenance) {
  Json note = section_of(file, provenance);
  Json of_scenarios = Json::array();
  Document result = file;
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    const Unknown& unknown = unknowns[j];
    const Marginal& marginal = posterior.marginals[j];
    const bool is_elsewhere = is_of_scenario(unknown.parameter);
    put_parameter(is_elsewhere ? of_scenarios : note["parameters"], recorded(unknown, marginal, rows));
    if (!is_elsewhere && marginal.identified != Identified::no)
      result = with(result, unknown.parameter, std::exp(marginal.middle));
  }
  if (!of_scenarios.empty()) note["of_scenarios"] = of_scenarios;
  note["source"] = provenance.sources;
  note[note.contains("residuals") ? "residuals_of_runs" : "residuals"] = posterior_residuals(posterior);
  result.remove("/calibration");
  result.set("/calibration", note.dump());
  return result;
}

}}  // namespace farandole::calibration
