#include "simulate/folding/parts.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "simulate/folding/emptied.hpp"
#include "simulate/link_loads.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Who receives in a phase: ranks first .. first + count - 1.
struct Receivers {
  int first = 0;
  int count = 0;
  [[nodiscard]] bool has(int rank) const { return rank >= first && rank < first + count; }
};

/// Nothing where it is not all of some that send the same to all of others.
std::optional<Receivers> receivers_of(const Phase& phase, int ranks) {
  const bool is_plain = phase.repeats == 1 && phase.window == 0 && !phase.one_by_one && phase.peer_step == 1;
  if (!is_plain || phase.transfers.empty()) return std::nullopt;
  const Transfer& first = phase.transfers.front();
  const Receivers receivers{first.to, phase.fan};
  if (receivers.first + receivers.count > ranks) return std::nullopt;
  std::vector<bool> sends(as_index(ranks), false);
  for (const Transfer& t : phase.transfers) {
    const bool alike = t.to == first.to && t.count == first.count && t.action == first.action && t.start == 0;
    if (!alike || receivers.has(t.from) || sends[as_index(t.from)]) return std::nullopt;
    sends[as_index(t.from)] = true;
  }
  return receivers;
}

bool is_a_switch(const Platform& platform) {
  return platform.devices_per_node == 1 && platform.network.alike_after == 1 &&
         platform.first_network_link() == static_cast<int>(platform.links.size()) &&
         platform.flow_rate == BytesPerSecond::infinity() &&
         std::ranges::all_of(platform.links, [](const Link& link) { return link.congestion == nullptr; });
}

struct Parts {
  std::vector<int> of_rank;
  std::vector<int> first;                     // rank of each part
  std::vector<int> size;                      // of each part
  std::vector<std::vector<int>> position_of;  // [phase][rank]: among the phase's transfers, -1 where it sends nothing
  std::vector<Receivers> receivers;           // by phase
};

/// What a rank does, phase by phase, and what its node's links are.
std::vector<double> signature_of(int rank, const Parts& parts, const Platform& platform, int device) {
  std::vector<double> signature;
  for (std::size_t p = 0; p < parts.receivers.size(); ++p) {
    signature.push_back(parts.position_of[p][as_index(rank)] >= 0 ? 1 : 0);
    signature.push_back(parts.receivers[p].has(rank) ? 1 : 0);
  }
  for (int offset = 0; offset < static_cast<int>(platform.node.links.size()); ++offset) {
    const Link& link = platform.links[as_index(platform.link_of(device, offset))];
    signature.push_back(link.capacity.si());
    signature.push_back(link.latency.si());
  }
  return signature;
}

std::optional<Parts> parts_of(const RoutedSchedule& routed) {
  const Schedule& whole = routed.schedule();
  if (routed.where() == nullptr || !whole.weights.empty() || whole.phases.empty()) return std::nullopt;
  const auto& [platform, placement] = *routed.where();
  if (!is_a_switch(platform) || routed.has_occupancy()) return std::nullopt;
  Parts parts;
  for (const Phase& phase : whole.phases) {
    const auto receivers = receivers_of(phase, whole.ranks);
    if (!receivers) return std::nullopt;
    parts.receivers.push_back(*receivers);
    auto& positions = parts.position_of.emplace_back(as_index(whole.ranks), -1);
    for (std::size_t t = 0; t < phase.transfers.size(); ++t)
      positions[as_index(phase.transfers[t].from)] = static_cast<int>(t);
  }
  std::map<std::vector<double>, int> numbers;
  for (int rank = 0; rank < whole.ranks; ++rank) {
    const auto fresh = static_cast<int>(numbers.size());
    const auto signature = signature_of(rank, parts, platform, placement.device_of_rank[as_index(rank)]);
    const int part = numbers.try_emplace(signature, fresh).first->second;
    if (part == fresh) {
      parts.first.push_back(rank);
      parts.size.push_back(0);
    }
    parts.of_rank.push_back(part);
    ++parts.size[as_index(part)];
  }
  return parts;
}

/// Makes the quotient out of its parts.
class Joined {
 public:
  Joined(const RoutedSchedule& routed, const Parts& parts) : routed_(routed), parts_(parts) {}

  RoutedSchedule join();

 private:
  /// How many of P parts one link carries of a transfer of the quotient.
  struct Crossing {
    RoutedSchedule::Leg* leg;
    std::int64_t times;
    int paths;
  };
  using LinkClass = std::pair<int, int>;  // part of the node's rank, offset within the node

  void add_phase_of_parts(std::size_t p);
  void add_transfer(std::size_t p, int from, int to);
  void add_link_class(const LinkClass& link, std::vector<Crossing>& crossings);

