// Which one measurement more would tell most of a number that those at hand do not tell.
//
// Used by fits to tables of collectives (propose_for() below) and by posteriors from runs of training (propose() of
// calibration/posterior.hpp), which differ in what is known and in which measurements are on the list. The log of what
// a measurement takes is linear in the numbers about where they are, with slopes g from differences a standard
// deviation wide, and one observation of it with noise n takes from their covariance C
//   C g g' C / (n^2 + g' C g)
// (the update of a linear model with a Gaussian prior; the same as adding g g' / n^2 to C^-1).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "calibration/fit.hpp"
#include "calibration/measured_time.hpp"
#include "config/document.hpp"

namespace farandole { inline namespace calibration {

/// A measurement that could be made.
struct Candidate {
  std::string what;
  double noise = 0;  // standard deviation of the log of its time
};

struct Candidates {
  std::vector<Candidate> list;
  /// log of what each takes on that topology; not a number where it cannot be made.
  std::function<Eigen::VectorXd(const Document& topology)> log_times;
};

/// What the measurements at hand say of some numbers.
struct Knowledge {
  std::function<Document(const Eigen::VectorXd& numbers)> topology;  // with those numbers in it
  Eigen::VectorXd at;
  Eigen::VectorXd steps;  // for differences; 0: no candidate depends on that number
  Eigen::MatrixXd covariance;
};

/// A row for each candidate; rows of one that cannot be made are not numbers.
Eigen::MatrixXd slopes_of(const Candidates& candidates, const Knowledge& known);

struct Telling {
  std::size_t candidate = 0;
  double variance = 0;  // of the number, after it
};

/// The candidate that leaves least of the variance of number j; nothing where none takes a tenth of it away.
std::optional<Telling> most_telling(const Candidates& candidates, const Eigen::MatrixXd& slopes,
                                    const Eigen::MatrixXd& covariance, Eigen::Index j);

// For fits to tables of collectives.

/// What the mean of some twenty repetitions scatters by in tests/calibration/data/loopback-lab.jsonl: 10 % of one below
/// 64 KiB. No fit knows a number better than measurements could be made again.
inline constexpr double least_noise = 0.02;

/// A collective or a message, as a row that could be measured and in the words of the program that measures it.
struct PossibleRow {
  std::string what;  // "osu_alltoall -m 4096:4096, 8 ranks on 8 nodes"
  MeasuredTime row;
};

/// The measurement that would tell most of a number that a fit left as it was.
struct NextMeasurement {
  std::string pointer;  // of the number
  std::string what;     // empty: none of the list would tell anything
  std::optional<MeasuredTime> row{};
  double left = 1;  // of the number's variance, after it
};

/// One for every number of all_parameters(fit) that is not identified, in that order. `measurements`: what was fitted
/// to.
///
/// The variance before is that of what is believed without the measurements, a normal distribution round the file's
/// value, and of what the measurements say of it together with the other numbers. What is believed has the width that
/// the file's "priors" have, else that of a factor of two, else, where the file has nothing, half of the least time
/// that anything takes (of a rate: per byte); and no wider than the measurements, taken by themselves, are linear in
/// the number.
std::vector<NextMeasurement> propose_for(const Fit& fit, std::span<const MeasuredTime> measurements);

}}  // namespace farandole::calibration
