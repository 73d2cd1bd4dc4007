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

}  // namespace farandole
