#include <algorithm>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "collective/chunk_sizes.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/folding/moves.hpp"
#include "simulate/folding/parts.hpp"
#include "simulate/link_loads.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Ways to look at, beyond which bounds would cost more than the answers they check.
constexpr std::size_t most_ways = std::size_t{1} << 22;

/// Capacities of the links at either end of the ways, each link of a rank counted once.
class Ends {
 public:
  Ends(int ranks, std::span<const BytesPerSecond> capacities)
      : capacities_(capacities), total_(static_cast<std::size_t>(ranks)), first_(total_.size(), -1) {}

  /// `link`: what all that is sent must cross, -1 where there is no such link.
  void add(int rank, int link) {
    if (link < 0) total_[static_cast<std::size_t>(rank)] = BytesPerSecond::infinity();
    if (link < 0) return;
    int& first = first_[static_cast<std::size_t>(rank)];
    if (first == link) return;  // most ranks have one alone
    if (first < 0) {
      first = link;
      total_[static_cast<std::size_t>(rank)] += capacities_[static_cast<std::size_t>(link)];
      return;
    }
    if (counted_.emplace(rank, link).second) {
      total_[static_cast<std::size_t>(rank)] += capacities_[static_cast<std::size_t>(link)];
    }
  }
  [[nodiscard]] BytesPerSecond of(int rank) const {
    const BytesPerSecond total = total_[static_cast<std::size_t>(rank)];
    return total > BytesPerSecond(0) ? total : BytesPerSecond::infinity();
  }
  [[nodiscard]] BytesPerSecond best() const { return *std::ranges::max_element(total_); }

 private:
  std::span<const BytesPerSecond> capacities_;
  std::vector<BytesPerSecond> total_;
  std::vector<int> first_;                 // link of each rank that was counted
  std::set<std::pair<int, int>> counted_;  // of ranks that have more
};

std::size_t count_ways(const Schedule& schedule) {
  std::size_t sum = 0;
  for (const Phase& phase : schedule.phases) {
    sum += transfers_per_round(phase) * static_cast<std::size_t>(receivers_move(phase) ? phase.repeats : 1);
  }
  return sum;
}

/// Calls `visit(from, to, leg)` for every way that is used, some more than once.
template <class Visit>
void for_each_way(const RoutedSchedule& routed, Visit visit) {
  const Schedule& schedule = routed.schedule();
  for (std::size_t p = 0; p < schedule.phases.size(); ++p) {
    const Phase& phase = schedule.phases[p];
    const auto fan = static_cast<std::size_t>(phase.fan);
    const int repeats = receivers_move(phase) ? phase.repeats : 1;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t index = 0; index < transfers_per_round(phase); ++index) {
        const Transfer& transfer = phase.transfers[index / fan];
        const int when = repeats > 1 ? repeat : transfer.start;
        const int to = in_repeat(schedule, phase, transfer, when, static_cast<int>(index % fan)).to;
        visit(transfer.from, to, repeat == 0 ? routed.legs(p)[index] : routed.leg(p, index, repeat));
      }
    }
  }
}

/// The first of the links that all paths cross, or with reversed links the last; -1 where there is none.
template <std::ranges::bidirectional_range Links>
int first_of_all_paths(const Links& links, int paths) {
  if (paths == 1 || std::ranges::count(links, *links.begin()) == paths) return *links.begin();
  std::vector<int> of_all;
  for_each_listed({links.begin(), links.end()}, [&](int link, int times) {
    if (times == paths) of_all.push_back(link);
  });
  const auto first = std::ranges::find_if(links, [&](int link) { return std::ranges::binary_search(of_all, link); });
  return first == links.end() ? -1 : *first;
}

/// Whether what a root or servers may receive is asked for (root_time).
bool has_receivers(Operation operation) {
  return operation == Operation::gather || operation == Operation::reduce || operation == Operation::parameter_server;
}

Bytes own_block(const Schedule& schedule, const ChunkSizes& sizes) {
  const Chunk per_rank = schedule.chunks / schedule.ranks;
  return sizes.before((schedule.root + 1) * per_rank) - sizes.before(schedule.root * per_rank);
}

Bytes diagonal(const Schedule& schedule, const ChunkSizes& sizes) {
  Bytes sum;
  for (Chunk rank = 0; rank < schedule.ranks; ++rank) sum += sizes[rank * schedule.ranks + rank];
  return sum;
}

/// Bytes that parameter servers receive: of each byte every worker's, or all but its server's where that works too.
Bytes pushed(const Schedule& schedule, Bytes size) {
  const int workers = schedule.ranks - schedule.first_worker;
  return size * (schedule.first_worker > 0 ? workers : workers - 1);
}

/// Bytes that must be sent, by all ranks together.
Bytes least_sent(const Schedule& schedule, Bytes size) {
  const ChunkSizes sizes(size, schedule);
  const double n = schedule.ranks;
  switch (schedule.operation) {
    case Operation::allreduce:
      return size * (2 * (n - 1));
    case Operation::alltoall:
      return size * n - diagonal(schedule, sizes);
    case Operation::gather:
    case Operation::scatter:
      return size - own_block(schedule, sizes);
    case Operation::parameter_server:
      return 2 * pushed(schedule, size);
    case Operation::barrier:
      return Bytes(0);
    default:
      return size * (n - 1);
  }
}

