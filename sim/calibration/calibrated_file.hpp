// A topology file that carries its calibration: fitted values in place, and beside them a section that says when they
// were fitted, to what, how surely, and what is left over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibration/fit.hpp"

namespace farandole {

/// Sizes of the relative errors of measurements that were predicted from others alone.
struct HeldOutErrors {
  std::string what;  // "sizes", "scales", "operations"
  double median = 0;
  double p90 = 0;
  double worst = 0;
};

/// What the fit itself does not know.
struct Provenance {
  std::string date;                  // of the measurements or of the fit, as the user has it
  std::vector<std::string> sources;  // file names, without their folders
  std::optional<HeldOutErrors> held_out{};
  bool forced = false;  // written although it left more than `most_error_left`
};

/// The median of the errors that a fit leaves, from which on it is none: no file is written unless that is forced.
inline constexpr double most_error_left = 0.30;

/// The fitted topology with a "calibration" section.
Document calibrated_file(const Fit& fit, const Provenance& provenance);

/// What that section says of predictions; nothing where the topology was never calibrated.
std::optional<Spread> spread_in(const Document& topology);

}  // namespace farandole
