#include "simulate/folding/parts.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "simulate/link_loads.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Which ranks receive in a phase, each from all that send but itself; nothing where it is not all of some that send
/// the same to all of others, or all ranks to all.
std::optional<std::vector<bool>> receivers_of(const Phase& phase, int ranks) {
  const bool is_plain = phase.repeats == 1 && phase.window == 0 && !phase.one_by_one && phase.peer_step == 1;
  if (!is_plain || phase.transfers.empty()) return std::nullopt;
  const Transfer& first = phase.transfers.front();
  const bool is_exchange = phase.fan == ranks - 1 && std::ssize(phase.transfers) == ranks;
  if (!is_exchange && first.to + phase.fan > ranks) return std::nullopt;
  std::vector<bool> receives(as_index(ranks), is_exchange);
  for (int lane = 0; lane < phase.fan && !is_exchange; ++lane) receives[as_index(first.to + lane)] = true;
  std::vector<bool> sends(as_index(ranks), false);
  for (const Transfer& t : phase.transfers) {
    const bool goes_there =
        is_exchange ? t.to == (t.from + 1) % ranks : t.to == first.to && !receives[as_index(t.from)];
    const bool alike = goes_there && t.count == first.count && t.action == first.action && t.start == 0;
    if (!alike || sends[as_index(t.from)]) return std::nullopt;
    sends[as_index(t.from)] = true;
  }
  return receives;
}

bool is_a_switch(const Platform& platform) {
  return platform.network.alike_after == 1 &&
         platform.first_network_link() == static_cast<int>(platform.links.size()) && platform.has_plain_links();
}

/// The ranks at one device of all nodes of a kind.
struct Part {
  int kind;
  int rank;       // on the first of them
  int other = 0;  // on the second, where there is one
};

/// All that one part sends to another, within nodes or from one to others.
struct Meeting {
  int from;
  int to;
  bool is_within;
};

struct Parts {
  std::vector<int> of_rank;
  std::vector<int> node_of_rank;
  std::vector<int> nodes;  // of each kind
  std::vector<Part> all;
  std::vector<std::vector<int>> position_of;  // [phase][rank]: among the phase's transfers, -1 where it sends nothing
  std::vector<std::vector<bool>> receives;    // [phase][rank]

  [[nodiscard]] std::vector<Meeting> meetings(std::size_t phase) const;
  [[nodiscard]] int nodes_of(int part) const { return nodes[as_index(all[as_index(part)].kind)]; }
};

std::vector<Meeting> Parts::meetings(std::size_t phase) const {
  std::vector<Meeting> found;
  for (int from = 0; from < static_cast<int>(all.size()); ++from) {
    const Part& sender = all[as_index(from)];
    if (position_of[phase][as_index(sender.rank)] < 0) continue;
    for (int to = 0; to < static_cast<int>(all.size()); ++to) {
      const Part& receiver = all[as_index(to)];
      if (!receives[phase][as_index(receiver.rank)]) continue;
      const bool is_one_kind = sender.kind == receiver.kind;
      if (is_one_kind && from != to) found.push_back({from, to, true});
      if (!is_one_kind || nodes_of(from) > 1) found.push_back({from, to, false});
    }
  }
  return found;
}

/// What a node's ranks do, phase by phase, and what its links are.
std::vector<double> signature_of(int node, std::span<const int> rank_on, const Parts& parts, const Platform& platform) {
  std::vector<double> signature;
  for (const int rank : rank_on) {
    if (rank < 0) signature.push_back(-1);
    for (std::size_t p = 0; p < parts.receives.size() && rank >= 0; ++p) {
      signature.push_back(parts.position_of[p][as_index(rank)] >= 0 ? 1 : 0);
      signature.push_back(parts.receives[p][as_index(rank)] ? 1 : 0);
    }
  }
  for (int offset = 0; offset < static_cast<int>(platform.node.links.size()); ++offset) {
    const Link& link = platform.links[as_index(platform.link_of(node, offset))];
    signature.push_back(link.capacity.si());
    signature.push_back(link.latency.si());
  }
  return signature;
}

