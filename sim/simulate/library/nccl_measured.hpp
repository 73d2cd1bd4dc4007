// What was measured of a release of NCCL on a machine, in place of what its cost model says.
//
// Called by the NCCL planner. A topology's transport may have `library_times` (platform/library_times.hpp). Those of
// the release and the operation count, on one node those of one node and on several those of several; of more than one,
// those whose ranks are nearest by ratio. At other numbers of ranks, and where the network is scaled, latency and rate
// change as the model's do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/library/library.hpp"
#include "simulate/library/nccl_model.hpp"

namespace farandole {

struct NcclRun {
  const NcclTuning& tuning;
  const ChannelGraph& graph;
  const LibraryJob& job;
};

/// The entry that counts for a run of that release, or nullptr.
const LibraryTimes* nearest_times(const std::vector<LibraryTimes>& measured, const std::string& library,
                                  Operation operation, int ranks, int nodes);

/// Nothing where nothing was measured, or of a way that cannot be had there.
std::optional<NcclChoice> measured_choice(const NcclRun& run, const NcclModel& model, Bytes size);

}  // namespace farandole
