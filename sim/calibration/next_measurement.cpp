#include "calibration/next_measurement.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr double worth_it = 0.9;  // of the variance, above which a measurement is not worth its time

}  // namespace

Eigen::MatrixXd slopes_of(const Candidates& candidates, const Knowledge& known) {
  Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(candidates.list.size()), known.at.size());
  const Eigen::VectorXd here = candidates.log_times(known.topology(known.at));
  for (Eigen::Index j = 0; j < known.at.size(); ++j) {
    if (known.steps[j] <= 0) continue;
    Eigen::VectorXd moved = known.at;
    moved[j] += known.steps[j];
    slopes.col(j) = (candidates.log_times(known.topology(moved)) - here) / known.steps[j];
  }
  return slopes;
}

std::optional<Telling> most_telling(const Candidates& candidates, const Eigen::MatrixXd& slopes,
                                    const Eigen::MatrixXd& covariance, Eigen::Index j) {
  std::optional<Telling> best;
  for (std::size_t i = 0; i < candidates.list.size(); ++i) {
    const Eigen::VectorXd gradient = slopes.row(static_cast<Eigen::Index>(i)).transpose();
    if (!gradient.allFinite()) continue;
    const Eigen::VectorXd towards = covariance * gradient;
    const double noise = candidates.list[i].noise;
    const double after = covariance(j, j) - towards[j] * towards[j] / (noise * noise + gradient.dot(towards));
    if (after > worth_it * covariance(j, j) || (best && after >= best->variance)) continue;
    best = Telling{i, after};
  }
  return best;
}

}}  // namespace farandole::calibration
