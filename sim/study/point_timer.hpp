// Ends a process whose point takes too long, so that a point that hangs costs itself and not its study.
//
// Made around each point, in the process that runs it: a forked worker dies of the alarm, and the study hears of it as
// of any death (study/forked_worker.hpp); a point that runs in the program itself ends the program with one line and
// status 1, which is what a failed point ends with. Nothing has been written by then, and the journal keeps what is
// finished. Wall-clock time, as a timeout has it. One at a time in a process.
#pragma once

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

}}  // namespace farandole::study
