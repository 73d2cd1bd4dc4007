#include "simulate/transfer_costs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "simulate/fluid_network.hpp"
#include "simulate/handshakes.hpp"

namespace farandole { inline namespace simulate {
namespace {

using LegsOfPhase = std::vector<RoutedSchedule::Leg>;

}  // namespace

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

namespace {

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

bool cross_the_same(const LegsOfPhase& legs, const LegsOfPhase& others) {
  return std::ranges::equal(legs, others, [](const RoutedSchedule::Leg& leg, const RoutedSchedule::Leg& other) {
    return leg.paths == other.paths && leg.links == other.links;
  });
}

Eigen::ArrayXd shared(std::span<const FluidLink> links, const LegsOfPhase& legs, const std::vector<Bytes>& lengths) {
  std::vector<double> load(links.size(), 0);
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (lengths[t] == Bytes(0)) continue;
    for (const int link : legs[t].links) load[static_cast<std::size_t>(link)] += 1.0 / legs[t].paths;
  }
  Eigen::ArrayXd inverse_rates = Eigen::ArrayXd::Zero(static_cast<Eigen::Index>(legs.size()));
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (lengths[t] == Bytes(0)) continue;
    BytesPerSecond rate = BytesPerSecond::infinity();
    for (const int link : legs[t].links) {
      const auto index = static_cast<std::size_t>(link);
      rate = std::min(rate, links[index].capacity * links[index].congestion.left(load[index]) / load[index]);
    }
    inverse_rates[static_cast<Eigen::Index>(t)] = 1 / rate.si();
  }
  return inverse_rates;
}

}  // namespace

LegsOfPhase legs_of_round(const RoutedSchedule& routed, std::size_t phase, int repeat) {
  LegsOfPhase legs;
  for (std::size_t index = 0; index < routed.legs(phase).size(); ++index) {
    legs.push_back(routed.leg(phase, index, repeat));
  }
  return legs;
}

bool costs_vary(const RoutedSchedule& routed, std::size_t phase) {
  const Phase& pattern = routed.schedule().phases[phase];
  return receivers_move(pattern) ||
         (pattern.repeats > 1 && (pattern.window != 0 || !routed.schedule().weights.empty()));
}

namespace {

/// Like `lengths_of_round`, the longest of about a TiB.
std::vector<Bytes> comparable_lengths(const RoundOf& round) {
  std::vector<Bytes> lengths = lengths_of_round(*round.routed, round.phase, round.repeat);
  const Bytes longest = *std::ranges::max_element(lengths);
  for (Bytes& length : lengths) {
    if (length > Bytes(0)) length = Bytes(std::max(1.0, std::floor(length / longest * 0x1p40)));
  }
  return lengths;
}

Eigen::ArrayXd simulated_once(std::span<const FluidLink> links, const LegsOfPhase& legs,
                              const std::vector<Bytes>& lengths) {
  int parts = 1;
  for (const RoutedSchedule::Leg& leg : legs) parts = std::lcm(parts, leg.paths);
  const auto network = std::make_unique<FluidNetwork>(links, parts, NetworkSolver::own);
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (lengths[t] == Bytes(0)) continue;
    network->start(network->add_route(legs[t].links, legs[t].paths), Seconds(0), lengths[t], static_cast<int>(t));
  }
  Eigen::ArrayXd inverse_rates = Eigen::ArrayXd::Zero(static_cast<Eigen::Index>(legs.size()));
  network->run([&](int t) { inverse_rates[t] = network->now().si() / lengths[static_cast<std::size_t>(t)].si(); });
  return inverse_rates;
}

}  // namespace

std::vector<Eigen::ArrayXd> rates_together(const std::vector<RoundOf>& rounds, Sharing sharing) {
  LegsOfPhase legs;
  std::vector<Bytes> lengths;
  for (const RoundOf& round : rounds) {
    const LegsOfPhase own = legs_of_round(*round.routed, round.phase, round.repeat);
    const std::vector<Bytes> own_lengths = comparable_lengths(round);
    legs.insert(legs.end(), own.begin(), own.end());
    lengths.insert(lengths.end(), own_lengths.begin(), own_lengths.end());
  }
  const std::vector<FluidLink> links = rounds.front().routed->fluid_links();
  const Eigen::ArrayXd all =
      sharing == Sharing::by_load ? shared(links, legs, lengths) : simulated_once(links, legs, lengths);
  std::vector<Eigen::ArrayXd> result;
  Eigen::Index first = 0;
  for (const RoundOf& round : rounds) {
    const auto count = static_cast<Eigen::Index>(round.routed->legs(round.phase).size());
    result.emplace_back(all.segment(first, count));
    first += count;
  }
  return result;
}

RoundRates::RoundRates(const RoutedSchedule& routed, Sharing sharing, NetworkSolver solver)
    : routed_(routed), sharing_(sharing), wanted_(solver), occupied_(routed.has_occupancy()) {}
RoundRates::~RoundRates() = default;

void occupy(TransferRates& rates, const std::vector<RoutedSchedule::Leg>& legs) {
  const Eigen::Index transfers = rates.latency.size();
  for (Eigen::ArrayXd* values : {&rates.send, &rates.receive, &rates.alike, &rates.alone}) values->resize(transfers);
  for (Eigen::Index t = 0; t < transfers; ++t) {
    const RoutedSchedule::Leg& leg = legs[static_cast<std::size_t>(t)];
    rates.send[t] = leg.occupancy.send.si();
    rates.receive[t] = leg.occupancy.receive.si();
    rates.alike[t] = leg.alike - 1;
    rates.alone[t] = 1 / leg.narrowest.si();
  }
}

