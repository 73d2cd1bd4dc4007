// A point of `farandole bench`: one collective of one size as it was measured on real hardware.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/result.hpp"

namespace farandole {

struct MeasuredPoint {
  CollectivePoint collective;  // its time: the median of the repetitions; no fidelity, never folded
  std::string backend;
  int nodes = 1;
  std::vector<Seconds> repetitions;  // each that of the slowest rank, in order
  std::int64_t wrong = 0;            // elements of all ranks that were not as promised, after the last repetition
};

}  // namespace farandole
