// A job with parameter servers as it is mapped to a platform: where servers are, what they keep, and who is
// aggregated. Used by server_run.cpp.
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
#include "training/variability.hpp"

namespace farandole { inline namespace training {

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
std::vector<int> workers_of(const ServerNetwork& network);
std::vector<WorkerGroup> groups_of(const ServerSite& site, const Layout& layout);
/// Of whom each group's input is.
std::vector<int> first_ranks(const ServerNetwork& network);
JobSite job_site(const ServerSite& site, const ServerNetwork& network);

}}  // namespace farandole::training
