// What somebody published of a configuration that is simulated too: a mark beside its curve.
//
// Filled by calibration/, drawn by report/.
#pragma once

#include <cstddef>
#include <string>

namespace farandole { inline namespace timeline {

struct PublishedMark {
  std::size_t point = 0;  // a result point of the same configuration, whatever its ranks
  int ranks = 1;
  double samples_per_second = 0;
  double scaling_efficiency = 0;
  std::string source;  // the file of scenarios/published
};

}}  // namespace farandole::timeline
