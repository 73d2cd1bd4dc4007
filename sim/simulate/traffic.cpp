#include "simulate/traffic.hpp"

#include <algorithm>
#include <utility>

#include "training/random.hpp"

namespace farandole {

Traffic::Traffic(const std::vector<OnOffSource>& sources, std::vector<IterationProfile> others, Slowdown slowdown)
    : slowdown_(std::move(slowdown)) {
  for (const OnOffSource& of : sources) {
    Source& source = sources_.emplace_back(Source{of, false, Seconds(0), 0});
    source.is_on = draw(source) < of.on / (of.on + of.off);
    source.change = stretch(source) * draw(source);  // the first one is under way already
  }
  for (IterationProfile& alone : others) {
    std::erase_if(alone.collectives, [](const CollectiveSpan& span) { return span.end <= span.begin; });
    Job& job = jobs_.emplace_back();
    job.alone = std::move(alone);
    job.wake = job.alone.collectives.empty() ? job.alone.duration : job.alone.collectives.front().begin;
  }
}

double Traffic::draw(Source& source) {
  return uniform_deviate(mix(source.of.seed) + source.draws++);
}

/// How long it stays as it is.
Seconds Traffic::stretch(Source& source) {
  const Seconds mean = source.is_on ? source.of.on : source.of.off;
  const Distribution& spread = source.is_on ? source.of.on_spread : source.of.off_spread;
  return mean * spread.factor(draw(source));
}

/// The next collective begins, or the next iteration.
void Traffic::wake_up(Job& job) const {
  if (job.turn < job.alone.collectives.size()) {
    job.is_sending = true;
    job.left = 1;
    return;
  }
  ++job.iterations;
  job.over = now_;
  job.start = now_;
  job.turn = 0;
  job.wake = now_ + (job.alone.collectives.empty() ? job.alone.duration : job.alone.collectives.front().begin);
}

void Traffic::end_turn(Job& job) const {
  job.is_sending = false;
  const Seconds tail = job.alone.duration - job.alone.collectives[job.turn].end;
  ++job.turn;
  const bool is_last = job.turn == job.alone.collectives.size();
  job.wake = is_last ? now_ + tail : std::max(job.start + job.alone.collectives[job.turn].begin, now_);
}

Traffic::Pace Traffic::pace_of(const Own* own) const {
  Pace pace;
  std::vector<Seconds> alone;
  if (own != nullptr) {
    pace.parties.push_back(own->party);
    pace.jobs.push_back(0);
    alone.push_back(own->alone * own->left);
  }
  for (std::size_t index = 0; index < jobs_.size(); ++index) {
    const Job& job = jobs_[index];
    if (!job.is_sending) continue;
    const CollectiveSpan& span = job.alone.collectives[job.turn];
    pace.parties.push_back({index + 1, span.operation, span.size});
    pace.jobs.push_back(index + 1);
    alone.push_back((span.end - span.begin) * job.left);
  }
  std::vector<bool> on;
  for (const Source& source : sources_) on.push_back(source.is_on);
  for (std::size_t who = 0; who < alone.size(); ++who) {
    pace.left.push_back(alone[who] * slowdown_(who, pace.parties, on));
  }
  return pace;
}

Seconds Traffic::next_change(const Pace& pace) const {
  Seconds next = Seconds::infinity();
  for (const Source& source : sources_) next = std::min(next, source.change);
  for (const Job& job : jobs_) {
    if (!job.is_sending) next = std::min(next, job.wake);
  }
  for (const Seconds left : pace.left) next = std::min(next, now_ + left);
  return next;
}

/// What is left after some time at that pace.
void Traffic::spend(Seconds moment, const Pace& pace, Own* own) {
  const Seconds spent = moment - now_;
  const Seconds before = std::exchange(now_, moment);
  for (std::size_t who = 0; who < pace.left.size(); ++who) {
    const bool is_over = before + pace.left[who] <= moment;
    const double rest = is_over ? 0 : 1 - spent / pace.left[who];
    if (pace.jobs[who] == 0) {
      own->left *= rest;
      continue;
    }
    Job& job = jobs_[pace.jobs[who] - 1];
    job.left *= rest;
    if (is_over) end_turn(job);
  }
}

void Traffic::change_what_is_due() {
  for (Source& source : sources_) {
    if (source.change > now_) continue;
    source.is_on = !source.is_on;
    source.change = now_ + stretch(source);
  }
  for (Job& job : jobs_) {
    if (!job.is_sending && job.wake <= now_) wake_up(job);
  }
}

void Traffic::go_on_to(Seconds until, Own* own) {
  while (now_ < until && (own == nullptr || own->left > 0)) {
    const Pace pace = pace_of(own);
    spend(std::min(until, next_change(pace)), pace, own);
    change_what_is_due();
  }
}

Seconds Traffic::carry(const Party& ours, Seconds begin, Seconds alone) {
  go_on_to(begin, nullptr);
  const Seconds late = now_ - std::min(begin, now_);
  Own own{ours, alone};
  go_on_to(Seconds::infinity(), &own);
  return now_ - late;
}

std::vector<Seconds> Traffic::iterations_of_others() {
  while (std::ranges::any_of(jobs_, [](const Job& job) { return job.iterations == 0; })) {
    go_on_to(std::max(next_change(pace_of(nullptr)), now_), nullptr);
  }
  std::vector<Seconds> means;
  for (const Job& job : jobs_) means.push_back(job.over / job.iterations);
  return means;
}

std::vector<Seconds> Traffic::iterations_alone() const {
  std::vector<Seconds> alone;
  for (const Job& job : jobs_) alone.push_back(job.alone.duration);
  return alone;
}

namespace {

class TrafficClock final : public CollectiveClock {
 public:
  TrafficClock(std::shared_ptr<Traffic> traffic, Operation operation, std::unique_ptr<CollectiveClock> quiet)
      : traffic_(std::move(traffic)), operation_(operation), quiet_(std::move(quiet)) {}

  RankTimes finish(Bytes size, const RankTimes& start) override {
    RankTimes alone = quiet_->finish(size, start);
    const Seconds begin = latest(start);
    if (latest(alone) <= begin) return alone;
    quiet_->rest();  // what the traffic costs may be asked of SimGrid
    const Seconds end = traffic_->carry({0, operation_, size}, begin, latest(alone) - begin);
    return alone + std::max(0.0, (end - latest(alone)).si());
  }
  [[nodiscard]] bool folded() const override { return quiet_->folded(); }
  [[nodiscard]] bool has_launch() const override { return quiet_->has_launch(); }
  void rest() override { quiet_->rest(); }

 private:
  std::shared_ptr<Traffic> traffic_;
  Operation operation_;
  std::unique_ptr<CollectiveClock> quiet_;
};

}  // namespace

std::unique_ptr<CollectiveClock> make_traffic_clock(std::shared_ptr<Traffic> traffic, Operation operation,
                                                    std::unique_ptr<CollectiveClock> quiet) {
  return std::make_unique<TrafficClock>(std::move(traffic), operation, std::move(quiet));
}

}  // namespace farandole
