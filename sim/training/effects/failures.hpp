// Failures of nodes during a long run, and what it takes to survive them.
//
// A node fails after an exponentially distributed time of mean MTBF, a job of n nodes every MTBF / n.
//
// With checkpoints and restart a failure costs what was done since the last checkpoint, and the restart, during which
// nodes may fail again. With an interval tau of work between checkpoints that cost C, restart R and M = MTBF / n:
//
//   T = (work / tau) M e^(R/M) (e^((tau + C)/M) - 1)
//
// and the best interval is about sqrt(2 C M) (Young, CACM 17(9), 1974), or by Daly's series (Daly, Future Generation
// Computer Systems 22(3), 2006, which has both formulas).
//
// Elastic training shrinks: the work since the last commit is lost, the survivors go on after a reset, and the node
// comes back after its repair, which costs another reset. Both are simulated with seeded failures; work is measured in
// seconds of the whole job at full size.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "units/quantity.hpp"

namespace farandole::inline training {

/// How many failures, checkpoints and returns of nodes simulated runs may have together: no run goes on for ever.
class EventsLeft {
 public:
  /// InputError where none is left.
  void take();

 private:
  int left_ = 20'000'000;
};

/// Where the time of a run with failures went; the rest of `total` is work done for good.
struct Survival {
  Seconds total;
  Seconds lost;        // work that had to be done again
  Seconds recovering;  // restarts and resets
  Seconds checkpointing;
  int failures = 0;
};

struct RestartPlan {
  Seconds work;
  Seconds interval;    // of work between two checkpoints
  Seconds checkpoint;  // what one costs
  Seconds restart;
  Seconds mtbf;  // of the job
};

/// Young's and Daly's expectation. Infinite where the interval is many times the MTBF.
Seconds expected_time(const RestartPlan& plan);
/// Daly's estimate of the interval that makes it least.
Seconds best_interval(Seconds checkpoint, Seconds mtbf);
/// One seeded run. The plan must have an expectation that ends.
Survival restart_run(const RestartPlan& plan, std::uint64_t seed);
Survival restart_run(const RestartPlan& plan, std::uint64_t seed, EventsLeft& events);

struct ElasticPlan {
  Seconds work;
  Seconds commit_interval;  // of work between two commits
  Seconds reset;            // of the communicators, after each loss and each return of a node
  Seconds repair;           // until a node is back
  Seconds node_mtbf;
  int nodes = 1;
  int least_nodes = 1;                       // with fewer the job waits for a repair
  std::function<double(int)> relative_rate;  // of work on so many nodes; 1 at full size
};
Survival elastic_run(const ElasticPlan& plan, std::uint64_t seed);
Survival elastic_run(const ElasticPlan& plan, std::uint64_t seed, EventsLeft& events);

// Rank 0 writes a checkpoint now and then, and everybody waits for it.
//
// In synchronous training the other ranks come to a stop at their next collective until rank 0 is back, so a checkpoint
// delays the job by its whole length:
//
//   pause = latency + size / rate,   per iteration in the mean: pause / steps, or pause x iteration / period
//
// Where the period is a time it counts the training between two checkpoints, as in Young's and Daly's formulas.

struct Checkpoint {
  Bytes size;
  BytesPerSecond rate = BytesPerSecond::infinity();
  Seconds latency;
  std::optional<int> every_steps;
  std::optional<Seconds> every;  // of training; one of the two is set

  [[nodiscard]] Seconds pause() const { return latency + size / rate; }
  /// Checkpoints per iteration that takes `iteration` without them.
  [[nodiscard]] double per_iteration(Seconds iteration) const;
  /// Training time between two checkpoints.
  [[nodiscard]] Seconds interval(Seconds iteration) const;
};

}  // namespace farandole::inline training
