// The clock of `message`: every transfer of every round goes through SimGrid.
//
// A rank enters a round when its own transfers of the round before, sent and received, are done, and then sends at once
// (eager); what arrives early waits for its round. Transfers of empty chunks are not sent and count as done when their
// sender enters the round. Cost: one SimGrid flow per transfer and round.
#pragma once

#include <vector>

#include "simulate/collective_clock.hpp"

namespace farandole {

class MessageClock final : public CollectiveClock {
 public:
  explicit MessageClock(RoutedSchedule routed);

  /// Throws InvariantError when a byte that was sent is not received or a rank never finishes.
  RankTimes finish(Bytes size, const RankTimes& start) override;

 private:
  class Run;

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
};

}  // namespace farandole
