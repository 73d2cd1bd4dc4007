#include "training/effects/failures.hpp"

#include <cmath>
#include <vector>

#include "training/random.hpp"

namespace farandole { inline namespace training {
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

/// A run with checkpoints and restarts: how much is safe, and when nodes under repair are back.
class Restarted {
 public:
  Restarted(const RestartPlan& plan, std::uint64_t seed, EventsLeft& events)
      : plan_(plan), clock_(seed), events_(events) {}

  Survival run() {
    for (Seconds safe; safe < plan_.work;) {
      safe = live(safe);
      if (safe < plan_.work) recover();
    }
    run_.total = now_;
    return run_;
  }

 private:
  /// From the last checkpoint to the next failure, or to the end; what is safe then.
  Seconds live(Seconds safe) {
    const Seconds alive = clock_.next(plan_.mtbf);
    Seconds elapsed;
    while (safe < plan_.work) {
      events_.take();
      const Seconds work = std::min(plan_.interval, plan_.work - safe);
      const Seconds segment = plan_.segment(work);
      if (elapsed + segment + plan_.background > alive) {
        run_.lost += alive - elapsed;
        now_ += alive;
        return safe;
      }
      elapsed += segment;
      run_.checkpointing += segment - work;
      safe += work;
    }
    run_.checkpointing += plan_.background;
    now_ += elapsed + plan_.background;
    return plan_.work;
  }

  /// Restarts until one goes through without another failure.
  void recover() {
    replace_node();
    for (Seconds alive = clock_.next(plan_.mtbf); alive < plan_.restart; alive = clock_.next(plan_.mtbf)) {
      events_.take();
      spend(run_.recovering, alive);
      replace_node();
    }
    spend(run_.recovering, plan_.restart);
  }

  void replace_node() {
    ++run_.failures;
    if (plan_.repair == Seconds(0)) return;
    std::erase_if(returns_, [&](Seconds back) { return back <= now_; });
    returns_.push_back(now_ + plan_.repair);  // in order: every repair takes as long
    if (static_cast<int>(returns_.size()) <= plan_.spares) return;
    spend(run_.standby, returns_.front() - now_);
  }

  void spend(Seconds& on, Seconds time) {
    on += time;
    now_ += time;
  }

  const RestartPlan& plan_;
  FailureClock clock_;
  EventsLeft& events_;
  Seconds now_;
  std::vector<Seconds> returns_;
  Survival run_;
};

/// The share of arrivals that find all of so many lines busy, with `load` of them busy in the mean if there were more.
double erlang_loss(int lines, double load) {
  double loss = 1;
  for (int line = 1; line <= lines; ++line) loss = load * loss / (line + load * loss);
  return loss;
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
    if (nodes_ < plan_.least_nodes) {
      run_.recovering += back;
      now_ += back;
      return take_back();
    }
    const double rate = plan_.relative_rate(nodes_);
    const Seconds fails = clock_.next(plan_.node_mtbf / nodes_);
    const Seconds ends = (plan_.work - done_) / rate;
    const Seconds passed = std::min({fails, back, ends});
    done_ += passed * rate;
    now_ += passed;
    if (passed == fails) return lose_node();
    if (passed == back) take_back();
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

Survival expected_run(const RestartPlan& plan) {
  const double mtbf = plan.mtbf.si();
  const double full = std::max(0.0, std::ceil(plan.work / plan.interval - 1e-9) - 1);  // all but the last
  const Seconds last_work = plan.work - full * plan.interval;
  const Seconds last = plan.segment(last_work);
  const Seconds segment = plan.segment(plan.interval);
  const Seconds first = full > 0 ? segment : last;
  const double written = std::exp(plan.background / plan.mtbf);
  const auto attempts = [&](Seconds time) { return std::expm1(time / plan.mtbf); };
  double tries = attempts(first + plan.background);
  if (full > 0) tries += written * ((full - 1) * attempts(segment) + attempts(last));
  const Seconds up(mtbf * std::exp(plan.restart / plan.mtbf) * tries);
  Survival run;
  run.failures = up / plan.mtbf;
  run.recovering = -std::expm1(-(plan.restart / plan.mtbf)) * up;
  run.checkpointing = full * (segment - plan.interval) + last - last_work + plan.background;
  run.lost = std::max(Seconds(0), up - plan.work - run.checkpointing - run.recovering);
  const double waiting = plan.repair > Seconds(0) ? erlang_loss(plan.spares + 1, plan.repair / plan.mtbf) : 0;
  run.standby = waiting / (1 - waiting) * up;
  run.total = up + run.standby;
  return run;
}

/// ln(1 - x) + x falls from 0 at x = 0 without end: halved until nothing is between.
Seconds best_interval(const RestartPlan& plan) {
  const double pause = plan.checkpoint / plan.mtbf;
  double low = 0;
  double high = 1;
  for (int i = 0; i < 100; ++i) {
    const double x = (low + high) / 2;
    (std::log1p(-x) + x > -pause ? low : high) = x;
  }
  return std::max(plan.background, low * plan.mtbf);
}

Survival restart_run(const RestartPlan& plan, std::uint64_t seed, EventsLeft& events) {
  return Restarted(plan, seed, events).run();
}

Survival elastic_run(const ElasticPlan& plan, std::uint64_t seed, EventsLeft& events) {
  return Elastic(plan, seed, events).run();
}

Seconds Checkpoint::writing() const {
  return latency + size / std::min({rate * writers, node_bandwidth * nodes, storage_bandwidth});
}

Seconds Checkpoint::interval(Seconds iteration) const {
  return every ? *every : iteration * every_steps.value_or(1);
}

}}  // namespace farandole::training
