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
    if (settle_by(narrowest(flow))) continue;
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

// How one set of flows gets its rates.

namespace {

/// Links and rates that are no further apart are equal.
constexpr double kRounding = 1e-12;
/// What a link has left if it is certainly not full.
constexpr double kRoom = 1e-9;

}  // namespace

void MaxMinShares::begin_set() {
  ++set_number_;
  set_.clear();
  touched_.clear();
  grown_ = 0;
}

/// Where a link holds all of its flows back, but for new ones, and goes on to, as a busy server does when somebody
/// starts or ends: its equal share is everybody's, in one pass. False, and nothing has changed, where another link of
/// theirs holds somebody back or would be full.
bool MaxMinShares::settle_by(int number) {
  Link& hub = links_[index(number)];
  if (hub.uses.empty() || index(hub.held + hub.new_flows) != hub.uses.size()) return false;
  begin_set();
  double load = 0;
  for (const Use& use : hub.uses) load += crossings_[index(use.crossing)].weight;
  const double share = hub.capacity / load;
  for (const Use& use : hub.uses) {
    const Flow& flow = flows_[index(use.flow)];
    for (const Crossing& crossing : crossings_of(flow)) {
      if (crossing.link != number && !has_room(crossing, share - flow.rate)) return false;
    }
  }
  for (const Use& use : hub.uses) hold(use.flow, number, share);
  hub.used = hub.capacity;
  hub.updates = 0;
  hub.is_changed = false;
  for (const int other : touched_) {
    Link& link = links_[index(other)];
    link.used = link.left;
    if (index(link.updates) > link.uses.size() + 16) sum_up(link);
  }
  return true;
}

/// For so much more of one of its flows; `left` is what it then has in use.
bool MaxMinShares::has_room(const Crossing& crossing, double more) {
  Link& link = links_[index(crossing.link)];
  if (link.held > 0) return false;
  if (link.touched != set_number_) {
    link.touched = set_number_;
    link.left = link.used;
    touched_.push_back(crossing.link);
  }
  ++link.updates;
  link.left += crossing.weight * more;
  return link.left < link.capacity * (1 - kRoom);
}

/// From now on the link holds the flow back, at this rate.
void MaxMinShares::hold(int number, int link, double rate) {
  Flow& flow = flows_[index(number)];
  if (flow.holder == kNone) {
    flow.holder = link;
    ++links_[index(link)].held;
    for (const Crossing& crossing : crossings_of(flow)) --links_[index(crossing.link)].new_flows;
  }
  if (std::abs(rate - flow.rate) <= 0x1p-50 * flow.rate) return;
  flow.rate = rate;
  changed_flows_.push_back(number);
}

void MaxMinShares::add(int number) {
  Flow& flow = flows_[index(number)];
  if (flow.set == set_number_) return;
  flow.set = set_number_;
  set_.push_back(number);
}

/// Adds who may get another rate when flows of the link do.
void MaxMinShares::touch(int number) {
  Link& link = links_[index(number)];
  if (link.touched == set_number_) return;
  link.touched = set_number_;
  link.is_changed = false;
  touched_.push_back(number);
  if (link.uses.empty()) return;
  // An equal share of the link is the least that it may hold anybody back to.
  const double share = link.capacity / link.load;
  const bool is_full = link.used + share * link.new_flows > link.capacity * (1 + kRounding);
  if (is_full) add_all_faster(link, share);
  if (link.held == 0 && link.new_flows == 0) return;
  for (const Use& use : link.uses) {
    const int holder = flows_[index(use.flow)].holder;
    if (holder == number || holder == kNone) add(use.flow);
  }
}

void MaxMinShares::add_all_faster(const Link& link, double rate) {
  for (const Use& use : link.uses) {
    if (flows_[index(use.flow)].rate > rate * (1 + kRounding)) add(use.flow);
  }
}

void MaxMinShares::solve_set() {
  do {
    for (; grown_ < set_.size(); ++grown_) {
      for (const Crossing& crossing : crossings_of(flows_[index(set_[grown_])])) touch(crossing.link);
    }
    if (set_.empty()) return;
    prepare();
    fill();
  } while (widen());
  commit();
}

