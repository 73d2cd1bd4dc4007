// The clock of `message`: every transfer of every round goes through SimGrid.
//
// A rank enters a round when its own transfers of the round before, sent and received, are done, and then sends at once
// (eager); what arrives early waits for its round. Transfers of empty chunks are not sent and count as done when their
// sender enters the round. Cost: one SimGrid flow per transfer and round.
//
// The network is made at the first collective and kept for the following ones, since SimGrid gets slower with every
// engine a process has had; so only one message clock may be in use at a time (simulate/fluid_network.hpp).
#pragma once

#include <memory>
#include <vector>

#include "simulate/collective_clock.hpp"

namespace farandole {

class FluidNetwork;

class MessageClock final : public CollectiveClock {
 public:
  explicit MessageClock(RoutedSchedule routed);
  ~MessageClock() override;

  /// Throws InvariantError when a byte that was sent is not received or a rank never finishes.
  RankTimes finish(Bytes size, const RankTimes& start) override;

 private:
  class Run;

  void build_network();

  /// A transfer of any phase, numbered through.
  struct Numbered {
    std::size_t phase;
    std::size_t position;  // within the phase
  };
  struct OfRank {
    std::vector<int> sends;
    std::vector<int> all;  // sent and received
  };

  RoutedSchedule routed_;
  std::vector<Numbered> transfers_;
  std::vector<std::vector<OfRank>> of_rank_;  // [phase][rank]
  std::unique_ptr<FluidNetwork> network_;
  std::vector<int> routes_;  // per transfer
};

}  // namespace farandole
