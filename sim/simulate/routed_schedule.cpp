#include "simulate/routed_schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "simulate/link_loads.hpp"
#include "simulate/way_choice.hpp"

namespace farandole { inline namespace simulate {
namespace {

BytesPerSecond reduce_rate(const Platform& platform, const Transfer& transfer) {
  return transfer.action == Action::copy ? BytesPerSecond::infinity() : platform.transport.reduce_rate;
}

/// Whether a copy of the platform costs less than the legs of all transfers.
bool are_many(const Schedule& schedule, const Platform& platform) {
  std::size_t transfers = 0;
  for (const Phase& phase : schedule.phases) transfers += transfers_per_round(phase);
  return transfers > 4 * platform.links.size();
}

/// Whether every transfer of the phase is between the ranks of its like in the phase before, as in a ring's halves.
bool goes_the_same_ways(const Schedule& schedule, std::size_t phase) {
  if (phase == 0) return false;
  const Phase& before = schedule.phases[phase - 1];
  const Phase& here = schedule.phases[phase];
  if (before.fan != 1 || here.fan != 1) return false;
  return std::ranges::equal(before.transfers, here.transfers, [](const Transfer& one, const Transfer& other) {
    return one.from == other.from && one.to == other.to;
  });
}

}  // namespace

RoutedSchedule::RoutedSchedule(Schedule schedule, const Platform& platform, const Placement& placement, Routing routing)
    : schedule_(std::make_shared<const Schedule>(std::move(schedule))),
      legs_(std::make_shared<Legs>(schedule_->phases.size())),
      eager_sends_(platform.transport.eager_sends),
      send_window_(platform.transport.send_window),
      burst_(platform.transport.burst) {
  capacities_.reserve(platform.links.size());
  for (const Link& link : platform.links) {
    capacities_.push_back(link.capacity);
    if (link.congestion == nullptr) continue;
    congestion_.resize(platform.links.size());
    congestion_[capacities_.size() - 1].curve = link.congestion;
  }
  message_cost_ = platform.transport.message;
  const bool is_any_long = message_cost_.rendezvous_from < Bytes::infinity();
  if (is_any_long) handshakes_ = platform.transport.handshakes;  // else ranks stay alike
  const bool is_limited = platform.flow_rate < BytesPerSecond::infinity();
  if (is_limited) add_connections(platform);
  if (platform.network.choice) shares_ = std::make_shared<Shares>();
  when_asked_ = !is_limited && (routing == Routing::when_asked || are_many(*schedule_, platform));
  const bool moves = std::ranges::any_of(schedule_->phases, [](const Phase& phase) { return phase.peer_step != 0; });
  if (when_asked_ || moves || shares_) {
    where_ = std::make_shared<std::pair<Platform, Placement>>(platform, placement);
  }
  for (std::size_t phase = 0; phase < legs_->size() && !when_asked_; ++phase) {
    (*legs_)[phase] = legs_of(phase, platform, placement);
  }
}

const std::vector<RoutedSchedule::Leg>& RoutedSchedule::legs(std::size_t phase) const {
  auto& legs = (*legs_)[phase];
  if (when_asked_ && legs.empty()) legs = legs_of(phase, where_->first, where_->second);
  return legs;
}

std::vector<RoutedSchedule::Leg> RoutedSchedule::legs_of(std::size_t number, const Platform& platform,
                                                         const Placement& placement) const {
  const Phase& phase = schedule_->phases[number];
  if (goes_the_same_ways(*schedule_, number)) {
    std::vector<Leg> legs = this->legs(number - 1);
    for (std::size_t t = 0; t < legs.size(); ++t) legs[t].reduce_rate = reduce_rate(platform, phase.transfers[t]);
    return legs;
  }
  const std::vector<int>* shares = shares_ ? &shares_of(number, std::nullopt, platform, placement) : nullptr;
  std::vector<Leg> legs;
  legs.reserve(transfers_per_round(phase));
  for (const Transfer& transfer : phase.transfers) {
    for (int lane = 0; lane < phase.fan; ++lane) {
      const Transfer placed = in_repeat(*schedule_, phase, transfer, transfer.start, lane);
      const std::size_t index = legs.size();
      legs.push_back(between(platform, placement, placed, connection(number, index),
                             shares != nullptr ? (*shares)[index] : choice_parts));
    }
  }
  return legs;
}

const std::vector<int>& RoutedSchedule::shares_of(std::size_t number, std::optional<int> repeat,
                                                  const Platform& platform, const Placement& placement) const {
  const auto [known, is_new] = shares_->try_emplace({number, repeat.value_or(-1)});
  if (!is_new) return known->second;
  const Phase& phase = schedule_->phases[number];
  std::vector<RouteChoice> pairs;
  pairs.reserve(transfers_per_round(phase));
  for (const Transfer& transfer : phase.transfers) {
    for (int lane = 0; lane < phase.fan; ++lane) {
      const Transfer placed = in_repeat(*schedule_, phase, transfer, repeat.value_or(transfer.start), lane);
      pairs.push_back(platform.choices(placement.device_of_rank[static_cast<std::size_t>(placed.from)],
                                       placement.device_of_rank[static_cast<std::size_t>(placed.to)]));
    }
  }
  return known->second = minimal_parts(pairs, capacities_, platform.first_network_link());
}

/// Before a leg or a link is changed, of this one and not of its copies.
void RoutedSchedule::know_all_legs() {
  for (std::size_t phase = 0; phase < legs_->size(); ++phase) static_cast<void>(legs(phase));
  legs_ = std::make_shared<Legs>(*legs_);
  when_asked_ = false;
}

void RoutedSchedule::add_connections(const Platform& platform) {
  std::map<std::pair<int, int>, int> of_pair;
  for (const Phase& phase : schedule_->phases) {
    auto& own = connections_.emplace_back();
    for (std::size_t index = 0; index < transfers_per_round(phase); ++index) {
      const auto fan = static_cast<std::size_t>(phase.fan);
      const Transfer& pattern = phase.transfers[index / fan];
      const Transfer first = in_repeat(*schedule_, phase, pattern, pattern.start, static_cast<int>(index % fan));
      const auto fresh = static_cast<int>(capacities_.size());
      const bool is_new = receivers_move(phase) || of_pair.try_emplace({first.from, first.to}, fresh).second;
      own.push_back(is_new ? fresh : of_pair.at({first.from, first.to}));
      if (is_new) capacities_.push_back(platform.flow_rate);
    }
  }
  if (!congestion_.empty()) congestion_.resize(capacities_.size());
}

void RoutedSchedule::share_links(const std::vector<double>& shares) {
  know_all_legs();
  for (std::size_t link = 0; link < capacities_.size(); ++link) capacities_[link] *= shares[link];
  for (auto& phase : *legs_) {
    for (Leg& leg : phase) leg.narrowest = narrowest_of(leg.links, leg.paths, capacities_);
  }
}

std::vector<FluidLink> RoutedSchedule::fluid_links() const {
  std::vector<FluidLink> links;
  links.reserve(capacities_.size());
  for (const BytesPerSecond capacity : capacities_) links.push_back({capacity});
  for (std::size_t link = 0; link < congestion_.size(); ++link) links[link].congestion = congestion_[link];
  return links;
}

RoutedSchedule::Leg RoutedSchedule::between(const Platform& platform, const Placement& placement,
                                            const Transfer& transfer, int connection, int minimal_parts) const {
  const int from = placement.device_of_rank[static_cast<std::size_t>(transfer.from)];
  const int to = placement.device_of_rank[static_cast<std::size_t>(transfer.to)];
  Route route = shares_ ? platform.choices(from, to).split(minimal_parts) : platform.route(from, to);
  leave_out_idle(route.links);
  const bool between_nodes = platform.node_of(from) != platform.node_of(to);
  if (connection >= 0 && between_nodes) {
    route.links.insert(route.links.end(), static_cast<std::size_t>(route.paths), connection);
  }
  const BytesPerSecond narrowest = narrowest_of(route.links, route.paths, capacities_);
  return {std::move(route.links),
          route.latency,
          narrowest,
          route.paths,
          reduce_rate(platform, transfer),
          platform.transport.occupancy,
          1,
          between_nodes};
}

bool RoutedSchedule::has_occupancy() const {
  if (when_asked_) {
    const Occupancy& kept = where_->first.transport.occupancy;
    return kept.send > Seconds(0) || kept.receive > Seconds(0);
  }
  return std::ranges::any_of(*legs_, [](const std::vector<Leg>& legs) {
    return std::ranges::any_of(
        legs, [](const Leg& leg) { return leg.occupancy.send > Seconds(0) || leg.occupancy.receive > Seconds(0); });
  });
}

RoutedSchedule::Leg RoutedSchedule::leg(std::size_t phase, std::size_t index, int repeat) const {
  const bool is_first = repeat == 0 || !receivers_move(schedule_->phases[phase]);
  if (is_first && !(*legs_)[phase].empty()) return (*legs_)[phase][index];
  if (!is_first && later_) return later_(phase, index, repeat);
  return leg_of(phase, index, is_first ? std::nullopt : std::optional(repeat));
}

/// Without a repeat: in the first that the transfer takes part in.
RoutedSchedule::Leg RoutedSchedule::leg_of(std::size_t phase, std::size_t index, std::optional<int> repeat) const {
  const Phase& pattern = schedule_->phases[phase];
  const auto fan = static_cast<std::size_t>(pattern.fan);
  const Transfer& transfer = pattern.transfers[index / fan];
  const auto& [platform, placement] = *where_;
  return between(
      platform, placement,
      in_repeat(*schedule_, pattern, transfer, repeat.value_or(transfer.start), static_cast<int>(index % fan)),
      connection(phase, index), shares_ ? shares_of(phase, repeat, platform, placement)[index] : choice_parts);
}

int RoutedSchedule::parts() const {
  int parts = 1;
  for (std::size_t phase = 0; phase < legs_->size(); ++phase) {
    const Phase& pattern = schedule_->phases[phase];
    const int repeats = receivers_move(pattern) ? pattern.repeats : 1;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t index = 0; index < legs(phase).size(); ++index) {
        parts = std::lcm(parts, repeat == 0 ? legs(phase)[index].paths : leg(phase, index, repeat).paths);
      }
    }
  }
  return parts;
}

bool receivers_move(const Phase& phase) {
  return phase.peer_step != 0 && phase.repeats > 1;
}

}}  // namespace farandole::simulate
