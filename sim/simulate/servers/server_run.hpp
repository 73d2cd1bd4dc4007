// Runs a job with parameter servers for some iterations and condenses them.
//
// Who is carried as one. Workers whose compute does not vary: all that the network cannot tell apart, exactly, at every
// fidelity. Where it varies and there is a barrier, at `analytic` and `flow` still so: an iteration is that of workers
// who all are as slow as the slowest, simulated for a few speeds that span the run's and interpolated between. That is
// late by what the others could have sent earlier, and `message` says how much: there, and wherever there is no
// barrier, every worker is on its own.
//
// Network: SimGrid's max-min flows; at `analytic`, and at `flow` where every worker is on its own, links that share
// themselves alone (shared_links.hpp), which cost a microsecond a message and not tens.
//
// Breakdown of a synchronous iteration: what the slowest worker's compute exceeds the nominal one by is straggler, the
// rest beyond compute is exposed communication. Of others, means over workers: time spent at the bound is straggler
// too.
#pragma once

#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/training_run.hpp"
#include "training/strategies/server_plan.hpp"
#include "training/update_log.hpp"
#include "training/variability.hpp"

namespace farandole {

struct ServerSite {
  const Job& job;
  const ServerPlan& plan;
  const Platform& platform;
  const Placement& placement;
  const Variability& variability;
  BytesPerSecond memory_bandwidth;  // of a device
  Fidelity fidelity;
  FoldingPolicy folding;
  Timeline* timeline;  // may be null
};

/// Throws std::invalid_argument where the platform has too few nodes for the servers.
TrainingRun run_with_servers(const ServerSite& site, const Measure& measure);

/// When the weights on the servers changed, in the first iterations of every worker, without warm-up: of a synchronous
/// run one entry per iteration, of others one per worker's iteration, `Update::rank` being its worker.
UpdateLog server_updates(const ServerSite& site, int iterations);

}  // namespace farandole
