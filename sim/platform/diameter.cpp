#include <algorithm>
#include <vector>

#include "platform/bisection.hpp"

namespace farandole { inline namespace platform {
namespace {

/// The switches at the other ends of each switch's cables.
std::vector<std::vector<int>> neighbours_of(const Network& network) {
  std::vector<std::vector<int>> neighbours(network.switches.size());
  for (const Cable& cable : network.cables) {
    neighbours[static_cast<std::size_t>(cable.from)].push_back(cable.to);
    neighbours[static_cast<std::size_t>(cable.to)].push_back(cable.from);
  }
  return neighbours;
}

std::vector<int> distances(const std::vector<std::vector<int>>& neighbours, int from) {
  std::vector<int> distance(neighbours.size(), -1);
  std::vector<int> queue{from};
  distance[static_cast<std::size_t>(from)] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const auto here = static_cast<std::size_t>(queue[next]);
    for (const int neighbour : neighbours[here]) {
      int& there = distance[static_cast<std::size_t>(neighbour)];
      if (there >= 0) continue;
      there = distance[here] + 1;
      queue.push_back(neighbour);
    }
  }
  return distance;
}

}  // namespace

int diameter(const Platform& platform) {
  std::vector<int> ends = platform.network.switch_of_nic;
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const auto neighbours = neighbours_of(platform.network);
  constexpr std::size_t most_looked_from = 64;
  const std::size_t step = (ends.size() + most_looked_from - 1) / most_looked_from;
  int greatest = 0;
  for (std::size_t i = 0; i < ends.size(); i += step) {
    const auto distance = distances(neighbours, ends[i]);
    for (const int end : ends) greatest = std::max(greatest, distance[static_cast<std::size_t>(end)]);
  }
  return greatest;
}

}}  // namespace farandole::platform
