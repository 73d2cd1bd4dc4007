#include "simulate/max_min_shares.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace farandole { inline namespace simulate {
namespace {

void check_capacity(BytesPerSecond capacity) {
  if (!(capacity.si() > 0) || !std::isfinite(capacity.si())) {
    throw std::invalid_argument("a link has a capacity above zero");
  }
}

}  // namespace

int MaxMinShares::add_link(BytesPerSecond capacity, Congestion congestion) {
  check_capacity(capacity);
  links_.push_back({capacity.si()});
  nominal_.push_back(capacity.si());
  congestion_.push_back(std::move(congestion));
  return static_cast<int>(links_.size()) - 1;
}

void MaxMinShares::set_capacity(int link, BytesPerSecond capacity) {
  check_capacity(capacity);
  nominal_.at(index(link)) = capacity.si();
  adapt_to_load(link);
  change(link);
}

int MaxMinShares::add_route(std::span<const int> links, int paths) {
  if (links.empty() || paths < 1) throw std::invalid_argument("a route has at least one link and one path");
  const auto first = patterns_.size();
  for (const int link : links) {
    if (link < 0 || index(link) >= links_.size()) throw std::invalid_argument("a route over no such link");
    const auto known = std::find_if(patterns_.begin() + static_cast<std::ptrdiff_t>(first), patterns_.end(),
                                    [&](const Crossing& crossing) { return crossing.link == link; });
    if (known == patterns_.end()) {
      patterns_.push_back({link, 0, 1});
    } else {
      ++known->weight;
    }
  }
  for (std::size_t i = first; i < patterns_.size(); ++i) patterns_[i].weight /= paths;
  routes_.push_back({static_cast<int>(first), static_cast<int>(patterns_.size() - first)});
  return routes() - 1;
}

std::span<MaxMinShares::Crossing> MaxMinShares::crossings_of(const Flow& flow) {
  return {crossings_.data() + flow.first, index(flow.crossings)};
}

/// A flow's number that is free, with room for so many crossings.
int MaxMinShares::place_for(int crossings) {
  if (free_.size() <= index(crossings)) free_.resize(index(crossings) + 1);
  auto& free = free_[index(crossings)];
  if (!free.empty()) {
    const int flow = free.back();
    free.pop_back();
    return flow;
  }
  Flow& flow = flows_.emplace_back();
  flow.first = static_cast<int>(crossings_.size());
  flow.crossings = crossings;
  crossings_.resize(crossings_.size() + index(crossings));
  return static_cast<int>(flows_.size()) - 1;
}

void MaxMinShares::adapt_to_load(int link) {
  links_[index(link)].capacity = nominal_[index(link)] * congestion_[index(link)].left(links_[index(link)].load);
}

void MaxMinShares::change(int link) {
  Link& changed = links_[index(link)];
  if (std::exchange(changed.is_changed, true)) return;
  changed_links_.push_back(link);
}

int MaxMinShares::enter(int route) {
  const Route& pattern = routes_[index(route)];
  const int number = place_for(pattern.crossings);
  Flow& flow = flows_[index(number)];
  flow.rate = 0;
  flow.holder = kNone;
  for (int i = 0; i < pattern.crossings; ++i) {
    Crossing& crossing = crossings_[index(flow.first + i)];
    crossing = patterns_[index(pattern.first + i)];
    Link& link = links_[index(crossing.link)];
    crossing.place = static_cast<int>(link.uses.size());
    link.uses.push_back({number, flow.first + i});
    link.load += crossing.weight;
    ++link.new_flows;
    if (congestion_[index(crossing.link)].curve != nullptr) adapt_to_load(crossing.link);
  }
  entered_.push_back(number);
  return number;
}

void MaxMinShares::leave(int number) {
  const Flow& flow = flows_[index(number)];
  if (flow.holder == kNone) throw std::logic_error("a flow leaves before it has a rate");
  --links_[index(flow.holder)].held;
  for (const Crossing& crossing : crossings_of(flow)) {
    Link& link = links_[index(crossing.link)];
    const Use moved = link.uses.back();
    link.uses[index(crossing.place)] = moved;
    link.uses.pop_back();
    crossings_[index(moved.crossing)].place = crossing.place;
    const bool is_empty = link.uses.empty();
    link.load = is_empty ? 0 : link.load - crossing.weight;
    link.used = is_empty ? 0 : link.used - crossing.weight * flow.rate;
    link.updates = is_empty ? 0 : link.updates + 1;
    if (congestion_[index(crossing.link)].curve != nullptr) adapt_to_load(crossing.link);
    if (link.held > 0) change(crossing.link);
  }
  free_[index(flow.crossings)].push_back(number);
}

const std::vector<int>& MaxMinShares::settle() {
  changed_flows_.clear();
  for (const int flow : entered_) {
    if (flows_[index(flow)].holder != kNone) continue;  // one of the set of another
    if (settle_alone(flow) || settle_by(narrowest(flow))) continue;
    begin_set();
    add(flow);
    solve_set();
  }
  entered_.clear();
  for (const int link : changed_links_) {
    if (!links_[index(link)].is_changed || settle_by(link)) continue;
    begin_set();
    touch(link);
    solve_set();
  }
  changed_links_.clear();
  return changed_flows_;
}

/// Of a flow's links the one whose equal share is least.
int MaxMinShares::narrowest(int flow) {
  const auto share = [this](const Crossing& crossing) {
    const Link& link = links_[index(crossing.link)];
    return link.capacity / link.load;
  };
  return std::ranges::min(crossings_of(flows_[index(flow)]), {}, share).link;
}

/// A flow that shares none of its links: most, where every link has one sender.
bool MaxMinShares::settle_alone(int number) {
  Flow& flow = flows_[index(number)];
  const auto crossings = crossings_of(flow);
  double rate = 0;
  for (const Crossing& crossing : crossings) {
    const Link& link = links_[index(crossing.link)];
    if (link.uses.size() > 1) {
      flow.holder = kNone;
      return false;
    }
    const double level = link.capacity / crossing.weight;
    if (flow.holder != kNone && level >= rate) continue;
    rate = level;
    flow.holder = crossing.link;
  }
  flow.rate = rate;
  for (const Crossing& crossing : crossings) {
    Link& link = links_[index(crossing.link)];
    link.used = crossing.weight * rate;
    link.new_flows = 0;
  }
  ++links_[index(flow.holder)].held;
  changed_flows_.push_back(number);
  return true;
}

}}  // namespace farandole::simulate
