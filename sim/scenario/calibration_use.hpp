// What a result says of the calibration of its topology: which it was, and how much of it the collectives made use of.
//
// A file may hold rates and latencies of links and messages, which everything that is timed message by message takes,
// and times of a library's collectives, which that release alone takes, for the operations they were measured of. A
// calibration that the chosen algorithm passes over would be a number that someone trusts for nothing; so that is said.
#pragma once

#include <string>
#include <vector>

#include "platform/calibration_record.hpp"
#include "scenario/library_choice.hpp"

namespace farandole {

struct CarriedOut {
  Operation operation;
  std::string by;      // as results name it
  LibraryUse library;  // where a library does it
  int ranks = 1;
  int nodes = 1;
};

/// "measured.json of 2026-11-21, median error left 1.03 %; used by nccl-2.18: times of nccl-2.18".
std::string describe_use(const CalibrationRecord& record, const Transport& transport, const CarriedOut& what);

}  // namespace farandole
