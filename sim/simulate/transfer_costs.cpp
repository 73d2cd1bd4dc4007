#include "simulate/transfer_costs.hpp"

#include <algorithm>

#include "simulate/fluid_network.hpp"

namespace farandole {
namespace {

TransferRates latencies(const RoutedSchedule& routed, std::size_t phase) {
  const auto& legs = routed.legs(phase);
  const auto transfers = static_cast<Eigen::Index>(legs.size());
  TransferRates rates{Eigen::ArrayXd(transfers), Eigen::ArrayXd::Zero(transfers)};
  for (Eigen::Index t = 0; t < transfers; ++t) rates.latency[t] = legs[static_cast<std::size_t>(t)].latency.si();
  return rates;
}

}  // namespace

TransferRates analytic_rates(const RoutedSchedule& routed, std::size_t phase) {
  const auto& legs = routed.legs(phase);
  std::vector<int> flows(routed.capacities().size(), 0);
  for (const auto& leg : legs) {
    for (const int link : leg.links) ++flows[static_cast<std::size_t>(link)];
  }
  TransferRates rates = latencies(routed, phase);
  for (std::size_t t = 0; t < legs.size(); ++t) {
    BytesPerSecond rate = BytesPerSecond::infinity();
    for (const int link : legs[t].links) {
      const auto index = static_cast<std::size_t>(link);
      rate = std::min(rate, routed.capacities()[index] / flows[index]);
    }
    rates.inverse_rate[static_cast<Eigen::Index>(t)] = 1 / rate.si();
  }
  return rates;
}

TransferRates flow_rates(const RoutedSchedule& routed, std::size_t phase) {
  constexpr Bytes length = 1_GiB;  // any would do; long enough that a byte is no matter
  const auto& legs = routed.legs(phase);
  std::vector<FluidLink> links;
  for (const BytesPerSecond capacity : routed.capacities()) links.push_back({capacity});
  FluidNetwork network(links);
  for (std::size_t t = 0; t < legs.size(); ++t) {
    network.start(network.add_route(legs[t].links), Seconds(0), length, static_cast<int>(t));
  }
  TransferRates rates = latencies(routed, phase);
  network.run([&](int t) { rates.inverse_rate[t] = network.now().si() / length.si(); });
  return rates;
}

}  // namespace farandole
