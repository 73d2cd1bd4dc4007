#include "platform/detours.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {
namespace {

struct Hop {
  int to = 0;  // a switch
  int link = 0;
};

/// What still works, and the ways from before.
struct Remains {
  std::vector<std::vector<Hop>> hops;  // from every switch
  std::vector<bool> has_failed;        // by link
  std::vector<int> switch_of_nic;
  std::function<Paths(int, int)> before;
  std::function<WayChoice(int, int)> choice_before;  // may be empty

  /// Hops from every switch to one, -1 where there is no way. Cables work both ways, so it is as far back.
  [[nodiscard]] std::vector<int> distances_to(int target) const;
  [[nodiscard]] Path shortest(int from_nic, int to_nic) const;
  [[nodiscard]] Paths paths(int from_nic, int to_nic) const;
  [[nodiscard]] WayChoice choice(int from_nic, int to_nic) const;
  void leave_out_failed(Paths& ways) const;
};

std::vector<int> Remains::distances_to(int target) const {
  std::vector<int> distance(hops.size(), -1);
  std::vector<int> queue{target};
  distance[static_cast<std::size_t>(target)] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const auto here = static_cast<std::size_t>(queue[next]);
    for (const Hop& hop : hops[here]) {
      int& there = distance[static_cast<std::size_t>(hop.to)];
      if (there >= 0) continue;
      there = distance[here] + 1;
      queue.push_back(hop.to);
    }
  }
  return distance;
}

Path Remains::shortest(int from_nic, int to_nic) const {
  constexpr std::uint64_t seed = 1;
  const int target = switch_of_nic[static_cast<std::size_t>(to_nic)];
  const std::vector<int> distance = distances_to(target);
  Path path;
  for (int at = switch_of_nic[static_cast<std::size_t>(from_nic)]; at != target;) {
    std::vector<Hop> nearer;
    for (const Hop& hop : hops[static_cast<std::size_t>(at)]) {
      const bool is_nearer = distance[static_cast<std::size_t>(hop.to)] + 1 == distance[static_cast<std::size_t>(at)];
      if (is_nearer) nearer.push_back(hop);
    }
    const Hop& hop = nearer[flow_hash(seed, from_nic, to_nic, static_cast<int>(path.size())) % nearer.size()];
    path.push_back(hop.link);
    at = hop.to;
  }
  return path;
}

void Remains::leave_out_failed(Paths& ways) const {
  std::erase_if(ways, [&](const Path& path) {
    return std::ranges::any_of(path, [&](int link) { return has_failed[static_cast<std::size_t>(link)]; });
  });
}

Paths Remains::paths(int from_nic, int to_nic) const {
  Paths ways = before(from_nic, to_nic);
  leave_out_failed(ways);
  if (ways.empty()) ways.push_back(shortest(from_nic, to_nic));
  return ways;
}

WayChoice Remains::choice(int from_nic, int to_nic) const {
  WayChoice choice = choice_before(from_nic, to_nic);
  leave_out_failed(choice.minimal);
  leave_out_failed(choice.other);
  if (choice.minimal.empty()) choice.minimal.swap(choice.other);
  if (choice.minimal.empty()) choice.minimal.push_back(shortest(from_nic, to_nic));
  return choice;
}

/// What is left of every bundle; one of which nothing is left has failed, too.
void leave_out_failed_members(Network& network, std::vector<bool>& has_failed) {
  for (Bundle& bundle : network.bundles) {
    std::erase_if(bundle.members, [&](int link) { return has_failed[static_cast<std::size_t>(link)]; });
    if (bundle.members.empty()) has_failed[static_cast<std::size_t>(bundle.link)] = true;
  }
}

/// NICs that meet must reach one another: all, or those of each rail.
void check_nics_joined(const Remains& remains, const Platform& platform, std::size_t failures, const Value& where) {
  const int nics = static_cast<int>(platform.node.nics.size());
  const int rails = platform.network.rails_apart ? nics : 1;
  for (int rail = 0; rail < rails; ++rail) {
    const auto distance = remains.distances_to(remains.switch_of_nic[static_cast<std::size_t>(rail)]);
    for (int nic = rail; nic < platform.nodes * nics; nic += rails) {
      const int at = remains.switch_of_nic[static_cast<std::size_t>(nic)];
      if (distance[static_cast<std::size_t>(at)] >= 0) continue;
      where.fail("a way between all nodes",
                 fmt::format("none from node 0 to node {}, with {} failed cables", nic / nics, failures));
    }
  }
}

}  // namespace

void go_round(const std::vector<int>& failed_cables, Platform& platform, const Value& where) {
  Network& network = platform.network;
  auto remains = std::make_shared<Remains>();
  remains->hops.resize(network.switches.size());
  remains->has_failed.resize(platform.links.size(), false);
  remains->switch_of_nic = network.switch_of_nic;
  std::vector<Cable> cables;
  for (std::size_t number = 0; number < network.cables.size(); ++number) {
    const Cable& cable = network.cables[number];
    if (std::ranges::binary_search(failed_cables, static_cast<int>(number))) {
      for (const int link : {cable.there, cable.back}) remains->has_failed[static_cast<std::size_t>(link)] = true;
      continue;
    }
    cables.push_back(cable);
    remains->hops[static_cast<std::size_t>(cable.from)].push_back({cable.to, cable.there});
    remains->hops[static_cast<std::size_t>(cable.to)].push_back({cable.from, cable.back});
  }
  check_nics_joined(*remains, platform, failed_cables.size(), where);
  network.cables = std::move(cables);
  network.alike_after = 0;
  network.never_full = nullptr;
  remains->before = std::exchange(network.paths, nullptr);
  network.paths = [remains](int from, int to) { return remains->paths(from, to); };
  leave_out_failed_members(network, remains->has_failed);
  if (!network.choice) return;
  remains->choice_before = std::exchange(network.choice, nullptr);
  network.choice = [remains](int from, int to) { return remains->choice(from, to); };
}

}}  // namespace farandole::platform
