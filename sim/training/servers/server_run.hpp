// Runs a job with parameter servers for some iterations and condenses them.
//
// Who is aggregated. Workers whose compute does not vary: all that the network cannot tell apart, exactly, at every
// fidelity. Where it varies and there is a barrier, at `analytic` and `flow` still so: an iteration is that of workers
// who all are as slow as the slowest, simulated for a few speeds that span the run's and interpolated between. That is
// late by what the others could have sent earlier, and `message` says how much: there, and wherever there is no
// barrier, every worker is on its own.
//
// Network: max-min flows; at `analytic`, and at `flow` unless an iteration is that of the slowest worker,
// links that share themselves alone (shared_links.hpp), which cost a microsecond a message and not tens. Folded and
// unfolded runs use the same.
//
// Breakdown of a synchronous iteration: what the slowest worker's compute exceeds the nominal one by is straggler; the
// servers' work that ended the iteration, as far as the worker had nothing else to do, and what a server on the
// worker's own processor takes from it, is `other`; the rest beyond compute is exposed communication. Of other modes,
// means over workers: time spent at the bound is straggler too.
#pragma once

#include <vector>

#include "engine/simulated_job.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "simulate/collective_clock.hpp"
#include "timeline/timeline.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/servers/server_network.hpp"
#include "training/strategies/parameter_server.hpp"
#include "training/strategies/server_plan.hpp"
#include "training/training_run.hpp"
#include "training/update_log.hpp"
#include "training/variability.hpp"

namespace farandole { inline namespace training {

// A job with parameter servers as it is mapped to a platform: where servers are, what they keep, and who is
// aggregated (server_layout.cpp).

struct ServerSite {
  const Job& job;
  const ServerPlan& plan;
  const Platform& platform;
  const Placement& placement;
  const Variability& variability;
  BytesPerSecond memory_bandwidth;  // of a device
  Fidelity fidelity;
  FoldingPolicy folding;
  Timeline* timeline;                                         // may be null
  BytesPerSecond server_memory = BytesPerSecond::infinity();  // of a server's host, shared by the servers on it
  int slots = 1;                                              // numbers that the optimizer keeps per parameter
  bool shares_processor = false;   // a worker's device is its node's host: a server there takes compute from it
  double compute_share = 0;        // of a device's rate that its messages take while they are under way
  InputPipeline* input = nullptr;  // a batch for every worker's iteration; null: batches are always there
  Company* company = nullptr;      // on whose links it may be carried
};

/// Servers, and all of the job's workers or some of them, as they are simulated: of servers that are alike the first.
struct Layout {
  const Placement& workers;
  std::vector<int> nodes;  // of the servers
  std::vector<Shard> shards;
  ServerNetwork network;
};

/// Equal numbers for servers that keep alike shards.
std::vector<int> profiles_of(const std::vector<Shard>& shards, std::size_t servers);
Layout layout_of(const ServerSite& site, const Placement& workers, Carried carried);
std::vector<WorkerGroup> groups_of(const ServerSite& site, const Layout& layout);
/// Of whom each group's input is.
std::vector<int> first_ranks(const ServerNetwork& network);
JobSite job_site(const ServerSite& site, const ServerNetwork& network);

/// A job with servers on a simulator, iteration after iteration.
class ServerTrainer {
 public:
  /// Until every worker has done `iterations`. `carried`: in company, the network has the platform's links already.
  ServerTrainer(Simulator& simulator, const ServerSite& site, Carried carried, int iterations);
  ~ServerTrainer();
  void begin();
  /// Whether it lets the simulator halt when it is over.
  void halt_when_over() { halts_ = true; }
  [[nodiscard]] const std::vector<WorkerIteration>& finished() const;
  [[nodiscard]] TrainingRun condensed(const Measure& measure) const;
  /// That all workers have ended.
  [[nodiscard]] int iterations() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  bool halts_ = false;
};

/// By itself. Throws std::invalid_argument where the platform has too few nodes for the servers.
TrainingRun run_with_servers(const ServerSite& site, const Measure& measure);

/// An iteration of one worker that has the job's servers to itself, in the best place that any of them has, computing
/// so many times slower than nominal: what n workers do at most n times of.
Seconds iteration_of_one_worker(const ServerSite& site, double factor);

/// When the weights on the servers changed, in the first iterations of every worker, without warm-up: of a synchronous
/// run one entry per iteration, of others one per worker's iteration, `Update::rank` being its worker.
UpdateLog server_updates(const ServerSite& site, int iterations);
/// The same of a run that is over.
UpdateLog updates_of(const ServerTrainer& trainer, const ServerPlan& plan);

// How many updates by others an asynchronous worker's gradient does not know of, in the mean over the orders in which
// what happens at the same moment may happen.
//
// Called by server_run.hpp. A worker pulls when it starts and its gradient is applied when its iteration ends. Updates
// by others between the two count. Of those at the very moment of its end, half come first in the mean; and of those at
// the moment at which it ended its iteration before and went on, half come after its pull. A worker that had to wait
// for others (stale_synchronous) has seen what it waited for. So workers that do everything at the same moment are n -
// 1 updates behind, whether they are carried one by one or as one, and whatever rounding makes of equal moments: those
// are equal that are closer than 1e-9 of a mean iteration.

// Iterations of workers with servers, condensed to a mean one and its parts.
//
// Called by server_run.hpp.

/// A mean iteration.
struct WorkerMean {
  Seconds iteration;
  Seconds computing;
  Seconds waited;
  Seconds fed;
  Seconds updating;
  double staleness = 0;
  std::vector<Seconds> durations;
};

/// Of iterations with a barrier; all groups start and end them together.
WorkerMean mean_of_barriers(const std::vector<WorkerIteration>& finished, std::size_t groups, int warmup);

/// From when the last group is warm to when the slowest has done its iterations; all are at work all the time.
/// `workers`: of every group.
WorkerMean mean_of_stretch(const std::vector<WorkerIteration>& finished, const std::vector<int>& workers,
                           const ServerPlan& plan, const Measure& measure);

/// Parts that sum to the mean iteration; InvariantError where they do not.
Breakdown break_down(const WorkerMean& mean, const Job& job);

}}  // namespace farandole::training
