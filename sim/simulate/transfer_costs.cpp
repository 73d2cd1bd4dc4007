#include "simulate/transfer_costs.hpp"

#include <algorithm>
#include <numeric>

#include "simulate/fluid_network.hpp"

namespace farandole {
namespace {

using Legs = std::vector<RoutedSchedule::Leg>;

/// Bytes of every transfer of a round: of this repeat where costs vary or there is only one, else the most they can be.
std::vector<Bytes> bytes_of_round(const RoutedSchedule& routed, std::size_t phase, int repeat,
                                  const ChunkSizes& sizes) {
  const Schedule& schedule = routed.schedule();
  const Phase& pattern = schedule.phases[phase];
  std::vector<Bytes> bytes(transfers_per_round(pattern));
  if (pattern.repeats == 1 || costs_vary(routed, phase)) {
    for_each_transfer(schedule, pattern, repeat, [&](const Transfer& transfer, std::size_t index) {
      bytes[index] = sizes.of(schedule, pattern, transfer);
    });
    return bytes;
  }
  const auto runs = static_cast<double>(std::max<std::size_t>(pattern.bundle.size(), 1));
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    const Transfer& transfer = pattern.transfers[index / static_cast<std::size_t>(pattern.fan)];
    bytes[index] = sizes.largest_run(transfer.count) * runs;
  }
  return bytes;
}

/// Messages one after the other that every transfer of the round is sent as.
Eigen::ArrayXd messages_of_round(const RoutedSchedule& routed, std::size_t phase, int repeat, const ChunkSizes& sizes) {
  const Schedule& schedule = routed.schedule();
  const Phase& pattern = schedule.phases[phase];
  Eigen::ArrayXd messages = Eigen::ArrayXd::Ones(static_cast<Eigen::Index>(transfers_per_round(pattern)));
  if (!pattern.one_by_one) return messages;
  for_each_transfer(schedule, pattern, repeat, [&](const Transfer& transfer, std::size_t index) {
    messages[static_cast<Eigen::Index>(index)] =
        static_cast<double>(sizes.messages(schedule, pattern, transfer).size());
  });
  return messages;
}

/// Any size would do that is long enough that a byte is no matter, and short enough to be counted in whole bytes.
std::vector<Bytes> lengths_of_round(const RoutedSchedule& routed, std::size_t phase, int repeat) {
  const auto chunks = static_cast<double>(routed.schedule().chunks);
  const Bytes size = std::min(1_GiB * chunks, Bytes(0x1p50));
  return bytes_of_round(routed, phase, repeat, ChunkSizes(size, routed.schedule()));
}

Legs moved_legs(const RoutedSchedule& routed, std::size_t phase, int repeat) {
  Legs legs;
  for (std::size_t index = 0; index < routed.legs(phase).size(); ++index) {
    legs.push_back(routed.leg(phase, index, repeat));
  }
  return legs;
}

/// The result of `visit(legs)` with those of the repeat, without a copy where they do not move.
template <class Visit>
TransferRates with_legs(const RoutedSchedule& routed, std::size_t phase, int repeat, Visit visit) {
  if (receivers_move(routed.schedule().phases[phase])) return visit(moved_legs(routed, phase, repeat));
  return visit(routed.legs(phase));
}

TransferRates latencies(const Legs& legs) {
  const auto transfers = static_cast<Eigen::Index>(legs.size());
  TransferRates rates{Eigen::ArrayXd(transfers), Eigen::ArrayXd::Zero(transfers)};
  for (Eigen::Index t = 0; t < transfers; ++t) rates.latency[t] = legs[static_cast<std::size_t>(t)].latency.si();
  return rates;
}

TransferRates shared_rates(const RoutedSchedule& routed, const Legs& legs, const std::vector<Bytes>& lengths) {
  std::vector<double> load(routed.capacities().size(), 0);
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (lengths[t] == Bytes(0)) continue;
    for (const int link : legs[t].links) load[static_cast<std::size_t>(link)] += 1.0 / legs[t].paths;
  }
  TransferRates rates = latencies(legs);
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (lengths[t] == Bytes(0)) continue;
    BytesPerSecond rate = BytesPerSecond::infinity();
    for (const int link : legs[t].links) {
      const auto index = static_cast<std::size_t>(link);
      rate = std::min(rate, routed.capacities()[index] / load[index]);
    }
    rates.inverse_rate[static_cast<Eigen::Index>(t)] = 1 / rate.si();
  }
  return rates;
}

TransferRates simulated_rates(const RoutedSchedule& routed, const Legs& legs, const std::vector<Bytes>& lengths) {
  std::vector<FluidLink> links;
  for (const BytesPerSecond capacity : routed.capacities()) links.push_back({capacity});
  int parts = 1;
  for (const RoutedSchedule::Leg& leg : legs) parts = std::lcm(parts, leg.paths);
  FluidNetwork network(links, parts);
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (lengths[t] == Bytes(0)) continue;
    network.start(network.add_route(legs[t].links, legs[t].paths), Seconds(0), lengths[t], static_cast<int>(t));
  }
  TransferRates rates = latencies(legs);
  network.run([&](int t) { rates.inverse_rate[t] = network.now().si() / lengths[static_cast<std::size_t>(t)].si(); });
  return rates;
}

}  // namespace

bool costs_vary(const RoutedSchedule& routed, std::size_t phase) {
  const Phase& pattern = routed.schedule().phases[phase];
  return receivers_move(pattern) || (pattern.repeats > 1 && !routed.schedule().weights.empty());
}

TransferRates analytic_rates(const RoutedSchedule& routed, std::size_t phase, int repeat) {
  const auto lengths = lengths_of_round(routed, phase, repeat);
  return with_legs(routed, phase, repeat, [&](const Legs& legs) { return shared_rates(routed, legs, lengths); });
}

TransferRates flow_rates(const RoutedSchedule& routed, std::size_t phase, int repeat) {
  const auto lengths = lengths_of_round(routed, phase, repeat);
  return with_legs(routed, phase, repeat, [&](const Legs& legs) { return simulated_rates(routed, legs, lengths); });
}

TransferCosts transfer_costs(const RoutedSchedule& routed, std::size_t phase, int repeat, const TransferRates& rates,
                             const ChunkSizes& sizes) {
  const auto bytes = bytes_of_round(routed, phase, repeat, sizes);
  const Eigen::ArrayXd messages = messages_of_round(routed, phase, repeat, sizes);
  const Eigen::Index transfers = rates.latency.size();
  TransferCosts costs{Eigen::ArrayXd(transfers), Eigen::ArrayXd(transfers)};
  for (Eigen::Index t = 0; t < transfers; ++t) {
    const Bytes length = bytes[static_cast<std::size_t>(t)];
    const double sending = messages[t] * rates.latency[t] + length.si() * rates.inverse_rate[t];
    costs.sending[t] = length > Bytes(0) ? sending : 0;
    costs.reducing[t] = (length / routed.legs(phase)[static_cast<std::size_t>(t)].reduce_rate).si();
  }
  return costs;
}

}  // namespace farandole
