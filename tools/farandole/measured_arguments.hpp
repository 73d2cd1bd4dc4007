// What farandole calibrate and farandole validate are told about measurements.
#pragma once

#include <string>
#include <vector>

#include "calibration/measured_time.hpp"
#include "calibration/validation.hpp"
#include "command.hpp"

namespace farandole {

/// What both commands are told about the measurements.
struct MeasuredArguments {
  std::vector<std::string> files;
  std::string topology;
  std::vector<std::string> settings;
  std::vector<std::string> only;
  std::string operation;
  std::string algorithm;
  std::string ranks;
  std::string nodes;

  void add_to(CLI::App& command);
  [[nodiscard]] std::vector<MeasuredTime> read() const;
  [[nodiscard]] Document topology_file() const;
};

/// "sizes", "scales" or "operations"; refuses others.
HoldOut hold_out_named(const std::string& name);

}  // namespace farandole
