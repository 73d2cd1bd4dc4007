#include "simulate/folding/orbits.hpp"

#include "simulate/invariant.hpp"

namespace farandole { inline namespace simulate {

Orbits::Orbits(const Platform& platform, const Placement& placement, const Moves& moves)
    : platform_(platform), placement_(placement), moves_(moves), orbit_(platform.links.size(), -1) {
  const auto own = static_cast<int>(platform.node.links.size());
  const int period = moves.step() / platform.devices_per_node * own;
  for (int link = 0; link < period; ++link) {
    capacities_.push_back(platform.links[static_cast<std::size_t>(link)].capacity);
  }
  for (int link = 0; link < platform.first_network_link(); ++link) {
    join(link, link % period, platform.links[static_cast<std::size_t>(link % period)]);
  }
}

void Orbits::join(int link, int orbit, const Link& like) {
  const Link& own = platform_.links[static_cast<std::size_t>(link)];
  alike_ = alike_ && own.capacity == like.capacity && own.latency == like.latency;
  orbit_[static_cast<std::size_t>(link)] = orbit;
}

void Orbits::add_route(int from, int to) {
  const Route route = platform_.route(placement_.device_of_rank[static_cast<std::size_t>(from)],
                                      placement_.device_of_rank[static_cast<std::size_t>(to)]);
  for (std::size_t position = 0; position < route.links.size(); ++position) {
    if (of(route.links[position]) < 0) add_orbit(from, to, position);
  }
}

void Orbits::add_orbit(int from, int to, std::size_t position) {
  const auto orbit = static_cast<int>(capacities_.size());
  const Link* first = nullptr;
  int members = 0;
  for (int move = 0; move < moves_.count(); ++move) {
    const auto moved = [&](int rank) {
      return placement_.device_of_rank[static_cast<std::size_t>(moves_.moved(rank, move))];
    };
    const Route route = platform_.route(moved(from), moved(to));
    if (position >= route.links.size()) throw InvariantError("routes of a platform that is not alike all over");
    const int link = route.links[position];
    if (of(link) == orbit) continue;
    if (of(link) >= 0) throw InvariantError("a link that a platform's symmetry takes to two others");
    if (first == nullptr) first = &platform_.links[static_cast<std::size_t>(link)];
    join(link, orbit, *first);
    ++members;
  }
  capacities_.push_back(first->capacity * (static_cast<double>(members) / moves_.count()));
}

}}  // namespace farandole::simulate
