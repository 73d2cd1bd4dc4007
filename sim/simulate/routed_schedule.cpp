#include "simulate/routed_schedule.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "platform/topologies/kinds.hpp"
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
  if (platform.network.choice) later_legs_ = std::make_shared<LaterLegs>();
  when_asked_ = !is_limited && (routing == Routing::when_asked || are_many(*schedule_, platform));
  const bool moves = std::ranges::any_of(schedule_->phases, [](const Phase& phase) { return phase.peer_step != 0; });
  if (when_asked_ || moves || later_legs_) {
    where_ = std::make_shared<std::pair<Platform, Placement>>(platform, placement);
  }
  for (std::size_t phase = 0; phase < legs_->size() && !when_asked_; ++phase) {
    (*legs_)[phase] = legs_of(phase, std::nullopt, platform, placement);
  }
}

const std::vector<RoutedSchedule::Leg>& RoutedSchedule::legs(std::size_t phase) const {
  auto& legs = (*legs_)[phase];
  if (when_asked_ && legs.empty()) legs = legs_of(phase, std::nullopt, where_->first, where_->second);
  return legs;
}

/// Without a repeat: of every transfer in the first that it takes part in.
std::vector<RoutedSchedule::Leg> RoutedSchedule::legs_of(std::size_t number, std::optional<int> repeat,
                                                         const Platform& platform, const Placement& placement) const {
  const Phase& phase = schedule_->phases[number];
  const auto for_each_placed = [&](const auto& visit) {
    for (const Transfer& transfer : phase.transfers) {
      for (int lane = 0; lane < phase.fan; ++lane) {
        const Transfer placed = in_repeat(*schedule_, phase, transfer, repeat.value_or(transfer.start), lane);
        visit(placed, placement.device_of_rank[as_index(placed.from)], placement.device_of_rank[as_index(placed.to)]);
      }
    }
  };
  std::vector<RouteChoice> choices;
  std::vector<int> shares;
  if (later_legs_) {
    choices.reserve(transfers_per_round(phase));
    for_each_placed(
        [&](const Transfer& /*placed*/, int from, int to) { choices.push_back(platform.choices(from, to)); });
    shares = minimal_parts(choices, capacities_, platform.first_network_link());
  }
  std::vector<Leg> legs;
  legs.reserve(transfers_per_round(phase));
  for_each_placed([&](const Transfer& placed, int from, int to) {
    const std::size_t index = legs.size();
    Route route = later_legs_ ? choices[index].split(shares[index]) : platform.route(from, to);
    legs.push_back(over(std::move(route), platform, placement, placed, connection(number, index)));
  });
  return legs;
}

/// Those of the latest repeats; others are worked out again.
const std::vector<RoutedSchedule::Leg>& RoutedSchedule::later_legs_of(std::size_t phase, int repeat) const {
  constexpr std::size_t most_remembered = std::size_t{1} << 20;
  const auto known = later_legs_->find({phase, repeat});
  if (known != later_legs_->end()) return known->second;
  if ((later_legs_->size() + 1) * transfers_per_round(schedule_->phases[phase]) > most_remembered) later_legs_->clear();
  return (*later_legs_)[{phase, repeat}] = legs_of(phase, repeat, where_->first, where_->second);
}

