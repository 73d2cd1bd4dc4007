// Fits the numbers of a topology file to measurements, with the simulator itself as the model.
//
// Minimises the sum of squares of the relative errors r_i = predicted_i / measured_i - 1, each weighted by Huber's
// weight min(1, 1.345 s / |r_i|), s = 1.4826 median |r_i|, so that outliers pull little (P. J. Huber, Robust
// Statistics, 1981). Times are piecewise linear in the parameters (trial.hpp), so Gauss-Newton steps with finite
// differences converge in a few rounds; no parameter falls below zero. Standard errors are those of the last linear
// problem, sqrt(diag((J' W J)^-1)) s.
//
// What a library carried out that knows several ways to do the same (NCCL) is fitted apart, in pieces
// (library_fit.hpp).
//
// A parameter on which no measurement depends, or whose standard error is as large as itself, keeps the file's value
// and is reported with the reason: the data cannot identify it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibration/library_fit.hpp"
#include "calibration/measured_time.hpp"
#include "calibration/spread.hpp"
#include "calibration/trial.hpp"

namespace farandole {

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
};

/// Those of links and messages, then latency and rate of every piece of every library.
std::vector<FittedParameter> all_parameters(const Fit& fit);

/// `file` is what the topology document is called in messages. Measurements with a doubt are not fitted to, but their
/// errors are told. InputError where nothing is left to fit to.
Fit fit(const Document& topology, std::span<const MeasuredTime> measurements);

}  // namespace farandole
