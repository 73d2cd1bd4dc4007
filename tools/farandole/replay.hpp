// Runs a scenario's iterations for real, over the ranks of a session, and sets the prediction beside them.
//
// The strategy is the scenario's own and so are its schedules, sizes, fusion, effects on compute and input. What only
// exists in a simulation is left out and named: slow links, compute that communication takes, checkpoints. Called by
// `farandole bench --training` on every rank alike.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "scenario/run.hpp"
#include "timeline/measured.hpp"

namespace farandole {

struct ReplayOptions {
  std::string backend;
  Measure measure{20, 5};  // rounded up to whole periods of the strategy
};

/// Of its ranks, and of servers that are on nodes of their own.
int processes_of(const Scenario& scenario);

/// InputError, with the place in the scenario, where a point cannot be run by so many processes.
void refuse_unreplayable(const PlannedPoint& point, int ranks);

/// What the scenario says that a replay does not do.
std::vector<std::string> left_out_of_replay(const Scenario& scenario);

/// Every rank calls it with the same; all get the same, but for the prediction, which rank 0 alone makes. `timeline`
/// may be null.
ReplayedPoint replay(const Scenario& scenario, Session& session, const ReplayOptions& options, Timeline* timeline);

}  // namespace farandole
