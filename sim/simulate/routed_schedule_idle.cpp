#include <algorithm>
#include <map>
#include <utility>

#include "platform/topologies/kinds.hpp"
#include "simulate/even_exchange.hpp"
#include "simulate/link_loads.hpp"
#include "simulate/routed_schedule.hpp"
#include "simulate/way_choice.hpp"

namespace farandole { inline namespace simulate {

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

}}  // namespace farandole::simulate
