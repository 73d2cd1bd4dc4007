// What a run of a scenario is made of, whoever carries it out: the job, what a strategy is made for, and the point that
// says what was run.
//
// Called by scenario/train.cpp, which simulates it, and `farandole bench`, which runs it for real.
#pragma once

#include <vector>

#include "scenario/scenario.hpp"
#include "timeline/quantile.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"

namespace farandole { inline namespace scenario {

/// Nominal, on the platform's device.
ComputeTimes times_of(const Scenario& scenario);

/// One step: as many passes as add up.
Job job_of(const Scenario& scenario, const ComputeTimes& times);

/// The same of several ranks: what travels compressed is encoded first, on the device that computes.
Job travelling_job_of(const Scenario& scenario, const ComputeTimes& times);

/// The device that encodes and decodes, and its host.
Coder coder_of(const Scenario& scenario);

/// `timeline` may be null.
StrategySite site_of(const Scenario& scenario, const Job& job, const Placement& placement, Timeline* timeline);

/// How often a byte that is copied between a device and its host is read or written there: a copy out of memory that is
/// not pinned goes through the driver's own buffer.
constexpr double pinned = 1;
constexpr double not_pinned = 3;

/// Of each rank, while all of its node copy; and back.
BytesPerSecond host_copy_rate(const PlatformSpec& spec, const Placement& placement, double touches);

/// Of an optimizer whose state is on the hosts: a rank's gradients go there, its host updates beside those of the
/// node's other ranks, and what it has updated comes back; one after the other.
Seconds offloaded_update(const Scenario& scenario);

/// Whole periods, so that the mean is that of a long run.
Measure whole_periods(Measure measure, int period);

/// The operation that carries the gradients.
Operation carrier_of(const StrategyChoice& strategy);

/// How gradients travel, as points name it: the algorithm of the operation that carries them, or where servers are.
const Algorithm& algorithm_of(const Scenario& scenario);

/// What was run; no fidelity and no results yet.
TrainingPoint described(const Scenario& scenario, const Job& job, const ComputeTimes& times);

/// The times of a run. `durations`: of all its iterations.
void take_results(TrainingPoint& point, const TrainingRun& run, const std::vector<WeightedDuration>& durations,
                  const Scenario& scenario);

}}  // namespace farandole::scenario