/// By device, -1 where there is none; nothing where two are on one.
std::optional<std::vector<int>> ranks_on(const Platform& platform, const Placement& placement) {
  std::vector<int> rank_on(as_index(platform.devices()), -1);
  for (std::size_t rank = 0; rank < placement.device_of_rank.size(); ++rank) {
    int& on = rank_on[as_index(placement.device_of_rank[rank])];
    if (on >= 0) return std::nullopt;
    on = static_cast<int>(rank);
  }
  return rank_on;
}

/// Puts the nodes' ranks into parts.
void part(Parts& parts, const Platform& platform, const std::vector<int>& rank_on) {
  const auto each = as_index(platform.devices_per_node);
  std::map<std::vector<double>, std::pair<int, int>> kinds;  // its number, and that of its first part
  for (int node = 0; node < platform.nodes; ++node) {
    const auto own = std::span(rank_on).subspan(as_index(node) * each, each);
    if (std::ranges::all_of(own, [](int rank) { return rank < 0; })) continue;
    const std::pair fresh(static_cast<int>(parts.nodes.size()), static_cast<int>(parts.all.size()));
    const auto [kind, first] = kinds.try_emplace(signature_of(node, own, parts, platform), fresh).first->second;
    if (kind == fresh.first) parts.nodes.push_back(0);
    const int known = parts.nodes[as_index(kind)]++;
    int next = first;
    for (const int rank : own) {
      if (rank < 0) continue;
      if (known == 0) parts.all.push_back({kind, rank});
      if (known == 1) parts.all[as_index(next)].other = rank;
      parts.of_rank[as_index(rank)] = next++;
      parts.node_of_rank[as_index(rank)] = node;
    }
  }
}

std::optional<Parts> parts_of(const RoutedSchedule& routed) {
  const Schedule& whole = routed.schedule();
  if (routed.where() == nullptr || !whole.weights.empty() || whole.phases.empty()) return std::nullopt;
  const auto& [platform, placement] = *routed.where();
  if (!is_a_switch(platform) || routed.has_occupancy()) return std::nullopt;
  const auto rank_on = ranks_on(platform, placement);
  if (!rank_on) return std::nullopt;
  Parts parts;
  parts.of_rank.resize(as_index(whole.ranks));
  parts.node_of_rank.resize(as_index(whole.ranks));
  for (const Phase& phase : whole.phases) {
    const auto receives = receivers_of(phase, whole.ranks);
    if (!receives) return std::nullopt;
    parts.receives.push_back(*receives);
    auto& positions = parts.position_of.emplace_back(as_index(whole.ranks), -1);
    for (std::size_t t = 0; t < phase.transfers.size(); ++t)
      positions[as_index(phase.transfers[t].from)] = static_cast<int>(t);
  }
  part(parts, platform, *rank_on);
  return parts;
}

/// Makes the quotient out of its parts.
class Joined {
 public:
  Joined(const RoutedSchedule& routed, const Parts& parts) : routed_(routed), parts_(parts) {}

  RoutedSchedule join() {
    schedule_ = emptied(routed_.schedule());
    schedule_.ranks = static_cast<int>(parts_.all.size());
    legs_.resize(routed_.schedule().phases.size());
    for (std::size_t p = 0; p < legs_.size(); ++p) add_phase_of_parts(p);
    for (auto& [link, crossings] : crossings_) add_link_class(link, crossings);
    return {std::move(schedule_), std::move(legs_), std::move(capacities_), routed_.message_cost()};
  }

 private:
  /// How many of P parts one link carries of a transfer of the quotient.
  struct Crossing {
    RoutedSchedule::Leg* leg;
    std::int64_t times;
    int paths;
  };
  using LinkClass = std::pair<int, int>;  // kind of the node, offset within it

  void add_phase_of_parts(std::size_t p) {
    Phase& phase = schedule_.phases.emplace_back(emptied(routed_.schedule().phases[p]));
    phase.fan = 1;
    phase.peer_step = 0;
    const std::vector<Meeting> meetings = parts_.meetings(p);
    legs_[p].reserve(meetings.size());  // crossings point at them
    for (const Meeting& meeting : meetings) add_transfer(p, meeting);
  }

