// Ends a process whose point takes too long, so that a point that hangs costs itself and not its study.
//
// Made around each point, in the process that runs it: a forked worker dies, and the study hears of it as of any death
// (study/team.hpp); a point that runs in the program itself ends the program with one line. Nothing has been
// written by then, and the journal keeps what is finished. The time limit is of the clock on the wall, as a timeout has
// it, and such a program fails (status 1); what is beyond its budget is refused (status 2). One at a time in a process.
#pragma once

#include <string>

#include "units/quantity.hpp"

namespace farandole { inline namespace study {

class PointTimer {
 public:
  enum class Where : bool { worker, program };
  /// An infinite limit is none.
  PointTimer(Seconds limit, Where where);
  ~PointTimer();
  PointTimer(const PointTimer&) = delete;
  PointTimer& operator=(const PointTimer&) = delete;
};

/// From now on a process also ends where its point, of this file, takes more time of processors than this; infinite: as
/// long as it takes. Not for a process that is somebody else's.
void end_beyond(Seconds processor_time, const std::string& file);

/// What is said of a point that a worker was ended for, by SIGPROF.
std::string beyond_budget();

}}  // namespace farandole::study