TransferRates RoundRates::of(std::size_t phase, int repeat) {
  const bool moves = repeat > 0 && receivers_move(routed_.schedule().phases[phase]);
  LegsOfPhase moved = moves ? legs_of_round(routed_, phase, repeat) : LegsOfPhase{};
  const LegsOfPhase& legs = moves ? moved : routed_.legs(phase);
  std::vector<Bytes> lengths = lengths_of_round(routed_, phase, repeat);
  TransferRates rates{Eigen::ArrayXd::Zero(static_cast<Eigen::Index>(legs.size())), {}};
  const bool few_send = routed_.schedule().phases[phase].window != 0;  // the others' legs are not even looked at
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (few_send && lengths[t] == Bytes(0)) continue;
    rates.latency[static_cast<Eigen::Index>(t)] = legs[t].latency.si();
  }
  if (occupied_) occupy(rates, legs);
  if (last_legs_ == nullptr || lengths != last_lengths_ ||
      (last_legs_ != &legs && !cross_the_same(legs, *last_legs_))) {
    last_inverse_ = sharing_ == Sharing::by_load
                        ? shared(routed_.fluid_links(), legs, lengths)
                        : simulated(legs, lengths, moves ? std::nullopt : std::optional(phase));
    last_lengths_ = std::move(lengths);
    if (moves) moved_ = std::move(moved);
    last_legs_ = moves ? &moved_ : &legs;
  }
  rates.inverse_rate = last_inverse_;
  return rates;
}

int RoundRates::route_of(const LegsOfPhase& legs, std::size_t index, std::optional<std::size_t> fixed) {
  const auto known = [&]() -> int& {
    if (!fixed) return routes_.try_emplace({legs[index].links, legs[index].paths}, -1).first->second;
    auto& of_phase = fixed_routes_[*fixed];
    of_phase.resize(legs.size(), -1);
    return of_phase[index];
  };
  int& route = known();
  if (route < 0) route = network_->add_route(legs[index].links, legs[index].paths);
  return route;
}

void RoundRates::make_network() {
  std::size_t at_once = 0;
  for (const Phase& phase : routed_.schedule().phases) at_once = std::max(at_once, transfers_per_round(phase));
  const NetworkSolver solver = solver_for(wanted_, 0, static_cast<std::int64_t>(at_once));
  used_builtin_solver_ = wanted_ == NetworkSolver::as_it_pays && solver == NetworkSolver::own && has_simgrid();
  network_ = std::make_unique<FluidNetwork>(routed_.fluid_links(), routed_.parts(), solver);
}

Eigen::ArrayXd RoundRates::simulated(const LegsOfPhase& legs, const std::vector<Bytes>& lengths,
                                     std::optional<std::size_t> fixed) {
  if (network_ == nullptr) {
    make_network();
  } else {
    network_->restart();
  }
  for (std::size_t t = 0; t < legs.size(); ++t) {
    if (lengths[t] == Bytes(0)) continue;
    network_->start(route_of(legs, t, fixed), Seconds(0), lengths[t], static_cast<int>(t));
  }
  Eigen::ArrayXd inverse_rates = Eigen::ArrayXd::Zero(static_cast<Eigen::Index>(legs.size()));
  network_->run([&](int t) { inverse_rates[t] = network_->now().si() / lengths[static_cast<std::size_t>(t)].si(); });
  return inverse_rates;
}

namespace {

/// Without working out legs that are not known.
BytesPerSecond reduce_rate_of(const RoutedSchedule& routed, std::size_t phase, std::size_t index) {
  if (!routed.is_routed_when_asked()) return routed.legs(phase)[index].reduce_rate;
  const Phase& pattern = routed.schedule().phases[phase];
  const Transfer& transfer = pattern.transfers[index / static_cast<std::size_t>(pattern.fan)];
  const bool reduces = transfer.action != Action::copy;
  return reduces ? routed.where()->first.transport.reduce_rate : BytesPerSecond::infinity();
}

}  // namespace

TransferCosts transfer_costs(const RoutedSchedule& routed, std::size_t phase, int repeat, const TransferRates& rates,
                             const ChunkSizes& sizes) {
  const auto bytes = bytes_of_round(routed, phase, repeat, sizes);
  const Eigen::ArrayXd messages = messages_of_round(routed, phase, repeat, sizes);
  const Eigen::Index transfers = rates.latency.size();
  TransferCosts costs = TransferCosts::of(transfers, rates.send.size() > 0);
  for (Eigen::Index t = 0; t < transfers; ++t) {
    const Bytes length = bytes[static_cast<std::size_t>(t)];
    costs.waits[t] = false;
    if (length == Bytes(0)) continue;
    const Bytes message = length / messages[t];
    const Seconds each = Seconds(rates.latency[t]) + routed.message_cost().of(message);
    costs.sending[t] = messages[t] * each.si() + length.si() * rates.inverse_rate[t];
    costs.waits[t] = !routed.message_cost().is_eager(message);
    costs.reducing[t] = (length / reduce_rate_of(routed, phase, static_cast<std::size_t>(t))).si();
    if (!costs.are_occupied()) continue;
    const double copying = routed.message_cost().copying(message).si();
    costs.send[t] = messages[t] * (rates.send[t] + copying);
    costs.receive[t] = messages[t] * (rates.receive[t] + copying);
    costs.behind[t] = messages[t] * rates.alike[t] * (rates.receive[t] + copying);
    costs.alone[t] = messages[t] * each.si() + length.si() * rates.alone[t];
  }
  if (routed.handshakes()) wait_in_line(routed, phase, repeat, bytes, costs);
  return costs;
}

}}  // namespace farandole::simulate
