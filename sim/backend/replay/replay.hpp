// Runs the iterations of a training job for real, on one rank of many: the engine whose clock is on the wall.
//
// Computation is a timed wait of the length that the strategy gives it, by this rank's factor; gradients travel as the
// strategy decides, by schedules with real messages and real sums, while layers go on. Every rank has one Replay and
// its own copy of the strategy, which hears of this rank alone: all elements of the RankTimes it is given are this
// rank's moment. Where ranks have to agree (`negotiates`), they do by messages (communication_stream.hpp).
//
// Called by `farandole bench`. Moments are on this rank's clock, which starts when all ranks have met.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "backend/backend.hpp"
#include "backend/endpoint.hpp"
#include "backend/replay/communication_stream.hpp"
#include "engine/engine.hpp"
#include "engine/iteration.hpp"
#include "timeline/timeline.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/job.hpp"
#include "training/strategy.hpp"
#include "training/variability.hpp"

namespace farandole { inline namespace backend {

/// What a replay runs. The references must outlive it.
struct ReplaySite {
  const Job& job;
  const Variability& variability;
  Strategy& strategy;
  GroupSchedules schedules;
  bool negotiates = false;
  InputPipeline* input = nullptr;  // null: batches are always there
  Timeline* timeline = nullptr;    // null: nothing is recorded
  int streams = 1;  // they take work in turn, so that all ranks agree on which takes what; one more among replicas
};

/// When this rank passed the stations of one iteration.
struct LocalIteration {
  Seconds start;  // the iteration before is over
  Seconds fed;
  std::vector<Busy> computed;  // the tasks of the compute stream
  Seconds synchronised;
  Seconds end;
  std::vector<LocalTimes> communications;  // in the order in which they were added
  std::vector<Busy> negotiated{};          // Strategy::negotiated
};

class Replay final : public Engine {
 public:
  /// All ranks make one at the same time. The session must outlive it.
  Replay(ReplaySite site, Session& session);

  LocalIteration run_iteration();
  /// After the last iteration, on every rank.
  void close() {
    if (agreement_) agreement_->close();
  }

  /// Data of the iterations to come is checked, at a cost of time, or not.
  void check_data(bool yes);
  /// Elements of this rank that were not as they should be, so far.
  [[nodiscard]] std::int64_t wrong() const;

  [[nodiscard]] Seconds now() const override { return clock_.now(); }
  void call_at(Seconds when, Note note) override;
  TaskId add(Task task) override;

 private:
  enum class Kind : std::uint8_t { announced, passed, timer, computed };
  struct Event {
    Seconds when;
    std::int64_t order;
    Kind kind;
    Note note;
    TaskId task;
    [[nodiscard]] bool operator>(const Event& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };

  [[nodiscard]] RankTimes here(Seconds moment) const { return all_at(ranks_, moment); }
  [[nodiscard]] bool is_over() const;
  struct Item {
    Task task;
    int missing = 0;  // of what it comes after
    bool is_done = false;
    Seconds end{};
    std::size_t number = 0;  // among the computed or the communications of the iteration
    std::vector<TaskId> next{};
  };
  void schedule(Seconds when, Kind kind, Note note, TaskId task = -1);
  /// Lets begin what stands first in line.
  void advance(Stream stream);
  void begin_compute(TaskId id);
  void begin_collective(TaskId id);
  void finish(TaskId id, const TaskTimes& times);
  [[nodiscard]] Seconds earliest_of(const Item& item) const;
  [[nodiscard]] TaskTimes here(const LocalTimes& times) const { return {here(times.begin), here(times.end), times}; }
  /// Does what can be done now, or waits for what is next, at the latest until then.
  void step(Seconds until);
  void wait_until(Seconds moment);
  bool advance_streams();
  bool deliver_due();
  void deliver(const Event& event);
  void announce(Note note);
  bool follow_agreement();
  void ring(Note note);
  void expect_something(Seconds next) const;
  CommunicationStream& stream(int number);
  [[nodiscard]] Seconds next_moment() const;
  LocalIteration close_iteration();

  ReplaySite site_;
  Session& session_;
  int rank_;
  int ranks_;
  WallClock clock_;
  std::map<int, CommunicationStream> streams_;
  std::optional<Agreement> agreement_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::int64_t scheduled_ = 0;
  std::int64_t delivered_ = 0;       // announcements, since the start
  std::deque<Note> awaited_timers_;  // timers of this rank that rank 0 lets ring
  bool is_checked_ = false;

  int iteration_ = 0;
  double factor_ = 1;    // of this rank's compute, in this iteration
  int undelivered_ = 0;  // marks
  int unfinished_ = 0;   // computations
  LocalIteration current_;
  std::vector<Item> items_;  // of this iteration
  std::array<std::deque<TaskId>, farandole::streams> lines_;
  bool is_computing_ = false;
  std::vector<TaskId> of_communication_;  // by number
  std::deque<Note> announcements_;        // that the host has made, in order
};

// What all ranks measured in an iteration, put together as the event loop does with simulated moments.

/// Every rank calls it with its own; all get the same. `before`: when the last rank ended the iteration before.
Iteration iteration_of_all(Endpoint& endpoint, const LocalIteration& own, Seconds before);

/// When the last rank was there.
Seconds last_of_all(Endpoint& endpoint, Seconds own);

}}  // namespace farandole::backend
