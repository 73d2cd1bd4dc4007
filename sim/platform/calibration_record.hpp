// What a topology file says of its calibration: to what it was fitted, when, and what error was left.
//
// Written by farandole calibrate (calibration/fit.hpp), which also reads what validation needs; here is
// what results name beside their settings.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"

namespace farandole { inline namespace platform {

struct CalibrationRecord {
  std::vector<std::string> sources;  // file names
  std::string date;                  // as the user gave it
  std::string median;                // of the errors left, "1.03 %"; empty where the file does not say
  bool forced = false;               // written in spite of its errors
  std::vector<std::string> fitted;   // pointers into the file, to the values that the measurements settled
};

/// `where`: the "calibration" of a topology file.
CalibrationRecord read_calibration_record(const Value& where);

}}  // namespace farandole::platform
