#include "simulate/transfer_costs.hpp"

#include <algorithm>

#include "simulate/fluid_network.hpp"

namespace farandole {

TransferCosts analytic_costs(const RoutedSchedule& routed, std::size_t phase, Bytes size) {
  const auto& legs = routed.legs(phase);
  std::vector<int> flows(routed.capacities().size(), 0);
  for (const auto& leg : legs) {
    for (const int link : leg.links) ++flows[static_cast<std::size_t>(link)];
  }
  const Bytes chunk = ChunkSizes(size, routed.schedule().chunks).largest();
  TransferCosts costs(static_cast<Eigen::Index>(legs.size()));
  for (std::size_t t = 0; t < legs.size(); ++t) {
    BytesPerSecond rate = BytesPerSecond::infinity();
    for (const int link : legs[t].links) {
      const auto index = static_cast<std::size_t>(link);
      rate = std::min(rate, routed.capacities()[index] / flows[index]);
    }
    costs[static_cast<Eigen::Index>(t)] = (legs[t].latency + chunk / rate).si();
  }
  return costs;
}

TransferCosts flow_costs(const RoutedSchedule& routed, std::size_t phase, Bytes size) {
  const auto& legs = routed.legs(phase);
  const Phase& pattern = routed.schedule().phases[phase];
  const Bytes chunk = ChunkSizes(size, routed.schedule().chunks).largest();
  std::vector<FluidLink> links;
  for (const BytesPerSecond capacity : routed.capacities()) links.push_back({capacity});
  FluidNetwork network(links);
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (chunk > Bytes(0)) {
      network.start(network.add_route(legs[t].links), Seconds(0), chunk * pattern.repeats, static_cast<int>(t));
    }
  }
  TransferCosts costs(static_cast<Eigen::Index>(legs.size()));
  for (std::size_t t = 0; t < legs.size(); ++t) costs[static_cast<Eigen::Index>(t)] = legs[t].latency.si();
  network.run([&](int t) { costs[t] += network.now().si() / pattern.repeats; });
  return costs;
}

}  // namespace farandole
