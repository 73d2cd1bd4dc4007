// How ranks agree on what a negotiating strategy decides: rank 0 decides, the others follow.
//
// Every rank runs its own copy of the strategy. What such a copy decides depends on which gradients all ranks have
// announced when a timer rings, so rank 0 settles that for all: the others tell it what they announce, and it tells
// them, whenever one of its timers rings, how many gradients had been announced by then. They deliver as many to their
// copy of the strategy and let its next timer ring; so all copies hear the same, in the same order, and decide alike.
// These are real messages, which stand for the framework's own.
//
// Gradients are announced in the same order on all ranks, so they are counted, from the start of the replay on.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "backend/endpoint.hpp"

namespace farandole {

class Agreement {
 public:
  /// Two channels that nobody else uses.
  Agreement(std::unique_ptr<Endpoint> to_leader, std::unique_ptr<Endpoint> from_leader);

  [[nodiscard]] bool leads() const { return to_leader_->rank() == 0; }
  /// This rank announces its next gradient.
  void announce();
  /// Hears what has come.
  void listen();

  /// Rank 0: how many gradients all ranks have announced, as far as it has heard. Others: how many they may deliver
  /// before rank 0's next timer, or all that are known to come before it.
  [[nodiscard]] std::int64_t announced() const;

  /// Rank 0: its timer has rung after so many announcements were delivered.
  void ring(std::int64_t delivered);
  /// Others: whether rank 0's next timer has rung; `take_ring` goes on to the one after.
  [[nodiscard]] bool has_rung() const { return !rings_.empty(); }
  void take_ring();

  /// Ends the conversation on every rank, with no message left behind.
  void close();

 private:
  [[nodiscard]] Endpoint& incoming() { return leads() ? *to_leader_ : *from_leader_; }
  [[nodiscard]] Endpoint& outgoing() { return leads() ? *from_leader_ : *to_leader_; }
  void expect();
  void tell(Endpoint& endpoint, int to, std::int64_t number);

  std::unique_ptr<Endpoint> to_leader_;
  std::unique_ptr<Endpoint> from_leader_;
  std::vector<float> heard_;  // what is coming next: from each rank, or from rank 0
  std::deque<float> sent_;    // until it is on its way
  std::int64_t own_ = 0;      // announced by this rank
  std::int64_t others_ = 0;   // rank 0: announced by every other rank
  std::int64_t settled_ = 0;  // others: the last count of rank 0 that was taken
  std::deque<std::int64_t> rings_;
  bool is_over_ = false;
};

}  // namespace farandole
