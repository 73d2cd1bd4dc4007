#include <cmath>

#include "calibration/posterior.hpp"

namespace farandole { inline namespace calibration {
namespace {

const char* in_words(Identified identified) {
  if (identified == Identified::yes) return "yes";
  return identified == Identified::partly ? "partly" : "no";
}

std::string in_words(const Unknown& unknown, const Marginal& marginal) {
  const bool is_rate = unknown.parameter.kind == ParameterKind::time_per_byte;
  switch (marginal.shape) {
    case PosteriorShape::normal:
      return "";
    case PosteriorShape::skewed:
      return "not normal; quantiles are integrated";
    case PosteriorShape::open_above:
      return is_rate ? "flat: the runs set no lower end" : "flat: the runs set no upper end";
    case PosteriorShape::open_below:
      return is_rate ? "flat: the runs set no upper end" : "flat: the runs set no lower end";
  }
  return "";
}

}  // namespace

Inferred infer_runs(const Document& topology, std::span<const std::string> files, const RunSources& how,
                    std::vector<Unknown> unknowns, const Catalogue& catalogue) {
  Inferred result{std::move(unknowns), {}, {}, {}, {}, {}, {}};
  for (TrainingRow& row : read_training(files, how, topology, catalogue))
    (row.note.empty() ? result.fitted : result.shown).push_back(std::move(row));
  Eigen::VectorXd noise(static_cast<Eigen::Index>(result.fitted.size()));
  Eigen::VectorXd centres(static_cast<Eigen::Index>(result.unknowns.size()));
  for (std::size_t i = 0; i < result.fitted.size(); ++i) noise[static_cast<Eigen::Index>(i)] = result.fitted[i].noise;
  for (std::size_t j = 0; j < result.unknowns.size(); ++j)
    centres[static_cast<Eigen::Index>(j)] = result.unknowns[j].centre;
  result.posterior = infer(result.unknowns, misfit_of(topology, result.unknowns, result.fitted, catalogue), noise);
  result.proposals = propose(topology, result.unknowns, result.posterior, result.fitted, catalogue);
  for (const TrainingRow& row : result.shown) {
    const double before = step_on(with(topology, result.unknowns, centres), row.scenario, catalogue) / row.step;
    const double after =
        step_on(with(topology, result.unknowns, result.posterior.at), row.scenario, catalogue) / row.step;
    result.shown_before.conservativeResize(result.shown_before.size() + 1);
    result.shown_after.conservativeResize(result.shown_after.size() + 1);
    result.shown_before.tail(1)[0] = std::log(before);
    result.shown_after.tail(1)[0] = std::log(after);
  }
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
  const auto add = [&](const TrainingRow& row, double before, double after) {
    report.runs.push_back(
        {row.family, row.name, row.step.si(), std::expm1(before), std::expm1(after), row.noise, row.note});
  };
  for (std::size_t i = 0; i < found.fitted.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    add(found.fitted[i], found.posterior.before[at], found.posterior.after[at]);
  }
  for (std::size_t i = 0; i < found.shown.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    add(found.shown[i], found.shown_before[at], found.shown_after[at]);
  }
  report.simulations = found.posterior.evaluations * static_cast<int>(found.fitted.size());
  return report;
}

}}  // namespace farandole::calibration
