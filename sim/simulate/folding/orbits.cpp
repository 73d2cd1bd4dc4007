#include "simulate/folding/orbits.hpp"

#include <memory>
#include <utility>

#include "simulate/invariant.hpp"

namespace farandole { inline namespace simulate {
Orbits::Orbits(const Platform& platform, const Placement& placement, const Moves& moves)
    : platform_(platform), placement_(placement), moves_(moves), orbit_(platform.links.size(), -1) {
  const auto own = static_cast<int>(platform.node.links.size());
  const int period = moves.step() / platform.devices_per_node * own;
  for (int link = 0; link < period; ++link) {
    capacities_.push_back(platform.links[as_index(link)].capacity);
  }
  for (int link = 0; link < platform.first_network_link(); ++link) {
    join(link, link % period, platform.links[as_index(link % period)]);
  }
}

void Orbits::join(int link, int orbit, const Link& like) {
  const Link& own = platform_.links[as_index(link)];
  alike_ = alike_ && own.capacity == like.capacity && own.latency == like.latency;
  orbit_[as_index(link)] = orbit;
}

void Orbits::add_route(int from, int to) {
  const Route route =
      platform_.route(placement_.device_of_rank[as_index(from)], placement_.device_of_rank[as_index(to)]);
  for (std::size_t position = 0; position < route.links.size(); ++position) {
    if (of(route.links[position]) < 0) add_orbit(from, to, position);
  }
}

void Orbits::add_orbit(int from, int to, std::size_t position) {
  const auto orbit = static_cast<int>(capacities_.size());
  const Link* first = nullptr;
  int members = 0;
  for (int move = 0; move < moves_.count(); ++move) {
    const auto moved = [&](int rank) { return placement_.device_of_rank[as_index(moves_.moved(rank, move))]; };
    const Route route = platform_.route(moved(from), moved(to));
    if (position >= route.links.size()) throw InvariantError("routes of a platform that is not alike all over");
    const int link = route.links[position];
    if (of(link) == orbit) continue;
    if (of(link) >= 0) throw InvariantError("a link that a platform's symmetry takes to two others");
    if (first == nullptr) first = &platform_.links[as_index(link)];
    join(link, orbit, *first);
    ++members;
  }
  capacities_.push_back(first->capacity * (static_cast<double>(members) / moves_.count()));
}

namespace {

/// What the quotient is made of, kept for its later legs.
struct Representatives {
  RoutedSchedule whole;
  Orbits orbits;
  std::vector<std::vector<std::size_t>> positions;  // per phase, in the whole's phase, of what the first ranks send

  [[nodiscard]] RoutedSchedule::Leg leg(std::size_t phase, std::size_t index, int repeat) const {
    const auto fan = as_index(whole.schedule().phases[phase].fan);
    RoutedSchedule::Leg leg = whole.leg(phase, positions[phase][index / fan] * fan + index % fan, repeat);
    for (int& link : leg.links) link = orbits.of(link);
    return leg;
  }
};

/// Of every transfer and lane the class, which it stays in wherever its receiver moves.
std::vector<int> classes_by_moves(const Representatives& kept, const Moves& moves, std::size_t number) {
  const Phase& phase = kept.whole.schedule().phases[number];
  std::vector<int> classes;
  // A rank sends what the one that stands for it sends, in the same order.
  std::vector<std::vector<int>> of_class(as_index(moves.step()));
  for (std::size_t own = 0; own < kept.positions[number].size(); ++own) {
    const Transfer& transfer = phase.transfers[kept.positions[number][own]];
    of_class[as_index(transfer.from)].push_back(static_cast<int>(own));
  }
  std::vector<std::size_t> sent(as_index(kept.whole.schedule().ranks), 0);
  for (const Transfer& transfer : phase.transfers) {
    const std::size_t place = sent[as_index(transfer.from)]++;
    const int own = of_class[as_index(moves.class_of(transfer.from))][place];
    for (int lane = 0; lane < phase.fan; ++lane) classes.push_back(own * phase.fan + lane);
  }
  return classes;
}

Schedule quotient_of(const Schedule& whole, const Moves& moves, Representatives& representatives) {
  Schedule schedule = emptied(whole);
  schedule.ranks = moves.step();
  for (const Phase& phase : whole.phases) {
    auto& positions = representatives.positions.emplace_back();
    Phase& own = schedule.phases.emplace_back(emptied(phase));
    for (std::size_t position = 0; position < phase.transfers.size(); ++position) {
      Transfer transfer = phase.transfers[position];
      if (transfer.from >= moves.step()) continue;
      transfer.to = moves.class_of(transfer.to);
      own.transfers.push_back(transfer);
      positions.push_back(position);
    }
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

std::optional<Folding> fold_by_moves(const RoutedSchedule& routed) {
  const std::optional<Moves> moves = moves_of(routed);
  if (!moves) return std::nullopt;
  const Schedule& whole = routed.schedule();
  const auto& [platform, placement] = *routed.where();
  auto kept = std::make_shared<Representatives>(Representatives{routed, {platform, placement, *moves}, {}});
  Schedule schedule = quotient_of(whole, *moves, *kept);
  note_routes(*kept);
  if (!kept->orbits.are_alike()) return std::nullopt;

  std::vector<int> class_of_rank;
  for (int rank = 0; rank < whole.ranks; ++rank) class_of_rank.push_back(moves->class_of(rank));
  std::vector<std::vector<RoutedSchedule::Leg>> legs;
  for (std::size_t p = 0; p < whole.phases.size(); ++p) {
    auto& first = legs.emplace_back();
    for (std::size_t index = 0; index < transfers_per_round(schedule.phases[p]); ++index) {
      first.push_back(kept->leg(p, index, 0));
    }
  }
  std::vector<BytesPerSecond> capacities = kept->orbits.capacities();
  RoutedSchedule quotient(
      std::move(schedule), std::move(legs), std::move(capacities), routed.message_cost(),
      [kept](std::size_t phase, std::size_t index, int repeat) { return kept->leg(phase, index, repeat); });
  const auto classes = [kept, moves](std::size_t phase) { return classes_by_moves(*kept, *moves, phase); };
  return Folding{std::move(quotient), std::move(class_of_rank), {}, classes};
}

}}  // namespace farandole::simulate
