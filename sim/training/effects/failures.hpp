// Failures of nodes during a long run, and what it takes to survive them.
//
// A node fails after an exponentially distributed time of mean MTBF, a job of n nodes every MTBF / n.
//
// With checkpoints and restart a failure costs what was done since the last checkpoint that was written, the restart,
// during which nodes may fail again, and waiting for a node where no spare one is left. Between two checkpoints lie
// tau of work and a pause of C; what is written in the background counts from W later on, and the next checkpoint waits
// for it: a = max(tau, W) + C. With restart R, M = MTBF / n, and N = work / tau checkpoints, exactly:
//
//   T = M e^(R/M) ( e^((a + W)/M) - 1  +  (N - 1) e^(W/M) (e^(a/M) - 1) )
//
// which is M e^(R/M) (e^((tau + C)/M) - 1) for each tau where everybody waits for the writing (W = 0: Daly, Future
// Generation Computer Systems 22(3), 2006). The share of the time in which s spare nodes are all being repaired, D
// each, is Erlang's loss B(s + 1, D/M), whatever the distribution of repairs: T / (1 - B). The best interval solves
// ln(1 - x) + x = -C/M, tau = x M; it is about sqrt(2 C M) (Young, CACM 17(9), 1974).
//
// Elastic training shrinks: the work since the last commit is lost, the survivors go on after a reset, and the node
// comes back after its repair, which costs another reset. Both are simulated with seeded failures; work is measured in
// seconds of the whole job at full size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "units/quantity.hpp"

namespace farandole { inline namespace training {

/// How many failures, checkpoints and returns of nodes simulated runs may have together: no run goes on for ever.
class EventsLeft {
 public:
  static constexpr int most = 20'000'000;
  /// None was left.
  struct NoneLeft {};
  /// Throws NoneLeft.
  void take() {
    if (--left_ < 0) throw NoneLeft();
  }

 private:
  int left_ = most;
};

/// Where the time of a run with failures went; the rest of `total` is work done for good.
struct Survival {
  Seconds total;
  Seconds lost;        // work that had to be done again
  Seconds recovering;  // restarts and resets
  Seconds checkpointing;
  Seconds standby{};    // until a node is back, where no spare one was left
  double failures = 0;  // in the mean where this is an expectation
};

struct RestartPlan {
  Seconds work;
  Seconds interval;    // of work between two checkpoints
  Seconds checkpoint;  // what one costs
  Seconds restart;
  Seconds mtbf;          // of the job
  Seconds background{};  // from a checkpoint until it is written, and can be restarted from
  Seconds repair{};      // of a node; 0: another is there at once
  int spares = 0;        // nodes that take the place of those under repair

  /// From checkpoint to checkpoint with so much work between them.
  [[nodiscard]] Seconds segment(Seconds work_between) const { return std::max(work_between, background) + checkpoint; }
};

/// The exact expectation; of the time without a node, that of a run many repairs long. Infinite where the interval is
/// many times the MTBF.
Survival expected_run(const RestartPlan& plan);
/// The interval that makes it least.
Seconds best_interval(const RestartPlan& plan);
/// One seeded run. The plan must have an expectation that ends.
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
Survival elastic_run(const ElasticPlan& plan, std::uint64_t seed, EventsLeft& events);

// Checkpoints are written now and then, and everybody waits for them.
//
// In synchronous training the other ranks come to a stop at their next collective until the writer is back, so a
// checkpoint delays the job by its whole length:
//
//   writing = latency + size / min(writers x rate, nodes that write x node_bandwidth, storage_bandwidth)
//   pause   = writing, or asynchronous: a copy of each writer's part in its host's memory, which is then written
//             in the background; the next checkpoint waits until that is done. Over the network that training uses
//             it takes its rate from the NICs of the nodes that write, and an iteration T takes T' meanwhile: of
//             W = writing training loses W (1 - T / T')
//
// and per iteration in the mean pause / steps, or pause x iteration / period. Where the period is a time it counts the
// training between two checkpoints, as in Young's and Daly's formulas.

struct Checkpoint {
  Bytes size;
  BytesPerSecond rate = BytesPerSecond::infinity();  // of one writer
  Seconds latency;
  std::optional<int> every_steps;
  std::optional<Seconds> every;  // of training; one of the two is set, or `every` by the best interval
  bool every_best = false;
  bool sharded = false;  // every rank writes its part; else rank 0 all of it
  int writers = 1;
  int nodes = 1;  // that they are on
  BytesPerSecond node_bandwidth = BytesPerSecond::infinity();
  BytesPerSecond storage_bandwidth = BytesPerSecond::infinity();
  bool asynchronous = false;
  BytesPerSecond snapshot_rate = BytesPerSecond::infinity();  // of each writer, into its host's memory
  bool over_network = false;  // what is written in the background goes over the NICs that training uses
  double slowed = 0;          // of what it would do meanwhile, the share that training does not do for that

  [[nodiscard]] Seconds writing() const;
  [[nodiscard]] Seconds pause() const { return asynchronous ? size / (snapshot_rate * writers) : writing(); }
  [[nodiscard]] Seconds background() const { return asynchronous ? writing() : Seconds(0); }
  /// On the network of each node that writes.
  [[nodiscard]] BytesPerSecond rate_of_node() const {
    return std::min({rate * writers, node_bandwidth * nodes, storage_bandwidth}) / nodes;
  }
  /// What one costs an iteration that takes `iteration` without: the pause, and the wait for the one before or what
  /// training loses while that is written.
  [[nodiscard]] Seconds cost(Seconds iteration) const {
    return pause() + std::max({Seconds(0), background() - interval(iteration), slowed * background()});
  }
  /// Checkpoints per iteration that takes `iteration` without them.
  [[nodiscard]] double per_iteration(Seconds iteration) const { return iteration / interval(iteration); }
  /// Training time between two checkpoints.
  [[nodiscard]] Seconds interval(Seconds iteration) const;
};

}}  // namespace farandole::training
