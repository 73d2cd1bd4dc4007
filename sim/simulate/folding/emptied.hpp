// Schedules and phases without what they send, for quotients that put their own transfers in.
//
// Used by folding alone. A copy of the whole would copy millions of transfers to throw them away.
#pragma once

#include "collective/schedule.hpp"

namespace farandole { inline namespace simulate {

inline Phase emptied(const Phase& phase) {
  return {phase.name,      {},        phase.repeats, phase.chunk_step, phase.row_step,
          phase.peer_step, phase.fan, phase.window,  phase.bundle,     phase.one_by_one};
}

inline Schedule emptied(const Schedule& schedule) {
  return {schedule.operation,   schedule.algorithm, schedule.ranks,   schedule.chunks, {},
          schedule.rows,        schedule.root,      schedule.weights, schedule.copies, schedule.servers,
          schedule.first_worker};
}

}}  // namespace farandole::simulate
