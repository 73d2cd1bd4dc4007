// What every link of a platform carries in some time, and how busy that keeps it.
//
// Made for collectives (scenario/network_loads.hpp) and for iterations of training (scenario/network_loads.hpp). Bytes
// are payload's, as the links' capacities are.
#pragma once

#include <vector>

#include "platform/platform.hpp"
#include "scenario/collective_run.hpp"
#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace scenario {

struct NetworkLoads {
  Platform platform;
  std::vector<Bytes> bytes;         // by link
  std::vector<double> utilisation;  // by link: bytes / (capacity * time)

  /// The busiest `count` links, of equally busy ones those that come first; never an idle one.
  [[nodiscard]] std::vector<LinkUse> busiest(std::size_t count) const;
};

/// `bytes` may have more entries than the platform has links: limits of a library's own, which are no links, follow
/// behind them.
NetworkLoads loads_over(Platform platform, std::vector<Bytes> bytes, Seconds time);

// Where the bytes of an iteration go: over which links, and how busy these are in the mean.
//
// Called by scenario/train.cpp where a point is to say so (`farandole run --links`, `--draw`). Of collectives every one
// that the measured iterations had, mapped to the job's links; with parameter servers what every worker pushes and
// pulls.

/// `run` is the scenario's own; `shards`: what its servers keep, nothing where there are none.
NetworkLoads loads_of(const Scenario& scenario, const TrainingRun& run, const std::vector<Shard>& shards);

// Where the bytes of a simulated collective go: over which links, and how busy these are.
//
// Called by `farandole collective --links` and `--draw`.

/// Of a point that `run_collective` made of the same request.
NetworkLoads loads_of(const CollectivePoint& point, const CollectiveRequest& request, const Topology& topology,
                      const Value& where);

}}  // namespace farandole::scenario
