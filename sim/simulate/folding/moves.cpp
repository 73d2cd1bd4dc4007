#include "simulate/folding/moves.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace farandole { inline namespace simulate {
namespace {

bool keeps_placement(const Placement& placement, const Moves& moves, int devices) {
  const Moves of_devices(moves.kind(), moves.step(), devices);
  const auto& device_of = placement.device_of_rank;
  const auto ranks = static_cast<int>(device_of.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const int moved = device_of[static_cast<std::size_t>(moves.moved(rank, 1 % moves.count()))];
    if (moved != of_devices.moved(device_of[static_cast<std::size_t>(rank)], 1 % moves.count())) return false;
  }
  return true;
}

/// A node is as the one that stands for it.
bool keeps_nodes(const Platform& platform, const Moves& moves) {
  const auto own = static_cast<int>(platform.node.links.size());
  const int period = moves.step() / platform.devices_per_node * own;
  for (int link = period; link < platform.first_network_link(); ++link) {
    const Link& here = platform.links[static_cast<std::size_t>(link)];
    const Link& like = platform.links[static_cast<std::size_t>(link % period)];
    if (here.capacity != like.capacity || here.latency != like.latency) return false;
  }
  return true;
}

std::optional<Moves> shifts_of(const Platform& platform, const Placement& placement) {
  const auto ranks = static_cast<int>(placement.device_of_rank.size());
  const int step = platform.network.alike_after * platform.devices_per_node;
  if (step == 0 || step == ranks || ranks % step != 0) return std::nullopt;
  const Moves moves(Moves::Kind::shift, step, ranks);
  return keeps_placement(placement, moves, platform.devices()) ? std::optional(moves) : std::nullopt;
}

std::optional<Moves> exchanges_of(const Platform& platform, const Placement& placement) {
  const auto ranks = static_cast<int>(placement.device_of_rank.size());
  const int step = platform.devices_per_node;
  const bool any_nodes =
      platform.network.alike_after == 1 && platform.first_network_link() == static_cast<int>(platform.links.size());
  const bool are_powers = std::has_single_bit(static_cast<unsigned>(ranks)) &&
                          std::has_single_bit(static_cast<unsigned>(step)) && step < ranks;
  if (!any_nodes || !are_powers || !std::ranges::is_sorted(placement.device_of_rank)) return std::nullopt;
  return Moves(Moves::Kind::exchange, step, ranks);
}

/// What every rank sends in a phase, sender by sender, in the order of the phase.
class BySender {
 public:
  BySender(const Phase& phase, int ranks) : first_(static_cast<std::size_t>(ranks) + 1, 0) {
    for (const Transfer& transfer : phase.transfers) ++first_[static_cast<std::size_t>(transfer.from) + 1];
    for (std::size_t rank = 1; rank < first_.size(); ++rank) first_[rank] += first_[rank - 1];
    sent_.resize(phase.transfers.size());
    std::vector<std::size_t> next = first_;
    for (const Transfer& transfer : phase.transfers) sent_[next[static_cast<std::size_t>(transfer.from)]++] = &transfer;
  }
  [[nodiscard]] std::span<const Transfer* const> of(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(sent_).subspan(first_[r], first_[r + 1] - first_[r]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<const Transfer*> sent_;
};

bool keep(const Phase& phase, const Moves& moves, int ranks) {
  if (phase.window != 0 || phase.one_by_one) return false;
  if (moves.kind() == Moves::Kind::exchange && phase.peer_step != 0) return false;
  const BySender sender(phase, ranks);
  for (int rank = moves.step(); rank < ranks; ++rank) {
    const int back = moves.back(rank);
    const bool alike =
        std::ranges::equal(sender.of(rank), sender.of(moves.class_of(rank)), [&](const Transfer* t, const Transfer* u) {
          return moves.moved(t->to, back) == u->to && t->count == u->count && t->start == u->start &&
                 t->action == u->action;
        });
    if (!alike) return false;
  }
  return true;
}

}  // namespace

std::optional<Moves> moves_of(const RoutedSchedule& routed) {
  const Schedule& schedule = routed.schedule();
  if (routed.where() == nullptr || !schedule.weights.empty()) return std::nullopt;
  const auto& [platform, placement] = *routed.where();
  // What a limit of a connection or a curve stands for, a representative does not know.
  if (schedule.ranks != platform.devices() || !platform.has_plain_links()) return std::nullopt;
  for (const auto& moves : {shifts_of(platform, placement), exchanges_of(platform, placement)}) {
    const auto keeps = [&](const Phase& phase) { return keep(phase, *moves, schedule.ranks); };
    if (moves && keeps_nodes(platform, *moves) && std::ranges::all_of(schedule.phases, keeps)) return moves;
  }
  return std::nullopt;
}

}}  // namespace farandole::simulate
