#include "training/effects/failures.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "config/error.hpp"
#include "training/random.hpp"

namespace farandole::inline training {
namespace {

/// The times between failures, one after the other.
class FailureClock {
 public:
  explicit FailureClock(std::uint64_t seed) : seed_(mix(seed + 5)) {}
  Seconds next(Seconds mean) { return -std::log(uniform_deviate(seed_ ^ mix(drawn_++))) * mean; }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

/// Restarts until one goes through without another failure.
void recover(Survival& run, FailureClock& clock, const RestartPlan& plan, EventsLeft& events) {
  ++run.failures;
  for (Seconds alive = clock.next(plan.mtbf); alive < plan.restart; alive = clock.next(plan.mtbf)) {
    events.take();
    run.recovering += alive;
    ++run.failures;
  }
  run.recovering += plan.restart;
}

/// A run of elastic training: how much is done, who is there, and when the next node returns.
class Elastic {
 public:
  Elastic(const ElasticPlan& plan, std::uint64_t seed, EventsLeft& events)
      : plan_(plan), clock_(seed), events_(events), nodes_(plan.nodes) {}

  Survival run() {
    while (done_ < plan_.work) step();
    run_.total = now_;
    return run_;
  }

 private:
  /// To whichever comes first: the end, a failure, a node that returns.
  void step() {
    events_.take();
    const Seconds back = returns_.empty() ? Seconds::infinity() : std::max(Seconds(0), returns_.front() - now_);
    if (nodes_ < plan_.least_nodes) return wait(back);
    const double rate = plan_.relative_rate(nodes_);
    const Seconds fails = clock_.next(plan_.node_mtbf / nodes_);
    const Seconds ends = (plan_.work - done_) / rate;
    const Seconds passed = std::min({fails, back, ends});
    done_ += passed * rate;
    now_ += passed;
    if (passed == fails) return lose_node();
    if (passed == back) take_back();
  }

  void wait(Seconds back) {
    run_.recovering += back;
    now_ += back;
    take_back();
  }

  void lose_node() {
    ++run_.failures;
    const Seconds uncommitted(std::fmod(done_.si(), plan_.commit_interval.si()));
    done_ -= uncommitted;
    run_.lost += uncommitted;
    --nodes_;
    reset();
    returns_.push_back(now_ + plan_.repair);
  }

  void take_back() {
    returns_.erase(returns_.begin());
    ++nodes_;
    reset();
  }

  void reset() {
    now_ += plan_.reset;
    run_.recovering += plan_.reset;
  }

  const ElasticPlan& plan_;
  FailureClock clock_;
  EventsLeft& events_;
  int nodes_;
  Seconds now_;
  Seconds done_;
  std::vector<Seconds> returns_;  // in order: every repair takes as long
  Survival run_;
};

}  // namespace

Seconds expected_time(const RestartPlan& plan) {
  const double segments = plan.work / plan.interval;
  const double attempts = std::expm1((plan.interval + plan.checkpoint) / plan.mtbf);
  return plan.mtbf * (segments * std::exp(plan.restart / plan.mtbf) * attempts);
}

Seconds best_interval(Seconds checkpoint, Seconds mtbf) {
  if (checkpoint >= 2 * mtbf) return mtbf;
  const double ratio = std::sqrt(checkpoint / (2 * mtbf));
  return Seconds(std::sqrt(2 * checkpoint.si() * mtbf.si()) * (1 + ratio / 3 + ratio * ratio / 9)) - checkpoint;
}

void EventsLeft::take() {
  if (--left_ >= 0) return;
  throw InputError(
      "/run/failures: expected runs of at most 20,000,000 failures, checkpoints and returns of nodes in all "
      "simulations, "
      "got more");
}

Survival restart_run(const RestartPlan& plan, std::uint64_t seed) {
  EventsLeft events;
  return restart_run(plan, seed, events);
}

Survival restart_run(const RestartPlan& plan, std::uint64_t seed, EventsLeft& events) {
  Survival run;
  FailureClock clock(seed);
  for (Seconds done; done < plan.work;) {
    events.take();
    const Seconds segment = std::min(plan.interval, plan.work - done);
    const Seconds alive = clock.next(plan.mtbf);
    if (alive < segment + plan.checkpoint) {
      run.lost += alive;
      recover(run, clock, plan, events);
      continue;
    }
    done += segment;
    run.checkpointing += plan.checkpoint;
  }
  run.total = plan.work + run.checkpointing + run.lost + run.recovering;
  return run;
}

Survival elastic_run(const ElasticPlan& plan, std::uint64_t seed) {
  EventsLeft events;
  return elastic_run(plan, seed, events);
}

Survival elastic_run(const ElasticPlan& plan, std::uint64_t seed, EventsLeft& events) {
  return Elastic(plan, seed, events).run();
}

}  // namespace farandole::inline training
