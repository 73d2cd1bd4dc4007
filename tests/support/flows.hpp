// Plays a list of flows on a FluidNetwork of either solver, or on anything with its interface, and says when each ends.
#pragma once

#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simulate/fluid_network.hpp"

namespace farandole::support {

struct Flow {
  std::vector<int> links;
  Seconds latency;
  Bytes size;
  Seconds start = Seconds(0);
  int paths = 1;  // over which it is split
};

using Ends = std::vector<double>;  // seconds, in the order of the flows

/// `more`: what the network is made with, besides links and parts.
template <class Network, class... More>
Ends ends_of(std::span<const FluidLink> links, const std::vector<Flow>& flows, More... more) {
  int parts = 1;
  for (const Flow& flow : flows) parts = std::lcm(parts, flow.paths);
  Network network(links, parts, more...);
  Ends ends(flows.size(), -1);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    network.start_at(flows[i].start, network.add_route(flows[i].links, flows[i].paths), flows[i].latency, flows[i].size,
                     static_cast<int>(i));
  }
  network.run([&](int tag) { ends[static_cast<std::size_t>(tag)] = network.now().si(); });
  return ends;
}

/// Those that are built in, and how a test program names a test of one.
inline std::vector<NetworkSolver> solvers() {
  if (!has_simgrid()) return {NetworkSolver::own};
  return {NetworkSolver::simgrid, NetworkSolver::own};
}
inline std::string name_of(NetworkSolver solver) {
  return solver == NetworkSolver::own ? "own" : "simgrid";
}

}  // namespace farandole::support