  void add_transfer(std::size_t p, const Meeting& meeting) {
    const Phase& phase = routed_.schedule().phases[p];
    const auto& [platform, placement] = *routed_.where();
    const Part& from = parts_.all[as_index(meeting.from)];
    const Part& to = parts_.all[as_index(meeting.to)];
    const bool is_among_others = from.kind == to.kind && !meeting.is_within;
    const auto position = as_index(parts_.position_of[p][as_index(from.rank)]);
    Transfer transfer = phase.transfers[position];
    const int ranks = routed_.schedule().ranks;
    const auto lane = as_index(((is_among_others ? to.other : to.rank) - transfer.to + ranks) % ranks);
    RoutedSchedule::Leg leg = routed_.leg(p, position * as_index(phase.fan) + lane, 0);
    const std::vector<int> links = std::exchange(leg.links, {});
    const int paths = std::exchange(leg.paths, 1);
    leg.alike = meeting.is_within ? 1 : parts_.nodes_of(meeting.from) - (is_among_others ? 1 : 0);
    leg.reduce_rate = leg.reduce_rate / leg.alike;
    const std::int64_t transfers = std::int64_t{leg.alike} * parts_.nodes_of(meeting.to);
    legs_[p].push_back(std::move(leg));
    transfer.from = meeting.from;
    transfer.to = meeting.to;
    schedule_.phases[p].transfers.push_back(transfer);
    const auto own = static_cast<int>(platform.node.links.size());
    for_each_listed(links, [&](int link, int times) {
      const int kind = link / own == parts_.node_of_rank[as_index(from.rank)] ? from.kind : to.kind;
      crossings_[{kind, link % own}].push_back(
          {&legs_[p].back(), times * (transfers / parts_.nodes[as_index(kind)]), paths});
    });
  }

  void add_link_class(const LinkClass& link, std::vector<Crossing>& crossings) {
    std::int64_t parts = 1;
    for (const Crossing& crossing : crossings) parts = std::lcm(parts, std::int64_t{crossing.paths});
    std::int64_t divisor = 0;
    for (Crossing& crossing : crossings) {
      crossing.times *= parts / crossing.paths;
      divisor = std::gcd(divisor, crossing.times);
    }
    const auto of_kind = std::ranges::find(parts_.all, link.first, &Part::kind);
    const int node = parts_.node_of_rank[as_index(of_kind->rank)];
    const auto index = static_cast<int>(capacities_.size());
    capacities_.push_back(routed_.capacities()[as_index(routed_.where()->first.link_of(node, link.second))] *
                          (static_cast<double>(parts) / static_cast<double>(divisor)));
    for (const Crossing& crossing : crossings) {
      auto& links = crossing.leg->links;
      links.insert(links.end(), static_cast<std::size_t>(crossing.times / divisor), index);
    }
  }

  const RoutedSchedule& routed_;
  const Parts& parts_;
  Schedule schedule_;
  std::vector<std::vector<RoutedSchedule::Leg>> legs_;
  std::map<LinkClass, std::vector<Crossing>> crossings_;
  std::vector<BytesPerSecond> capacities_;
};

/// Of every transfer and lane of a phase, by the order of Parts::meetings.
std::vector<int> classes_by_parts(const Schedule& whole, const Parts& parts, std::size_t p) {
  std::map<std::tuple<int, int, bool>, int> numbers;
  for (const Meeting& meeting : parts.meetings(p))
    numbers.try_emplace({meeting.from, meeting.to, meeting.is_within}, static_cast<int>(numbers.size()));
  std::vector<int> classes;
  for_each_transfer(whole, whole.phases[p], 0, [&](const Transfer& placed, std::size_t) {
    const auto from = as_index(placed.from);
    const auto to = as_index(placed.to);
    const bool is_within = parts.node_of_rank[from] == parts.node_of_rank[to];
    classes.push_back(numbers.at({parts.of_rank[from], parts.of_rank[to], is_within}));
  });
  return classes;
}

}  // namespace

std::optional<Folding> fold_by_parts(const RoutedSchedule& routed) {
  std::optional<Parts> parts = parts_of(routed);
  if (!parts) return std::nullopt;
  RoutedSchedule quotient = Joined(routed, *parts).join();
  std::vector<int> class_of_rank = parts->of_rank;
  const auto kept = std::make_shared<const std::pair<RoutedSchedule, Parts>>(routed, *std::move(parts));
  const auto classes = [kept](std::size_t phase) {
    return classes_by_parts(kept->first.schedule(), kept->second, phase);
  };
  return Folding{std::move(quotient), std::move(class_of_rank), {}, classes};
}

}}  // namespace farandole::simulate
