// What targets of algorithms share: which are proved at once.
#pragma once

#include <cstdint>
#include <limits>

#include "collective/schedule.hpp"

namespace farandole::fuzz {

/// The proof walks through all chunks of all ranks, for seconds where there are many: few of them find as much. What no
/// algorithm has (negative counts) is left to the proof.
inline bool is_small(const Schedule& schedule) {
  constexpr double most = 4096;
  double sent = 0;
  for (const Phase& phase : schedule.phases) {
    double chunks = 0;
    for (const Transfer& transfer : phase.transfers) chunks += transfer.count;
    const double bundle = phase.bundle.empty() ? 1 : static_cast<double>(phase.bundle.size());
    const double lanes = bundle * phase.fan * phase.repeats;
    if (lanes > most || phase.fan > most || phase.repeats > most || chunks > most) return false;
    sent += chunks * lanes;
  }
  return sent <= most && static_cast<double>(schedule.chunks) * schedule.ranks * schedule.ranks <= most &&
         schedule.ranks <= most;
}

}  // namespace farandole::fuzz
