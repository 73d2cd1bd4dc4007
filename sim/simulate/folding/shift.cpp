#include "simulate/folding/shift.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "simulate/folding/orbits.hpp"

namespace farandole {
namespace {

/// After how many ranks the platform looks the same; 0 where that is not known.
int period_of(const Platform& platform, const Placement& placement) {
  const auto& device_of = placement.device_of_rank;
  const auto ranks = static_cast<int>(device_of.size());
  const int step = platform.network.alike_after * platform.devices_per_node;
  if (step == 0 || ranks != platform.devices() || ranks % step != 0) return 0;
  // Its own links of connections, and how many flows a link really has, an orbit does not know.
  const bool is_plain =
      std::ranges::all_of(platform.links, [](const Link& link) { return link.congestion == nullptr; });
  if (!is_plain || platform.flow_rate < BytesPerSecond::infinity()) return 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const int moved = device_of[static_cast<std::size_t>((rank + step) % ranks)];
    if (moved != (device_of[static_cast<std::size_t>(rank)] + step) % ranks) return 0;
  }
  return step;
}

bool is_alike_after(const Phase& phase, int step, int ranks) {
  using Key = std::tuple<int, int, int, int, Action>;
  std::vector<Key> here;
  std::vector<Key> moved;
  for (const Transfer& t : phase.transfers) {
    here.emplace_back(t.from, t.to, t.count, t.start, t.action);
    moved.emplace_back((t.from + step) % ranks, (t.to + step) % ranks, t.count, t.start, t.action);
  }
  std::ranges::sort(here);
  std::ranges::sort(moved);
  return here == moved;
}

/// What the quotient is made of, kept for its later legs.
struct Representatives {
  RoutedSchedule whole;
  Orbits orbits;
  std::vector<std::vector<std::size_t>> positions;  // per phase, in the whole's phase, of what the first ranks send

  [[nodiscard]] RoutedSchedule::Leg leg(std::size_t phase, std::size_t index, int repeat) const {
    const auto fan = static_cast<std::size_t>(whole.schedule().phases[phase].fan);
    RoutedSchedule::Leg leg = whole.leg(phase, positions[phase][index / fan] * fan + index % fan, repeat);
    for (int& link : leg.links) link = orbits.of(link);
    return leg;
  }
};

/// Of every transfer and lane the class, where receivers stay; where they move nobody asks for it.
std::vector<int> classes_of(const Phase& phase, int step, int ranks, const std::vector<std::size_t>& positions) {
  std::vector<int> classes;
  if (receivers_move(phase)) return classes;
  for (const Transfer& transfer : phase.transfers) {
    // Moved back to where its sender is one of the first ranks, it is there, and in the quotient.
    const int back = transfer.from / step * step;
    const int to = (transfer.to - back + ranks) % ranks;
    const auto alike = std::ranges::find_if(positions, [&](std::size_t representative) {
      const Transfer& t = phase.transfers[representative];
      return t.from == transfer.from - back && t.to == to && t.count == transfer.count && t.action == transfer.action;
    });
    const auto position = static_cast<int>(alike - positions.begin());
    for (int lane = 0; lane < phase.fan; ++lane) classes.push_back(position * phase.fan + lane);
  }
  return classes;
}

Schedule quotient_of(const Schedule& whole, int step, Representatives& representatives) {
  Schedule schedule = whole;
  schedule.ranks = step;
  for (Phase& phase : schedule.phases) {
    auto& positions = representatives.positions.emplace_back();
    std::vector<Transfer> first;
    for (std::size_t position = 0; position < phase.transfers.size(); ++position) {
      Transfer transfer = phase.transfers[position];
      if (transfer.from >= step) continue;
      transfer.to %= step;
      first.push_back(transfer);
      positions.push_back(position);
    }
    phase.transfers = std::move(first);
  }
  return schedule;
}

void note_routes(Representatives& representatives) {
  const Schedule& whole = representatives.whole.schedule();
  for (std::size_t p = 0; p < whole.phases.size(); ++p) {
    const Phase& phase = whole.phases[p];
    for (int repeat = 0; repeat < (receivers_move(phase) ? phase.repeats : 1); ++repeat) {
      for (const std::size_t position : representatives.positions[p]) {
        for (int lane = 0; lane < phase.fan; ++lane) {
          const Transfer placed = in_repeat(whole, phase, phase.transfers[position], repeat, lane);
          representatives.orbits.add_route(placed.from, placed.to);
        }
      }
    }
  }
}

}  // namespace

std::optional<Folding> fold_by_shift(const RoutedSchedule& routed) {
  const Schedule& whole = routed.schedule();
  if (routed.where() == nullptr || !whole.weights.empty()) return std::nullopt;
  const auto& [platform, placement] = *routed.where();
  const int step = period_of(platform, placement);
  if (step == 0 || step == whole.ranks) return std::nullopt;
  for (const Phase& phase : whole.phases) {
    if (phase.window != 0 || phase.one_by_one || !is_alike_after(phase, step, whole.ranks)) return std::nullopt;
  }
  auto kept = std::make_shared<Representatives>(Representatives{routed, {platform, placement, step}, {}});
  Schedule schedule = quotient_of(whole, step, *kept);
  note_routes(*kept);
  if (!kept->orbits.are_alike()) return std::nullopt;

  std::vector<int> class_of_rank;
  for (int rank = 0; rank < whole.ranks; ++rank) class_of_rank.push_back(rank % step);
  std::vector<std::vector<int>> class_of_transfer;
  std::vector<std::vector<RoutedSchedule::Leg>> legs;
  for (std::size_t p = 0; p < whole.phases.size(); ++p) {
    class_of_transfer.push_back(classes_of(whole.phases[p], step, whole.ranks, kept->positions[p]));
    auto& first = legs.emplace_back();
    for (std::size_t index = 0; index < transfers_per_round(schedule.phases[p]); ++index) {
      first.push_back(kept->leg(p, index, 0));
    }
  }
  std::vector<BytesPerSecond> capacities = kept->orbits.capacities();
  RoutedSchedule quotient(
      std::move(schedule), std::move(legs), std::move(capacities),
      [kept](std::size_t phase, std::size_t index, int repeat) { return kept->leg(phase, index, repeat); },
      routed.message_cost());
  return Folding{std::move(quotient), std::move(class_of_rank), std::move(class_of_transfer)};
}

}  // namespace farandole