void MaxMinShares::prepare() {
  for (const int number : touched_) {
    Link& link = links_[index(number)];
    link.open = link.freed = 0;
    link.open_flows = 0;
  }
  for (const int number : set_) {
    Flow& flow = flows_[index(number)];
    flow.next = -1;
    for (const Crossing& crossing : crossings_of(flow)) {
      Link& link = links_[index(crossing.link)];
      link.open += crossing.weight;
      link.freed += crossing.weight * flow.rate;
      ++link.open_flows;
    }
  }
  for (const int number : touched_) {
    Link& link = links_[index(number)];
    link.of_set = link.open_flows;
    link.left = left_by_others(link);
  }
}

/// What flows that are not in the set leave: summed up where these are few, else what they do not have less, which is
/// exact enough where so much of the link is theirs.
double MaxMinShares::left_by_others(const Link& link) const {
  const std::size_t others = link.uses.size() - index(link.of_set);
  if (others == 0) return link.capacity;
  if (others > 4 * index(link.of_set) + 8) return link.capacity - link.used + link.freed;
  double left = link.capacity;
  for (const Use& use : link.uses) {
    const Flow& flow = flows_[index(use.flow)];
    if (flow.set != set_number_) left -= crossings_[index(use.crossing)].weight * flow.rate;
  }
  return left;
}

void MaxMinShares::fill() {
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.level != b.level ? a.level > b.level : a.link > b.link;
  };
  full_.clear();
  heap_.clear();
  fixed_ = 0;
  for (const int number : touched_) {
    const Link& link = links_[index(number)];
    if (link.open_flows > 0) heap_.push_back({std::max(link.left, 0.0) / link.open, number});
  }
  std::ranges::make_heap(heap_, later);
  while (fixed_ < set_.size()) {
    std::ranges::pop_heap(heap_, later);
    const Candidate least = heap_.back();
    heap_.pop_back();
    const Link& link = links_[index(least.link)];
    if (link.open_flows == 0) continue;
    const double level = std::max(link.left, 0.0) / link.open;
    if (level > least.level * (1 + 0x1p-48)) {
      heap_.push_back({level, least.link});
      std::ranges::push_heap(heap_, later);
    } else {
      fix_flows_of(least.link, level);
    }
  }
}

void MaxMinShares::fix_flows_of(int number, double level) {
  full_.push_back({level, number});
  for (const Use& use : links_[index(number)].uses) {
    Flow& flow = flows_[index(use.flow)];
    if (flow.set != set_number_ || flow.next >= 0) continue;
    flow.next = level;
    flow.next_holder = number;
    ++fixed_;
    for (const Crossing& crossing : crossings_of(flow)) {
      Link& link = links_[index(crossing.link)];
      link.left -= crossing.weight * level;
      link.open -= crossing.weight;
      --link.open_flows;
    }
  }
}

/// Whether others had to join.
bool MaxMinShares::widen() {
  for (const int number : touched_) {
    const Link& link = links_[index(number)];
    if (index(link.of_set) == link.uses.size() || link.left >= -kRounding * link.capacity) continue;
    add_all_faster(link, link.capacity / link.load);
  }
  for (const Candidate& full : full_) {
    const Link& link = links_[index(full.link)];
    if (index(link.of_set) < link.uses.size()) add_all_faster(link, full.level);
  }
  return grown_ < set_.size();
}

void MaxMinShares::commit() {
  for (const int flow : set_) commit(flow);
  for (const int number : touched_) {
    Link& link = links_[index(number)];
    if (index(link.updates) > link.uses.size() + 16) sum_up(link);
  }
}

void MaxMinShares::commit(int number) {
  Flow& flow = flows_[index(number)];
  const bool is_new = flow.holder == kNone;
  if (!is_new) --links_[index(flow.holder)].held;
  flow.holder = flow.next_holder;
  ++links_[index(flow.holder)].held;
  const bool is_changed = std::abs(flow.next - flow.rate) > 0x1p-50 * flow.rate;
  if (!is_changed) flow.next = flow.rate;
  for (const Crossing& crossing : crossings_of(flow)) {
    Link& link = links_[index(crossing.link)];
    link.new_flows -= static_cast<int>(is_new);
    link.updates += static_cast<int>(is_changed);
    link.used += crossing.weight * (flow.next - flow.rate);
  }
  flow.rate = flow.next;
  if (is_changed) changed_flows_.push_back(number);
}

/// So that rounding of many changes does not add up.
void MaxMinShares::sum_up(Link& link) {
  link.updates = 0;
  link.used = 0;
  for (const Use& use : link.uses) {
    link.used += crossings_[index(use.crossing)].weight * flows_[index(use.flow)].rate;
  }
}

}}  // namespace farandole::simulate
