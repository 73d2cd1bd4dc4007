// What was measured and what is predicted in one Chrome trace, as two processes that Perfetto shows one above the
// other.
//
// Called by compare_command.cpp. Both begin at 0, with their first step; steps are a row of their own, and what
// overlaps without nesting gets rows of its own. Times are microseconds.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "trace_reader.hpp"

namespace farandole {

struct TimelineSide {
  std::string process;  // "measured"
  const DeviceTrace& trace;
  std::vector<StepWindow> windows;  // what lies outside them is left out
};

void write_compared_timeline(std::ostream& out, const std::vector<TimelineSide>& sides);

}  // namespace farandole
