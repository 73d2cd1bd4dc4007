#include "simulate/message_clock.hpp"

#include <algorithm>

#include "simulate/message_run.hpp"

namespace farandole { inline namespace simulate {

std::int64_t MessageClock::messages_of(const Schedule& schedule) {
  std::int64_t sum = 0;
  for (const Phase& phase : schedule.phases) {
    sum += static_cast<std::int64_t>(transfers_per_round(phase)) * active_repeats(phase);
  }
  return sum;
}

MessageClock::MessageClock(RoutedSchedule routed, NetworkSolver solver) : routed_(std::move(routed)), wanted_(solver) {
  const Schedule& schedule = routed_.schedule();
  for (std::size_t p = 0; p < schedule.phases.size(); ++p) {
    const Phase& phase = schedule.phases[p];
    auto& ranks = phases_.emplace_back();
    ranks.resize(static_cast<std::size_t>(schedule.ranks));
    for (std::size_t index = 0; index < transfers_per_round(phase); ++index) {
      const auto number = static_cast<int>(transfers_.size());
      transfers_.push_back({p, index});
      const Transfer first = placed(number, pattern(number).start);
      ranks[static_cast<std::size_t>(first.from)].sends.push_back(number);
      ranks[static_cast<std::size_t>(first.to)].receives.push_back(number);
    }
  }
}

const Transfer& MessageClock::pattern(int number) const {
  const auto& [p, index] = transfers_[static_cast<std::size_t>(number)];
  const Phase& phase = routed_.schedule().phases[p];
  return phase.transfers[index / static_cast<std::size_t>(phase.fan)];
}

Transfer MessageClock::placed(int number, int repeat) const {
  const auto& [p, index] = transfers_[static_cast<std::size_t>(number)];
  const Phase& phase = routed_.schedule().phases[p];
  const auto lane = static_cast<int>(index % static_cast<std::size_t>(phase.fan));
  return in_repeat(routed_.schedule(), phase, pattern(number), repeat, lane);
}

/// All receivers move on together, so what a rank receives is what the rank so far behind it received at first.
const std::vector<int>& MessageClock::receives(std::size_t phase, int repeat, int rank) const {
  const Phase& pattern = routed_.schedule().phases[phase];
  const std::int64_t ranks = routed_.schedule().ranks;
  const std::int64_t shift = static_cast<std::int64_t>(repeat) * pattern.fan * pattern.peer_step % ranks;
  return phases_[phase][static_cast<std::size_t>((rank - shift + ranks) % ranks)].receives;
}

/// A rank that stands for all is in step with them: what it sends first and then is what it ever sends.
std::int64_t MessageClock::messages_to_send() const {
  return routed_.schedule().ranks == 1 ? 2 * static_cast<std::int64_t>(transfers_.size())
                                       : messages_of(routed_.schedule());
}

/// Of a network of its own.
struct MessageClock::OwnLinks {
  std::vector<FluidLink> links;
  std::vector<int> places;  // of the schedule's links among them; empty: all of them, as they are
};

/// Those that its messages cross: a large machine has many times as many, and a network of all of them, made anew
/// whenever clocks take turns, takes longer to make than a few ranks' messages to send. All, where there are more ways.
MessageClock::OwnLinks MessageClock::own_links() const {
  OwnLinks own;
  const std::vector<FluidLink> all = routed_.fluid_links();
  own.places.assign(all.size(), -1);
  std::size_t ways = 0;
  for (const auto& [number, index] : transfers_) {
    const Phase& phase = routed_.schedule().phases[number];
    for (int repeat = 0; repeat < (receivers_move(phase) ? phase.repeats : 1); ++repeat) {
      if (++ways > all.size() && receivers_move(phase)) return {all, {}};
      for (const int link : routed_.leg(number, index, repeat).links) {
        int& place = own.places[as_index(link)];
        if (place >= 0) continue;
        place = static_cast<int>(own.links.size());
        own.links.push_back(all[as_index(link)]);
      }
    }
  }
  return own;
}

void MessageClock::use(std::shared_ptr<SharedNetwork> network, std::function<int(int)> in_network) {
  release_network();
  network_ = std::move(network);
  in_network_ = std::move(in_network);
  for (const auto& [phase, index] : transfers_) routes_.push_back(add_route(routed_.legs(phase)[index]));
}

int MessageClock::add_route(const RoutedSchedule::Leg& leg) {
  std::vector<int> links;
  links.reserve(leg.links.size());
  for (const int link : leg.links) links.push_back(in_network_(link));
  return network_->add_route(links, leg.paths);
}

int MessageClock::route_over(const RoutedSchedule::Leg& leg) {
  const auto [place, is_new] = moved_routes_.try_emplace({leg.links, leg.paths}, 0);
  if (is_new) place->second = add_route(leg);
  return place->second;
}

void MessageClock::release_network() {
  network_.reset();
  routes_.clear();
  moved_routes_.clear();
}

/// SimGrid's until that takes long: by the messages of all collectives so far, with the next one's.
void MessageClock::make_network() {
  if (crossed_ == nullptr) crossed_ = std::make_shared<const OwnLinks>(own_links());
  const NetworkSolver solver = solver_for(wanted_, sent_, 0, std::ssize(crossed_->links));
  used_builtin_solver_ = wanted_ == NetworkSolver::as_it_pays && solver == NetworkSolver::own && has_simgrid();
  use(std::make_shared<FluidNetwork>(crossed_->links, routed_.parts(), solver),
      [all = crossed_](int link) { return all->places.empty() ? link : all->places[as_index(link)]; });
}

Answer MessageClock::answer(Bytes size, const RankTimes& start) {
  const bool was_enough = solver_for(wanted_, sent_) == NetworkSolver::own;
  sent_ += messages_to_send();
  const bool leaves_simgrid = !was_enough && solver_for(wanted_, sent_) == NetworkSolver::own;
  if (network_ == nullptr || leaves_simgrid) {
    make_network();
  } else {
    network_->restart();  // so that the last bits of a result do not depend on what ran before
  }
  const double origin = start.minCoeff();  // the network's zero
  Run run(*this, size, start - origin);
  run.begin();
  network_->run([&](int tag) { run.handle(tag); });
  // A rank that finds all done when it joins must not end before, by a rounding of the way there and back.
  return {(run.ends() + origin).max(start), {.used_builtin_solver = used_builtin_solver_}};
}

}}  // namespace farandole::simulate
