// One communication stream of one rank, for real: what is enqueued is carried out one after the other.
//
// An item waits for its data, is copied in, carried out by its schedule's messages with real sums, and copied out.
// Copies are timed waits, since they stand for a device's work. Called by backend/replay/replay.hpp, which keeps
// calling `advance`; nothing here waits. Sizes are rounded down to whole floats.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "backend/interpreter.hpp"
#include "backend/replay/wall_clock.hpp"
#include "collective/schedule.hpp"
#include "engine/task.hpp"

namespace farandole {

/// TaskTimes of one rank.
struct LocalTimes {
  Seconds begin;
  Seconds reducing;
  Seconds reduced;
  Seconds end;
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
  std::vector<double> everyones(double number) override { return all_.everyones(number); }

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

}  // namespace farandole