Seconds root_time(const CollectiveBounds& bounds, Bytes size) {
  const Bytes burst = bounds.burst * std::max(bounds.operation.servers, 1);  // of every server's link
  switch (bounds.operation.operation) {
    case Operation::broadcast:
      return (size - burst) / bounds.root_sends;
    case Operation::scatter:
      return (least_sent(bounds.operation, size) - burst) / bounds.root_sends;
    case Operation::reduce:
      return (size - burst) / bounds.root_receives;
    case Operation::gather:
      return (least_sent(bounds.operation, size) - burst) / bounds.root_receives;
    case Operation::parameter_server:
      return (pushed(bounds.operation, size) - burst) / std::min(bounds.root_sends, bounds.root_receives);
    default:
      return Seconds(0);
  }
}

/// What the root, or all servers together, can send or receive.
BytesPerSecond of_roots(const Schedule& schedule, const Ends& ends) {
  if (schedule.operation != Operation::parameter_server) return ends.of(schedule.root);
  BytesPerSecond sum(0);
  for (int server = 0; server < schedule.servers; ++server) sum += ends.of(server);
  return sum;
}

/// Of every rank whether it stands for those that are known to be like it before any way is worked out; empty where
/// none are.
std::vector<bool> representatives(const RoutedSchedule& routed) {
  const Schedule& schedule = routed.schedule();
  const std::optional<Moves> moves = moves_of(routed);
  const bool all_send = std::ssize(schedule.phases.front().transfers) == schedule.ranks;  // no root, no servers
  const auto parts = moves || !all_send ? std::nullopt : fold_by_parts(routed);
  std::set<int> classes;
  std::vector<bool> stand;
  for (int rank = 0; rank < schedule.ranks && (moves || parts); ++rank)
    stand.push_back(classes.insert(moves ? moves->class_of(rank) : parts->class_of_rank[as_index(rank)]).second);
  return stand;
}

/// By the ways of those that stand for others: what a root may do is not known then.
CollectiveBounds bounds_of_alike(const RoutedSchedule& routed, const std::vector<bool>& stand,
                                 CollectiveBounds bounds) {
  const Schedule& schedule = routed.schedule();
  Seconds shortest = Seconds::infinity();
  Ends first(schedule.ranks, routed.capacities());
  for (std::size_t p = 0; p < schedule.phases.size(); ++p) {
    const Phase& phase = schedule.phases[p];
    const auto fan = static_cast<std::size_t>(phase.fan);
    const int repeats = receivers_move(phase) ? phase.repeats : 1;
    for (std::size_t position = 0; position < phase.transfers.size(); ++position) {
      const int from = phase.transfers[position].from;
      if (!stand[as_index(from)]) continue;
      for (std::size_t way = 0; way < fan * as_index(repeats); ++way) {
        const RoutedSchedule::Leg leg = routed.leg(p, position * fan + way % fan, static_cast<int>(way / fan));
        shortest = std::min(shortest, leg.latency);
        if (!leg.links.empty()) first.add(from, first_of_all_paths(leg.links, leg.paths));
      }
    }
  }
  bounds.latency = shortest;
  // Where nodes have no links of their own, those that a route begins with may differ.
  if (routed.where()->first.node.nics.front().up >= 0) bounds.injection = first.best();
  return bounds;
}

}  // namespace

CollectiveBounds bounds_of(const RoutedSchedule& routed) {
  constexpr BytesPerSecond unknown = BytesPerSecond::infinity();
  CollectiveBounds none{emptied(routed.schedule()), Seconds(0), unknown, unknown, unknown, routed.burst()};
  if (routed.is_routed_when_asked() && !routed.schedule().phases.empty()) {
    const std::vector<bool> stand = representatives(routed);
    if (!stand.empty()) return bounds_of_alike(routed, stand, std::move(none));
  }
  if (routed.schedule().phases.empty() || count_ways(routed.schedule()) > most_ways) return none;
  const bool receives = has_receivers(none.operation.operation);
  Seconds shortest = Seconds::infinity();
  Ends first(routed.schedule().ranks, routed.capacities());
  Ends last(routed.schedule().ranks, routed.capacities());
  for_each_way(routed, [&](int from, int to, const RoutedSchedule::Leg& leg) {
    shortest = std::min(shortest, leg.latency);
    if (leg.links.empty()) return;
    first.add(from, first_of_all_paths(leg.links, leg.paths));
    if (receives) last.add(to, first_of_all_paths(leg.links | std::views::reverse, leg.paths));
  });
  none.latency = shortest;
  none.injection = first.best();
  none.root_sends = of_roots(none.operation, first);
  if (receives) none.root_receives = of_roots(none.operation, last);
  return none;
}

Seconds CollectiveBounds::least_time(Bytes size) const {
  const Bytes sent = least_sent(operation, size);
  const bool nothing_moves = sent == Bytes(0) && operation.operation != Operation::barrier;
  if (operation.ranks == 1 || nothing_moves) return Seconds(0);
  return std::max({latency, (sent / operation.ranks - burst) / injection, root_time(*this, size)});
}

}}  // namespace farandole::simulate