/// Before a leg or a link is changed, of this one and not of its copies.
void RoutedSchedule::know_all_legs() {
  for (std::size_t phase = 0; phase < legs_->size(); ++phase) static_cast<void>(legs(phase));
  legs_ = std::make_shared<Legs>(*legs_);
  when_asked_ = false;
  if (later_legs_) later_legs_ = std::make_shared<LaterLegs>();
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

RoutedSchedule::Leg RoutedSchedule::over(Route route, const Platform& platform, const Placement& placement,
                                         const Transfer& transfer, int connection) const {
  const int from = placement.device_of_rank[as_index(transfer.from)];
  const int to = placement.device_of_rank[as_index(transfer.to)];
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
  if (is_first && (later_legs_ || !(*legs_)[phase].empty())) return legs(phase)[index];
  if (!is_first && later_) return later_(phase, index, repeat);
  if (!is_first && later_legs_) return later_legs_of(phase, repeat)[index];
  const Phase& pattern = schedule_->phases[phase];
  const auto fan = static_cast<std::size_t>(pattern.fan);
  const Transfer& transfer = pattern.transfers[index / fan];
  const auto& [platform, placement] = *where_;
  const Transfer placed =
      in_repeat(*schedule_, pattern, transfer, is_first ? transfer.start : repeat, static_cast<int>(index % fan));
  const auto device = [&](int rank) { return placement.device_of_rank[as_index(rank)]; };
  return over(platform.route(device(placed.from), device(placed.to)), platform, placement, placed,
              connection(phase, index));
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

/// Whatever is under way at once, a node sends no faster than its NICs, and at most as often over a bundle as the leg
/// of its ranks that crosses it most.
void RoutedSchedule::find_bundles_for_all_legs() {
  const auto& [platform, placement] = *where_;
  if (when_asked_ || platform.network.bundles.empty()) return;
  const int first = platform.network.bundles.front().link;
  std::map<std::pair<int, int>, double> most;  // by link and sending node
  for (std::size_t phase = 0; phase < legs_->size(); ++phase) {
    const Phase& pattern = schedule_->phases[phase];
    if (receivers_move(pattern)) return;
    for (std::size_t index = 0; index < legs(phase).size(); ++index) {
      const Leg& leg = legs(phase)[index];
      const Transfer& transfer = pattern.transfers[index / static_cast<std::size_t>(pattern.fan)];
      const int node = platform.node_of(placement.device_of_rank[static_cast<std::size_t>(transfer.from)]);
      for_each_listed(leg.links, [&](int link, int times) {
        if (link < first) return;
        double& so_far = most[{link, node}];
        so_far = std::max(so_far, static_cast<double>(times) / leg.paths);
      });
    }
  }
  leave_out_never_full(most, platform, capacities_, idle_);
}

void RoutedSchedule::forget_idle_links() {
  if (!where_ || !connections_.empty()) return;
  const auto& is_switch = where_->first.network.never_full;
  if (is_switch && is_switch(where_->first, capacities_)) take_network_for_a_switch();
  if (!later_legs_) return;
  idle_ = never_full(where_->first, where_->second, capacities_);
  find_bundles_for_all_legs();
  legs_ = std::make_shared<Legs>(*legs_);
  later_legs_ = std::make_shared<LaterLegs>();
  for (auto& phase : *legs_) {
    for (Leg& leg : phase) leave_out_idle(leg.links);
  }
}

void RoutedSchedule::forget_uncrossed_links() {
  constexpr std::size_t few = 16;  // links of a leg
  std::size_t legs = 0;
  for (const Phase& phase : schedule_->phases) legs += transfers_per_round(phase);
  if (few * legs > capacities_.size() || std::ranges::any_of(schedule_->phases, receivers_move)) return;
  know_all_legs();
  std::map<int, int> places;
  std::vector<BytesPerSecond> capacities;
  std::vector<Congestion> congestion;
  for (auto& phase : *legs_) {
    for (Leg& leg : phase) {
      for (int& link : leg.links) {
        const auto [place, is_new] = places.try_emplace(link, static_cast<int>(capacities.size()));
        if (is_new) capacities.push_back(capacities_[as_index(link)]);
        if (is_new && !congestion_.empty()) congestion.push_back(congestion_[as_index(link)]);
        link = place->second;
      }
    }
  }
  capacities_ = std::move(capacities);
  congestion_ = std::move(congestion);
  idle_.clear();
  connections_.clear();
  where_.reset();
  later_legs_.reset();
}

void RoutedSchedule::forget_network_of_even_exchange() {
  if (!where_ || !when_asked_ || !connections_.empty()) return;
  if (!network_is_idle_in_even_exchange(*schedule_, where_->first, where_->second, capacities_)) return;
  take_network_for_a_switch();
  later_legs_.reset();
  idle_.clear();
}

/// Of the nodes that are used. Ranks that a network parts are alike behind a switch (simulate/folding/moves.hpp).
void RoutedSchedule::take_network_for_a_switch() {
  auto star = std::make_shared<std::pair<Platform, Placement>>(*where_);
  Platform& platform = star->first;
  platform.nodes = 1 + platform.node_of(std::ranges::max(star->second.device_of_rank));
  const auto own = static_cast<std::size_t>(platform.first_network_link());
  platform.links.resize(own);
  capacities_.resize(own);
  if (!congestion_.empty()) congestion_.resize(own);
  for (std::size_t link = 0; link < own; ++link) platform.links[link].capacity = capacities_[link];
  platform.network.rails_apart = std::exchange(platform.network, one_switch(platform)).rails_apart;
  where_ = std::move(star);
  legs_ = std::make_shared<Legs>(*legs_);
  for (auto& phase : *legs_) {
    for (Leg& leg : phase) std::erase_if(leg.links, [&](int link) { return link >= static_cast<int>(own); });
  }
}

void RoutedSchedule::leave_out_idle(std::vector<int>& links) const {
  if (!idle_.empty()) std::erase_if(links, [&](int link) { return idle_[static_cast<std::size_t>(link)]; });
}

std::optional<RoutedSchedule> uncontended(const RoutedSchedule& routed) {
  const Schedule& schedule = routed.schedule();
  if (std::ranges::any_of(schedule.phases, receivers_move)) return std::nullopt;
  std::vector<BytesPerSecond> own;
  std::vector<std::vector<RoutedSchedule::Leg>> legs;
  for (std::size_t phase = 0; phase < schedule.phases.size(); ++phase) {
    for (RoutedSchedule::Leg& leg : legs.emplace_back(routed.legs(phase))) {
      std::map<int, int> renamed;  // a link that it crosses twice, on two of its paths, stays one link
      for (int& link : leg.links) {
        const auto [place, is_new] = renamed.try_emplace(link, static_cast<int>(own.size()));
        if (is_new) own.push_back(routed.capacities()[as_index(link)]);
        link = place->second;
      }
    }
  }
  return RoutedSchedule(schedule, std::move(legs), std::move(own));
}

}}  // namespace farandole::simulate
