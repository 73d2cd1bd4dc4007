// What one round of each transfer of a phase costs, by closed form or by asking a network for the rates:
//
//   sending(t) = messages(t) * latency(t) + bytes(t) * inverse_rate(t), and nothing where there is nothing to send
//   reducing(t) = bytes(t) / reduce rate, where the receiver reduces and that costs something (gamma)
//
// with one message but for what is sent one by one; a transfer waits for its receiver where its messages are not eager.
// Reducing comes after sending, in series: it begins when all of the transfer is there. It takes the receiver's time,
// not the links', and what arrives together is reduced one after the other (simulate/recurrence.hpp, and likewise
// message by message).
//
// Rates are those of all transfers of the round under way at once. They depend on how long these are beside one
// another, which is the same for every size; so they are asked for once, for chunks of about a GiB. In a phase of
// several repeats, chunks that differ by a byte are all counted as the longest, which is exact for a ring's makespan,
// whose longest chunk travels through every round. Where repeats differ by more, in their receivers or in chunks of
// given weights, every repeat has costs of its own. In a pipeline
// (a phase with a window) every repeat has the costs of what takes part in it: few while it fills and drains.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collective/chunk_sizes.hpp"
#include "simulate/recurrence.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

/// A repeat of a phase, and the transfers of it that are looked at, by for_each_transfer's index.
struct Round {
  std::size_t phase;
  int repeat;
  std::span<const std::size_t> transfers;
};

/// Per transfer of a round.
struct TransferRates {
  Eigen::ArrayXd latency;       // seconds
  Eigen::ArrayXd inverse_rate;  // seconds per byte; 0 for what sends nothing, whatever the size
  // Where messages keep processors busy, else empty: seconds by each message, how many others alike its receiver has at
  // the same moment, and seconds per byte with the links for itself.
  Eigen::ArrayXd send{};
  Eigen::ArrayXd receive{};
  Eigen::ArrayXd alike{};
  Eigen::ArrayXd alone{};
};

/// Of all transfers of a repeat.
std::vector<RoutedSchedule::Leg> legs_of_round(const RoutedSchedule& routed, std::size_t phase, int repeat);

/// Fills in what the legs of a round say of processors.
void occupy(TransferRates& rates, const std::vector<RoutedSchedule::Leg>& legs);

/// Whether one repeat of the phase costs something else than another.
bool costs_vary(const RoutedSchedule& routed, std::size_t phase);

/// Bytes of every transfer of a round: of this repeat where costs vary or there is only one, else the most they can be;
/// none of those that do not take part.
std::vector<Bytes> bytes_of_round(const RoutedSchedule& routed, const Round& round, const ChunkSizes& sizes);

enum class Sharing : std::uint8_t {
  /// The rate is the smallest capacity at that load / load over the links of the way (the contention factor of the most
  /// loaded
  /// link);
  /// the load is that of all transfers of the round, each as often as it crosses the link over one of its paths.
  by_load,
  /// The rate is what a FluidNetwork gives one flow per pair, all started together, over its whole length. It is not
  /// asked where links have room for all of them at the rates that they would have alone, which they then get.
  simulated
};

/// The rates of one round after another. Holds a network while it lives, if it simulates. `routed` must outlive it.
class RoundRates {
 public:
  RoundRates(const RoutedSchedule& routed, Sharing sharing, NetworkSolver solver);
  RoundRates(const RoundRates&) = delete;
  RoundRates& operator=(const RoundRates&) = delete;

  /// That take part in a repeat; valid until the next call.
  std::span<const std::size_t> transfers(std::size_t phase, int repeat);
  /// Which repeat matters where costs vary.
  TransferRates of(const Round& round);
  /// Whether links have room for all transfers of a phase at once, and so for fewer, at the rates of being alone.
  bool have_room(std::size_t phase);
  /// Whether our own solver took SimGrid's place unasked.
  [[nodiscard]] bool used_builtin_solver() const { return used_builtin_solver_; }

 private:
  using Legs = std::vector<RoutedSchedule::Leg>;
  /// `legs`: of the round's transfers, or where receivers stay those of all transfers of the phase.
  [[nodiscard]] const RoutedSchedule::Leg& leg(const Legs& legs, const Round& round, std::size_t place) const;
  [[nodiscard]] Eigen::ArrayXd shared(const Legs& legs, const Round& round, const std::vector<Bytes>& lengths);
  std::optional<Eigen::ArrayXd> unshared(const Legs& legs, const Round& round, const std::vector<Bytes>& lengths);
  Eigen::ArrayXd simulated(const Legs& legs, const Round& round, const std::vector<Bytes>& lengths);
  int route_of(const Legs& legs, const Round& round, std::size_t place);

  const RoutedSchedule& routed_;
  Sharing sharing_;
  NetworkSolver wanted_;
  bool used_builtin_solver_ = false;
  bool occupied_;
  void make_network();

  std::map<std::size_t, Participants> participants_;  // by phase
  std::unique_ptr<FluidNetwork> network_;
  std::map<std::pair<std::vector<int>, int>, int> routes_;  // by links and paths
  std::map<std::size_t, std::vector<int>> fixed_routes_;    // by phase, of its legs; -1: not yet
  std::vector<FluidLink> links_;
  std::vector<double> load_;  // per link, zero between two calls
  std::vector<double> used_;  // likewise
};

/// Of the round's transfers; so are `rates`.
TransferCosts transfer_costs(const RoutedSchedule& routed, const Round& round, const TransferRates& rates,
                             const ChunkSizes& sizes);

/// What handshakes that queue behind data (Handshakes of platform/platform.hpp) cost a round of long messages, in
/// closed form: what message by message comes out in the mean. Lengthens `sending` of every long message between nodes
/// by its handshake and what the answer stands behind:
///
///   what its receiver sends its sender in this round, if that is a long message (they go one after the other);
///   else of each long message that its receiver sends, what has gone half of the time: min(ahead, bytes / 2) / rate.
///
/// `bytes` are those of the round's transfers; `routed` must have handshakes, and one rank per rank (no folded
/// network).
void wait_in_line(const RoutedSchedule& routed, const Round& round, const std::vector<Bytes>& bytes,
                  TransferCosts& costs);

/// Whether a phase is a pipeline in which every transfer has, in all repeats, the rate that it would have alone: not
/// where links have no room for that, something is added up at a cost, or processors are kept busy.
bool is_unshared_pipeline(const RoutedSchedule& routed, std::size_t phase, Sharing sharing, NetworkSolver solver);
/// Such a one.
KnownPhase unshared_pipeline(const RoutedSchedule& routed, std::size_t phase, const ChunkSizes& sizes);

}}  // namespace farandole::simulate
