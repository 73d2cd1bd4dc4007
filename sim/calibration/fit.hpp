// Fits the numbers of a topology file to measurements, with the simulator itself as the model.
//
// Minimises the sum of squares of the relative errors r_i = predicted_i / measured_i - 1, each weighted by Huber's
// weight min(1, 1.345 s / |r_i|), s = 1.4826 median |r_i|, so that outliers pull little (P. J. Huber, Robust
// Statistics, 1981). Times are piecewise linear in the parameters (see Parameter), so Gauss-Newton steps with finite
// differences converge in a few rounds; no parameter falls below zero. Standard errors are those of the last linear
// problem, sqrt(diag((J' W J)^-1)) s.
//
// What a library carried out that knows several ways to do the same (NCCL) is fitted apart, in pieces
// (library_fit.hpp).
//
// A parameter on which no measurement depends, or whose standard error is as large as itself, keeps the file's value
// and is reported with the reason: the data cannot identify it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "calibration/library_fit.hpp"
#include "calibration/measured_time.hpp"
#include "calibration/scatter.hpp"
#include "calibration/spread.hpp"
#include "config/document.hpp"
#include "platform/topology.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace calibration {

// The numbers of a topology file that measurements can settle, and the file with other values in their place.
//
// A trial keeps the topology as a document, so that what is fitted is exactly what can be written into a file and read
// back: `host_rate` of a link (what the host adds to the wire, per byte; the wire's own rate is never touched, so no
// fit can exceed it), latencies per message, the launch of a collective, the rate of summing up, the window of sends,
// and of curves of congestion that the file has, how deep they are: what each of its points adds, in one proportion.

enum class ParameterKind : std::uint8_t {
  time,           // seconds
  size,           // bytes
  time_per_byte,  // written as the rate that is its inverse; left out of the file where it is zero
  share,          // written in percent
  congestion      // how much longer the most flows of a curve take that a link has, as a share; written as what is left
};

struct Parameter {
  std::string name;     // what tables call it
  std::string pointer;  // into the topology file
  ParameterKind kind;
};

/// What the value behind a pointer into a topology file is.
ParameterKind kind_of(const std::string& pointer);

/// Every parameter that this topology file has a place for, in a fixed order.
std::vector<Parameter> parameters_of(const Document& topology);
/// And of MPI's messages, where some were measured and are not the transport's.
std::vector<Parameter> parameters_of(const Document& topology, std::span<const MeasuredTime> measurements);

/// In SI: seconds, bytes, seconds per byte, or a fraction; zero where the file leaves it out.
double value_in(const Document& topology, const Parameter& parameter);

/// A value as a file has it, with all its digits: "4.2e-06 s".
std::string typed(const Parameter& parameter, double value);

/// The document with the parameter at that value.
Document with(const Document& topology, const Parameter& parameter, double value);
Document with(const Document& topology, std::span<const Parameter> parameters, std::span<const double> values);

/// "12.5 us" or "4.76 GB/s"; "none" for a rate that costs nothing.
std::string shown(const Parameter& parameter, double value);

struct FittedParameter {
  Parameter parameter;
  double before = 0;  // in the file
  double value = 0;
  double standard_error = 0;
  std::optional<std::string> unidentified;  // why it kept the file's value
};

struct Fit {
  Document topology;  // with the fitted values
  std::vector<FittedParameter> parameters;
  std::vector<LibraryFit> libraries;
  std::vector<double> errors;  // relative, signed, one per measurement
  Spread spread;               // of predictions without the measurements that they are held against
  Scatter scatter;             // between repeats
};

/// Those of links and messages, then latency and rate of every piece of every library.
std::vector<FittedParameter> all_parameters(const Fit& fit);

/// `file` is what the topology document is called in messages. Measurements with a doubt are not fitted to, but their
/// errors are told. InputError where nothing is left to fit to.
Fit fit(const Document& topology, std::span<const MeasuredTime> measurements);

// Small linear least squares with parameters that must not be negative, weighted; on Eigen.

/// Huber's weights of residuals, and the robust standard deviation they are measured by (at least `floor`).
struct RobustWeights {
  Eigen::VectorXd weights;
  double deviation = 0;
};
RobustWeights huber_weights(const Eigen::VectorXd& residuals, double floor);

/// The x >= 0 that minimises sum_i w_i (a_i x - b_i)^2. Exact: every set of parameters held at zero is tried, so there
/// may be at most 12 columns.
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                           const Eigen::VectorXd& weights);

/// (A' W A)^-1 with columns scaled to length one; columns of zeros get variance zero.
Eigen::MatrixXd covariance(const Eigen::MatrixXd& a, const Eigen::VectorXd& weights);

// A topology file that carries its calibration: fitted values in place, and beside them a section that says when they
// were fitted, to what, how surely, and what is left over.

/// What the fit itself does not know.
struct CalibrationSource {
  std::string date;                  // of the measurements or of the fit, as the user has it
  std::vector<std::string> sources;  // file names, without their folders
  std::optional<HeldOutErrors> held_out{};
  bool forced = false;  // written although it left more than `most_error_left`
};

/// The median of the errors that a fit leaves, from which on it is none: no file is written unless that is forced.
inline constexpr double most_error_left = 0.30;

/// "12.34 %", as that section has the size of an error.
std::string percent_text(double fraction);

/// The fitted topology with a "calibration" section.
Document calibrated_file(const Fit& fit, const CalibrationSource& provenance);

/// What that section says of predictions; nothing where the topology was never calibrated.
std::optional<Spread> spread_in(const Document& topology);

}}  // namespace farandole::calibration
