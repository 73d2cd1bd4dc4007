#include "simulate/transfer_costs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "simulate/fluid_network.hpp"

namespace farandole { inline namespace simulate {
namespace {

using LegsOfPhase = std::vector<RoutedSchedule::Leg>;
constexpr double rate_rounding = 1e-12;

}  // namespace

std::vector<Bytes> bytes_of_round(const RoutedSchedule& routed, const Round& round, const ChunkSizes& sizes) {
  const Schedule& schedule = routed.schedule();
  const Phase& pattern = schedule.phases[round.phase];
  std::vector<Bytes> bytes(round.transfers.size());
  if (pattern.repeats == 1 || costs_vary(routed, round.phase)) {
    for_each_transfer(
        schedule, pattern, round.repeat, round.transfers,
        [&](const Transfer& transfer, std::size_t place) { bytes[place] = sizes.of(schedule, pattern, transfer); });
    return bytes;
  }
  const auto runs = static_cast<double>(std::max<std::size_t>(pattern.bundle.size(), 1));
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    const Transfer& transfer = pattern.transfers[round.transfers[place] / as_index(pattern.fan)];
    bytes[place] = sizes.largest_run(transfer.count) * runs;
  }
  return bytes;
}

namespace {

/// Messages one after the other that every transfer of the round is sent as.
Eigen::ArrayXd messages_of_round(const RoutedSchedule& routed, const Round& round, const ChunkSizes& sizes) {
  const Schedule& schedule = routed.schedule();
  const Phase& pattern = schedule.phases[round.phase];
  Eigen::ArrayXd messages = Eigen::ArrayXd::Ones(std::ssize(round.transfers));
  if (!pattern.one_by_one) return messages;
  for_each_transfer(schedule, pattern, round.repeat, round.transfers, [&](const Transfer& transfer, std::size_t place) {
    messages[static_cast<Eigen::Index>(place)] =
        static_cast<double>(sizes.messages(schedule, pattern, transfer).size());
  });
  return messages;
}

/// Any size would do that is long enough that a byte is no matter, and short enough to be counted in whole bytes.
std::vector<Bytes> lengths_of_round(const RoutedSchedule& routed, const Round& round) {
  const auto chunks = static_cast<double>(routed.schedule().chunks);
  const Bytes size = std::min(1_GiB * chunks, Bytes(0x1p50));
  return bytes_of_round(routed, round, ChunkSizes(size, routed.schedule()));
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

RoundRates::RoundRates(const RoutedSchedule& routed, Sharing sharing, NetworkSolver solver)
    : routed_(routed), sharing_(sharing), wanted_(solver), occupied_(routed.has_occupancy()) {}

void occupy(TransferRates& rates, const std::vector<RoutedSchedule::Leg>& legs) {
  const Eigen::Index transfers = rates.latency.size();
  for (Eigen::ArrayXd* values : {&rates.send, &rates.receive, &rates.alike, &rates.alone}) values->resize(transfers);
  for (Eigen::Index t = 0; t < transfers; ++t) {
    const RoutedSchedule::Leg& leg = legs[as_index(t)];
    rates.send[t] = leg.occupancy.send.si();
    rates.receive[t] = leg.occupancy.receive.si();
    rates.alike[t] = leg.alike - 1;
    rates.alone[t] = 1 / leg.narrowest.si();
  }
}

const RoutedSchedule::Leg& RoundRates::leg(const Legs& legs, const Round& round, std::size_t place) const {
  return legs[&legs == &routed_.legs(round.phase) ? round.transfers[place] : place];
}

std::span<const std::size_t> RoundRates::transfers(std::size_t phase, int repeat) {
  return participants_.try_emplace(phase, routed_.schedule().phases[phase]).first->second.in(repeat);
}

TransferRates RoundRates::of(const Round& round) {
  const bool moves = round.repeat > 0 && receivers_move(routed_.schedule().phases[round.phase]);
  const Legs moved = moves ? legs_of_round(routed_, round.phase, round.repeat) : Legs{};
  const Legs& legs = moves ? moved : routed_.legs(round.phase);
  const std::vector<Bytes> lengths = lengths_of_round(routed_, round);
  TransferRates rates{Eigen::ArrayXd::Zero(std::ssize(lengths)), {}};
  for (std::size_t t = 0; t < lengths.size(); ++t) {
    rates.latency[static_cast<Eigen::Index>(t)] = leg(legs, round, t).latency.si();
  }
  if (occupied_) {
    Legs own;
    for (std::size_t t = 0; t < lengths.size(); ++t) own.push_back(leg(legs, round, t));
    occupy(rates, own);
  }
  rates.inverse_rate = sharing_ == Sharing::by_load ? shared(legs, round, lengths) : simulated(legs, round, lengths);
  return rates;
}

bool RoundRates::have_room(std::size_t phase) {
  const std::vector<std::size_t> all = every_transfer(routed_.schedule().phases[phase]);
  const std::vector<Bytes> lengths(all.size(), 1_B);
  const Legs& legs = routed_.legs(phase);
  if (sharing_ == Sharing::simulated) return unshared(legs, {phase, 0, all}, lengths).has_value();
  const Eigen::ArrayXd inverse = shared(legs, {phase, 0, all}, lengths);
  return std::ranges::all_of(all, [&](std::size_t t) {
    return inverse[static_cast<Eigen::Index>(t)] <= (1 + rate_rounding) / legs[t].narrowest.si();
  });
}

Eigen::ArrayXd RoundRates::shared(const Legs& legs, const Round& round, const std::vector<Bytes>& lengths) {
  if (links_.empty()) links_ = routed_.fluid_links();
  load_.resize(links_.size(), 0);
  const auto for_each_link = [&](auto visit) {
    for (std::size_t t = 0; t < lengths.size(); ++t) {
      if (lengths[t] == Bytes(0)) continue;
      for (const int link : leg(legs, round, t).links) visit(t, as_index(link));
    }
  };
  for_each_link([&](std::size_t t, std::size_t link) { load_[link] += 1.0 / leg(legs, round, t).paths; });
  Eigen::ArrayXd inverse_rates = Eigen::ArrayXd::Zero(std::ssize(lengths));
  for_each_link([&](std::size_t t, std::size_t link) {
    const BytesPerSecond rate = links_[link].capacity * links_[link].congestion.left(load_[link]) / load_[link];
    double& inverse = inverse_rates[static_cast<Eigen::Index>(t)];
    inverse = std::max(inverse, 1 / rate.si());
  });
  for_each_link([&](std::size_t /*t*/, std::size_t link) { load_[link] = 0; });
  return inverse_rates;
}

/// Nothing where a link has no room for all, or a leg no link that it fills.
std::optional<Eigen::ArrayXd> RoundRates::unshared(const Legs& legs, const Round& round,
                                                   const std::vector<Bytes>& lengths) {
  if (wanted_ == NetworkSolver::simgrid) return std::nullopt;
  if (links_.empty()) links_ = routed_.fluid_links();
  for (auto* of_links : {&load_, &used_}) of_links->resize(links_.size(), 0);
  const auto for_each_leg = [&](auto visit) {
    for (std::size_t t = 0; t < lengths.size(); ++t) {
      if (lengths[t] > Bytes(0)) visit(t, leg(legs, round, t));
    }
  };
  for_each_leg([&](std::size_t /*t*/, const RoutedSchedule::Leg& own) {
    for (const int link : own.links) {
      load_[as_index(link)] += 1.0 / own.paths;
      used_[as_index(link)] += own.narrowest.si() / own.paths;
    }
  });
  bool have_room = true;
  Eigen::ArrayXd inverse_rates = Eigen::ArrayXd::Zero(std::ssize(lengths));
  for_each_leg([&](std::size_t t, const RoutedSchedule::Leg& own) {
    bool is_held = false;
    for (const int number : own.links) {
      const FluidLink& link = links_[as_index(number)];
      const double all = link.capacity.si() * link.congestion.left(load_[as_index(number)]);
      have_room = have_room && used_[as_index(number)] <= all * (1 + rate_rounding);
      is_held = is_held || used_[as_index(number)] >= all * (1 - rate_rounding);
    }
    have_room = have_room && is_held;
    inverse_rates[static_cast<Eigen::Index>(t)] = 1 / own.narrowest.si();
  });
  for_each_leg([&](std::size_t /*t*/, const RoutedSchedule::Leg& own) {
    for (const int link : own.links) load_[as_index(link)] = used_[as_index(link)] = 0;
  });
  return have_room ? std::optional(std::move(inverse_rates)) : std::nullopt;
}

int RoundRates::route_of(const Legs& legs, const Round& round, std::size_t place) {
  const RoutedSchedule::Leg& own = leg(legs, round, place);
  const auto known = [&]() -> int& {
    if (&legs != &routed_.legs(round.phase)) return routes_.try_emplace({own.links, own.paths}, -1).first->second;
    auto& of_phase = fixed_routes_[round.phase];
    of_phase.resize(legs.size(), -1);
    return of_phase[round.transfers[place]];
  };
  int& route = known();
  if (route < 0) route = network_->add_route(own.links, own.paths);
  return route;
}

void RoundRates::make_network() {
  std::size_t at_once = 0;
  for (const Phase& phase : routed_.schedule().phases) at_once = std::max(at_once, transfers_per_round(phase));
  if (links_.empty()) links_ = routed_.fluid_links();
  const NetworkSolver solver = solver_for(wanted_, 0, static_cast<std::int64_t>(at_once), std::ssize(links_));
  used_builtin_solver_ = wanted_ == NetworkSolver::as_it_pays && solver == NetworkSolver::own && has_simgrid();
  network_ = std::make_unique<FluidNetwork>(links_, routed_.parts(), solver);
}

Eigen::ArrayXd RoundRates::simulated(const Legs& legs, const Round& round, const std::vector<Bytes>& lengths) {
  if (auto alone = unshared(legs, round, lengths)) return *std::move(alone);
  if (network_ == nullptr) {
    make_network();
  } else {
    network_->restart();
  }
  for (std::size_t t = 0; t < lengths.size(); ++t) {
    if (lengths[t] == Bytes(0)) continue;
    network_->start(route_of(legs, round, t), Seconds(0), lengths[t], static_cast<int>(t));
  }
  Eigen::ArrayXd inverse_rates = Eigen::ArrayXd::Zero(std::ssize(lengths));
  network_->run([&](int t) { inverse_rates[t] = network_->now().si() / lengths[as_index(t)].si(); });
  return inverse_rates;
}

namespace {

/// A long message between nodes.
struct Long {
  Eigen::Index transfer;
  int from;
  int to;
  Seconds sending;
  Seconds latency;
};

}  // namespace

void wait_in_line(const RoutedSchedule& routed, const Round& round, const std::vector<Bytes>& bytes,
                  TransferCosts& costs) {
  const Bytes ahead = routed.handshakes()->ahead;
  std::vector<Long> messages;
  std::map<std::pair<int, int>, Seconds> between;  // by sender and receiver
  std::map<int, Seconds> before_others;            // by sender: what its answers to others wait for
  for_each_transfer(routed.schedule(), routed.schedule().phases[round.phase], round.repeat, round.transfers,
                    [&](const Transfer& transfer, std::size_t place) {
                      const auto t = static_cast<Eigen::Index>(place);
                      const RoutedSchedule::Leg leg = routed.leg(round.phase, round.transfers[place], round.repeat);
                      if (bytes[place] == Bytes(0) || !costs.waits[t] || !leg.between_nodes) return;
                      const Seconds sending(costs.sending[t]);
                      messages.push_back({t, transfer.from, transfer.to, sending, leg.latency});
                      between[{transfer.from, transfer.to}] += sending;
                      before_others[transfer.from] += std::min(ahead, bytes[place] / 2) / leg.narrowest;
                    });
  for (const Long& message : messages) {
    const auto back = between.find({message.to, message.from});
    const auto others = before_others.find(message.to);
    Seconds wait = message.latency * 2;
    if (back != between.end()) {
      wait += back->second;
    } else if (others != before_others.end()) {
      wait += others->second;
    }
    costs.sending[message.transfer] += wait.si();
  }
}

/// Without working out legs that are not known.
static BytesPerSecond reduce_rate_of(const RoutedSchedule& routed, std::size_t phase, std::size_t index) {
  if (!routed.is_routed_when_asked()) return routed.legs(phase)[index].reduce_rate;
  const Phase& pattern = routed.schedule().phases[phase];
  const Transfer& transfer = pattern.transfers[index / as_index(pattern.fan)];
  const bool reduces = transfer.action != Action::copy;
  return reduces ? routed.where()->first.transport.reduce_rate : BytesPerSecond::infinity();
}

TransferCosts transfer_costs(const RoutedSchedule& routed, const Round& round, const TransferRates& rates,
                             const ChunkSizes& sizes) {
  const auto bytes = bytes_of_round(routed, round, sizes);
  const Eigen::ArrayXd messages = messages_of_round(routed, round, sizes);
  const Eigen::Index transfers = rates.latency.size();
  TransferCosts costs = TransferCosts::of(transfers, rates.send.size() > 0);
  for (Eigen::Index t = 0; t < transfers; ++t) {
    const Bytes length = bytes[as_index(t)];
    costs.waits[t] = false;
    if (length == Bytes(0)) continue;
    const Bytes message = length / messages[t];
    const Seconds each = Seconds(rates.latency[t]) + routed.message_cost().of(message);
    costs.sending[t] = messages[t] * each.si() + length.si() * rates.inverse_rate[t];
    costs.waits[t] = !routed.message_cost().is_eager(message);
    costs.reducing[t] = (length / reduce_rate_of(routed, round.phase, round.transfers[as_index(t)])).si();
    if (!costs.are_occupied()) continue;
    const double copying = routed.message_cost().copying(message).si();
    costs.send[t] = messages[t] * (rates.send[t] + copying);
    costs.receive[t] = messages[t] * (rates.receive[t] + copying);
    costs.behind[t] = messages[t] * rates.alike[t] * (rates.receive[t] + copying);
    costs.alone[t] = messages[t] * each.si() + length.si() * rates.alone[t];
  }
  if (routed.handshakes()) wait_in_line(routed, round, bytes, costs);
  return costs;
}

bool is_unshared_pipeline(const RoutedSchedule& routed, std::size_t phase, Sharing sharing, NetworkSolver solver) {
  const Phase& pattern = routed.schedule().phases[phase];
  const bool is_plain = pattern.fan == 1 && pattern.window > 0 && !pattern.one_by_one && !pattern.transfers.empty();
  const auto adds_up = [](const RoutedSchedule::Leg& leg) { return leg.reduce_rate < BytesPerSecond::infinity(); };
  if (!is_plain || routed.has_occupancy() || routed.handshakes()) return false;
  return RoundRates(routed, sharing, solver).have_room(phase) && std::ranges::none_of(routed.legs(phase), adds_up);
}

KnownPhase unshared_pipeline(const RoutedSchedule& routed, std::size_t phase, const ChunkSizes& sizes) {
  const auto cost = [&routed, &legs = routed.legs(phase)](std::size_t index, Bytes bytes) {
    if (bytes == Bytes(0)) return std::pair(0.0, false);
    const Seconds before = legs[index].latency + routed.message_cost().of(bytes);
    return std::pair(before.si() + bytes.si() * (1 / legs[index].narrowest.si()),
                     !routed.message_cost().is_eager(bytes));
  };
  return {routed.schedule(), routed.schedule().phases[phase], sizes, cost};
}

}}  // namespace farandole::simulate
