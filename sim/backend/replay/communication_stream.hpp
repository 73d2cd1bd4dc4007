// One communication stream of one rank, for real: what is enqueued is carried out one after the other.
//
// An item waits for its data, is copied in, carried out by its schedule's messages with real sums, and copied out.
// Copies are timed waits, since they stand for a device's work. Called by backend/replay/replay.hpp, which keeps
// calling `advance`; nothing here waits. Sizes are rounded down to whole floats.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "backend/endpoint.hpp"
#include "backend/interpreter.hpp"
#include "collective/schedule.hpp"
#include "engine/task.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace backend {

// The clock of a replay: real time since all ranks met.

class WallClock {
 public:
  /// It is 0 now.
  void start() { zero_ = Clock::now(); }
  [[nodiscard]] Seconds now() const { return Seconds(std::chrono::duration<double>(Clock::now() - zero_).count()); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point zero_ = Clock::now();
};

/// Of one rank.
struct LocalTimes : Stages {
  Operation operation = Operation::allreduce;
};

/// The ranks of a group by themselves, numbered from 0; those of the same group call it alike.
class GroupEndpoint final : public Endpoint {
 public:
  /// `members`: ranks of `all`, this one among them.
  GroupEndpoint(Endpoint& all, std::vector<int> members);
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return static_cast<int>(members_.size()); }
  DataPlace& place() override { return all_.place(); }
  void send(std::span<const float> data, int to) override { all_.send(data, member(to)); }
  void receive(std::span<float> data, int from) override { all_.receive(data, member(from)); }
  void wait() override { all_.wait(); }
  bool is_done() override { return all_.is_done(); }
  void idle(Seconds at_most) override { all_.idle(at_most); }
  /// Of all ranks of the job.
  std::vector<double> allgather_scalar(double number) override { return all_.allgather_scalar(number); }

 private:
  [[nodiscard]] int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  Endpoint& all_;
  std::vector<int> members_;
  int rank_;
};

/// How collectives of a group are carried out: the ranks of that group that this one is in, and by which schedule.
struct GroupSchedules {
  std::function<Schedule(Operation, Group)> schedule_of;
  std::function<std::vector<int>(Group)> members_of{};  // empty: all ranks are one group
};

class CommunicationStream {
 public:
  /// `clock` must outlive it.
  CommunicationStream(std::unique_ptr<Endpoint> endpoint, GroupSchedules schedules, const WallClock& clock);

  /// `earliest`: before which this rank does not begin.
  void enqueue(int number, const Collective& work, Seconds earliest);

  struct Finished {
    int number;
    LocalTimes times;
  };
  /// Goes on as far as it can; the first item that is finished meanwhile, if any.
  std::optional<Finished> advance();

  [[nodiscard]] bool is_idle() const { return items_.empty(); }
  /// Before which nothing happens but the arrival of messages.
  [[nodiscard]] Seconds next_moment() const;

  /// From now on, what a collective leaves is checked; without it, buffers keep what is in them.
  void check_data(bool yes) { is_checked_ = yes; }
  /// Elements of this rank that were not as promised.
  [[nodiscard]] std::int64_t wrong() const { return wrong_; }

 private:
  enum class Stage : std::uint8_t { waiting, copying_in, reducing, copying_out };
  struct Item {
    int number;
    Collective work;
    Seconds earliest;
    LocalTimes times;
  };
  struct Carrier {
    Endpoint* endpoint;  // of the group
    Schedule layout;
    std::int64_t floats;  // as the operation counts them
    Interpreter interpreter;
    std::int64_t room;  // of the buffer
  };

  Endpoint& endpoint_of(Group group);
  Carrier& carrier_of(const Collective& work);
  void start_reducing(const Item& item);
  void check(const Item& item);

  std::unique_ptr<Endpoint> endpoint_;
  GroupSchedules schedules_;
  std::map<Group, GroupEndpoint> groups_;
  const WallClock& clock_;
  std::deque<Item> items_;
  Stage stage_ = Stage::waiting;  // of the first
  std::map<std::tuple<Operation, Group, std::int64_t>, Carrier> carriers_;
  Room buffer_;
  bool is_checked_ = false;
  std::int64_t wrong_ = 0;
};

// How ranks agree on what a negotiating strategy decides: rank 0 decides, the others follow.
//
// Every rank runs its own copy of the strategy. What such a copy decides depends on which gradients all ranks have
// announced when a timer rings, so rank 0 settles that for all: the others tell it what they announce, and it tells
// them, whenever one of its timers rings, how many gradients had been announced by then. They deliver as many to their
// copy of the strategy and let its next timer ring; so all copies hear the same, in the same order, and decide alike.
// These are real messages, which stand for the framework's own.
//
// Gradients are announced in the same order on all ranks, so they are counted, from the start of the replay on.

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
  /// Others: whether rank 0's next timer has rung; `take_timer` goes on to the one after.
  [[nodiscard]] bool has_fired() const { return !timers_.empty(); }
  void take_timer();

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
  std::deque<std::int64_t> timers_;
  bool is_over_ = false;
};

}}  // namespace farandole::backend
