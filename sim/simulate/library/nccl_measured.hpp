// What was measured of a release of NCCL on a machine, in place of what its cost model says.
//
// Called by the NCCL planner. A topology's transport may have `library_times` (platform/platform.hpp). Those of
// the release and the operation count, on one node those of one node and on several those of several. At the ranks that
// were measured the way is the measured one, and where links were changed since its latency and rate change as the
// model's do. At others the way is the model's, and takes as many times longer than the model says as the same way does
// at the measured ranks, at the nearest size that went it there (or, where none did or only far ones, as that size did
// by another way); between two of them, by both, interpolated log to log. What was measured with more than 16 times the
// ranks, and nothing with fewer, says nothing; nor, on one node, what was measured with fewer. Of a release without
// times of its own, those of another one count so: as many times longer than that release's model says, for a machine's
// links and hosts are the same under all. Operations of which nothing was measured, but alltoall, which is sent as
// messages, follow another one, where that went the same way: they are made of the same hops. Allgathers and
// reduce-scatters follow one another first, then allreduce. What was measured of processes that drive several devices
// says nothing of processes with one each, nor the other way round.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/library/library.hpp"
#include "simulate/library/nccl_model.hpp"

namespace farandole { inline namespace simulate {

struct NcclRun {
  const NcclTuning& tuning;
  const ChannelGraph& graph;
  const LibraryJob& job;
};

/// What runs, where, and how many devices each of its processes drives.
struct MeasuredRun {
  std::string library;
  Operation operation;
  int ranks;
  int nodes;
  int devices_per_process = 1;
};

/// The entries that count for it, those of its release before those of others: the one whose ranks are nearest by
/// ratio, of several releases the nearest, and behind it the nearest on the other side of the run's ranks, if any.
std::vector<const LibraryTimes*> times_for(const std::vector<LibraryTimes>& measured, const MeasuredRun& run);

/// What the network between nodes was measured to carry of what NCCL counts on, by rings of Simple of the largest size;
/// at most 1, which it is where nothing was measured. For what is sent as messages.
double measured_share(const NcclRun& run);

/// Nothing where nothing was measured, or of a choice that is unavailable there.
std::optional<NcclChoice> measured_choice(const NcclRun& run, const NcclModel& model, Bytes size);

}}  // namespace farandole::simulate
