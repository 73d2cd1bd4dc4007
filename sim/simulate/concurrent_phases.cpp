#include "simulate/concurrent_phases.hpp"

#include <algorithm>
#include <stdexcept>

namespace farandole {
namespace {

/// A round that stands for the phase: of a pipeline one in the middle, where all take part if they ever do.
int middle(const Phase& phase) {
  return phase.repeats / 2;
}

}  // namespace

ConcurrentPhases::ConcurrentPhases(Fidelity fidelity, std::vector<RoutedSchedule> schedules)
    : schedules_(std::move(schedules)),
      sharing_(fidelity == Fidelity::analytic ? Sharing::by_load : Sharing::simulated) {
  for (const RoutedSchedule& schedule : schedules_) clocks_.push_back(make_collective_clock(fidelity, schedule));
}

Seconds ConcurrentPhases::time_of(const Collective& collective, std::size_t phase, const Eigen::ArrayXd& rates) const {
  const RoutedSchedule& routed = schedules_[collective.schedule];
  const Phase& pattern = routed.schedule().phases[phase];
  const int repeat = costs_vary(routed, phase) ? middle(pattern) : 0;
  Eigen::ArrayXd latency(rates.size());
  for (Eigen::Index t = 0; t < latency.size(); ++t) {
    latency[t] = routed.leg(phase, static_cast<std::size_t>(t), repeat).latency.si();
  }
  const TransferCosts costs = transfer_costs(routed, phase, repeat, {latency, rates}, collective.sizes);
  if (costs_vary(routed, phase)) return Seconds((costs.sending + costs.reducing).maxCoeff() * pattern.repeats);
  RankTimes moments = all_at(routed.schedule().ranks, Seconds(0));
  carry(moments, routed.schedule(), pattern, costs);
  return latest(moments);
}

const std::vector<Eigen::ArrayXd>& ConcurrentPhases::inverse_rates(const std::vector<Place>& places) {
  const auto [found, is_new] = rates_.try_emplace(places);
  if (!is_new) return found->second;
  std::vector<RoundOf> rounds;
  for (const auto& [schedule, phase] : places) {
    rounds.push_back({&schedules_[schedule], phase, middle(schedules_[schedule].schedule().phases[phase])});
  }
  return found->second = rates_together(rounds, sharing_);
}

void ConcurrentPhases::start(int schedule, Bytes size, const RankTimes& start, int tag) {
  if (latest(start) < now_) throw std::logic_error("a collective is never started in the past");
  const auto index = static_cast<std::size_t>(schedule);
  const RankTimes alone = clocks_.at(index)->finish(size, start);
  clocks_[index]->rest();
  Collective collective{index, tag, {size, schedules_[index].schedule()}, alone, latest(start), 1};
  Seconds sum;
  for (std::size_t phase = 0; phase < phases(collective); ++phase) {
    sum += time_of(collective, phase, inverse_rates({{index, phase}}).front());
  }
  if (sum > Seconds(0)) collective.scale = (latest(alone) - latest(start)) / sum;
  waiting_.emplace(next_++, std::move(collective));
}

void ConcurrentPhases::call_at(Seconds when, int tag) {
  if (when < now_) throw std::logic_error("a call is never in the past");
  calls_.emplace(next_++, Event{when, tag});
}

/// Every collective under way gets the duration of its phase beside the others.
void ConcurrentPhases::change_pace() {
  std::vector<Place> places;
  for (const auto& [number, collective] : under_way_) places.emplace_back(collective.schedule, collective.phase);
  if (places.empty()) return;
  const auto& rates = inverse_rates(places);
  std::size_t index = 0;
  for (auto& [number, collective] : under_way_) {
    collective.duration = time_of(collective, collective.phase, rates[index++]) * collective.scale;
  }
}

Seconds ConcurrentPhases::next_moment() const {
  Seconds next = Seconds::infinity();
  for (const auto& [number, call] : calls_) next = std::min(next, call.when);
  for (const auto& [number, collective] : waiting_) next = std::min(next, collective.begin);
  for (const auto& [number, collective] : under_way_)
    next = std::min(next, now_ + collective.duration * collective.left);
  return next;
}

void ConcurrentPhases::go_on_to(Seconds moment) {
  for (auto& [number, collective] : under_way_) {
    const Seconds left = collective.duration * collective.left;
    if (now_ + left > moment) {
      collective.left -= (moment - now_) / collective.duration;
      continue;
    }
    ++collective.phase;
    collective.duration = Seconds::infinity();
    collective.left = 1;
  }
  now_ = moment;
  for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
    if (waiting->second.begin > now_) {
      ++waiting;
      continue;
    }
    under_way_.insert(waiting_.extract(waiting++));
  }
}

bool ConcurrentPhases::take_done(int& tag, RankTimes& ends) {
  const auto call = std::ranges::find_if(calls_, [this](const auto& entry) { return entry.second.when <= now_; });
  const auto over = std::ranges::find_if(
      under_way_, [this](const auto& entry) { return entry.second.phase >= phases(entry.second); });
  if (call == calls_.end() && over == under_way_.end()) return false;
  if (over == under_way_.end() || (call != calls_.end() && call->first < over->first)) {
    tag = call->second.tag;
    ends = RankTimes();
    calls_.erase(call);
    return true;
  }
  tag = over->second.tag;
  ends = over->second.alone + std::max(0.0, (now_ - latest(over->second.alone)).si());
  under_way_.erase(over);
  return true;
}

void ConcurrentPhases::run(const Done& done) {
  while (!(calls_.empty() && waiting_.empty() && under_way_.empty())) {
    go_on_to(next_moment());
    int tag = 0;
    RankTimes ends;
    while (take_done(tag, ends)) done(tag, ends);
    // What was started in between at this very moment joins before anything goes on.
    go_on_to(now_);
    change_pace();
  }
}

}  // namespace farandole
