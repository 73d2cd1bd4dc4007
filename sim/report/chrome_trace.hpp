// Writes a Timeline as Trace Event JSON, as Horovod's timeline looks: chrome://tracing and Perfetto open it.
//
// Called by the command line for `--timeline` with the timeline of one rank. Each lane (a tensor) is a "process" with
// its own pid, numbered from 1 in order of first appearance; the lane "" (the whole process) is pid 0. Spans are
// complete events ("X"), instants are "i": global on pid 0 (CYCLE_START), else on their process; an instant whose
// activity is a number is a rank that reported ready, and has that rank in its args. Spans of one lane that overlap
// without nesting go to further threads (tid) of it, as viewers can only stack what nests. Times are microseconds with
// three decimals. Format: "Trace Event Format", Google, and horovod/common/timeline.cc.
#pragma once

#include <iosfwd>

#include "report/heading.hpp"
#include "timeline/timeline.hpp"

namespace farandole { inline namespace report {

/// Always a complete JSON document, even for an empty timeline. `otherData` says how many events were dropped.
void write_chrome_trace(std::ostream& out, const Timeline& timeline, const Heading& heading);

}}  // namespace farandole::report