  const RoutedSchedule& routed_;
  const Parts& parts_;
  Schedule schedule_;
  std::vector<std::vector<RoutedSchedule::Leg>> legs_;
  std::map<LinkClass, std::vector<Crossing>> crossings_;
  std::vector<BytesPerSecond> capacities_;
};

RoutedSchedule Joined::join() {
  schedule_ = emptied(routed_.schedule());
  schedule_.ranks = static_cast<int>(parts_.size.size());
  legs_.resize(routed_.schedule().phases.size());
  for (std::size_t p = 0; p < legs_.size(); ++p) add_phase_of_parts(p);
  for (auto& [link, crossings] : crossings_) add_link_class(link, crossings);
  return {std::move(schedule_), std::move(legs_), std::move(capacities_), routed_.message_cost()};
}

void Joined::add_phase_of_parts(std::size_t p) {
  Phase& phase = schedule_.phases.emplace_back(emptied(routed_.schedule().phases[p]));
  phase.fan = 1;
  phase.peer_step = 0;
  const auto parts = static_cast<int>(parts_.size.size());
  legs_[p].reserve(as_index(parts) * as_index(parts));  // crossings point at them
  for (int from = 0; from < parts; ++from) {
    for (int to = 0; to < parts; ++to) {
      const bool meet = parts_.position_of[p][as_index(parts_.first[as_index(from)])] >= 0 &&
                        parts_.receivers[p].has(parts_.first[as_index(to)]);
      if (meet) add_transfer(p, from, to);
    }
  }
}

void Joined::add_transfer(std::size_t p, int from, int to) {
  const Phase& phase = routed_.schedule().phases[p];
  const auto& [platform, placement] = *routed_.where();
  const int sender = parts_.first[as_index(from)];
  const int receiver = parts_.first[as_index(to)];
  const auto position = as_index(parts_.position_of[p][as_index(sender)]);
  const auto lane = as_index(receiver - parts_.receivers[p].first);
  RoutedSchedule::Leg leg = routed_.leg(p, position * as_index(phase.fan) + lane, 0);
  const std::vector<int> links = std::exchange(leg.links, {});
  const int paths = std::exchange(leg.paths, 1);
  leg.alike = parts_.size[as_index(from)];
  leg.reduce_rate = leg.reduce_rate / leg.alike;
  legs_[p].push_back(std::move(leg));
  Transfer transfer = phase.transfers[position];
  transfer.from = from;
  transfer.to = to;
  schedule_.phases[p].transfers.push_back(transfer);
  for_each_listed(links, [&](int link, int times) {
    const auto own = static_cast<int>(platform.node.links.size());
    const int part = link / own == placement.device_of_rank[as_index(sender)] ? from : to;
    const std::int64_t transfers = std::int64_t{parts_.size[as_index(from)]} * parts_.size[as_index(to)];
    crossings_[{part, link % own}].push_back(
        {&legs_[p].back(), times * (transfers / parts_.size[as_index(part)]), paths});
  });
}

void Joined::add_link_class(const LinkClass& link, std::vector<Crossing>& crossings) {
  const auto& [platform, placement] = *routed_.where();
  std::int64_t parts = 1;
  for (const Crossing& crossing : crossings) parts = std::lcm(parts, std::int64_t{crossing.paths});
  std::int64_t divisor = 0;
  for (Crossing& crossing : crossings) {
    crossing.times *= parts / crossing.paths;
    divisor = std::gcd(divisor, crossing.times);
  }
  const int rank = parts_.first[as_index(link.first)];
  const int whole = platform.link_of(placement.device_of_rank[as_index(rank)], link.second);
  const auto index = static_cast<int>(capacities_.size());
  capacities_.push_back(routed_.capacities()[as_index(whole)] *
                        (static_cast<double>(parts) / static_cast<double>(divisor)));
  for (const Crossing& crossing : crossings) {
    auto& links = crossing.leg->links;
    links.insert(links.end(), static_cast<std::size_t>(crossing.times / divisor), index);
  }
}

/// Of every transfer and lane of a phase, by the order in which Joined::add_phase_of_parts went through the parts.
std::vector<int> classes_by_parts(const Schedule& whole, const Parts& parts, std::size_t p) {
  std::map<std::pair<int, int>, int> numbers;
  const auto count = static_cast<int>(parts.size.size());
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      const bool meet = parts.position_of[p][as_index(parts.first[as_index(from)])] >= 0 &&
                        parts.receivers[p].has(parts.first[as_index(to)]);
      if (meet) numbers.try_emplace({from, to}, static_cast<int>(numbers.size()));
    }
  }
  std::vector<int> classes;
  for (const Transfer& transfer : whole.phases[p].transfers) {
    for (int lane = 0; lane < whole.phases[p].fan; ++lane) {
      const int to = parts.receivers[p].first + lane;
      classes.push_back(numbers.at({parts.of_rank[as_index(transfer.from)], parts.of_rank[as_index(to)]}));
    }
  }
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
