// Runs the iterations of a training job for real, on one rank of many: the Executor whose clock is on the wall.
//
// Layers are timed waits of the length that the job gives them, by this rank's factor; gradients travel as the strategy
// decides, by schedules with real messages and real sums, while layers go on. Every rank has one Replay and its own
// copy of the strategy, which hears of this rank alone: all elements of the RankTimes it is given are this rank's
// moment. Where ranks have to agree (`negotiates`), they do by messages (agreement.hpp).
//
// Called by scenario/replay.hpp. Moments are on this rank's clock, which starts when all ranks have met.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "backend/backend.hpp"
#include "backend/replay/agreement.hpp"
#include "backend/replay/communication_stream.hpp"
#include "timeline/timeline.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/job.hpp"
#include "training/strategy.hpp"
#include "training/variability.hpp"

namespace farandole {

/// What a replay runs. The references must outlive it.
struct ReplaySite {
  const Job& job;
  const Variability& variability;
  Strategy& strategy;
  CommunicationStream::ScheduleOf schedule_of;
  bool negotiates = false;
  InputPipeline* input = nullptr;  // null: batches are always there
  Timeline* timeline = nullptr;    // null: nothing is recorded
  int streams = 1;                 // they take work in turn, so that all ranks agree on which takes what
};

/// When this rank passed the stations of one iteration.
struct LocalIteration {
  Seconds start;  // the iteration before is over
  Seconds fed;
  Seconds compute_begin;
  Seconds compute_end;
  Seconds synchronised;
  Seconds end;
  std::vector<LocalTimes> communications;  // in the order in which they were enqueued
};

class Replay final : public Executor {
 public:
  /// All ranks make one at the same time. The session must outlive it.
  Replay(ReplaySite site, Session& session);

  LocalIteration run_iteration();
  /// After the last iteration, on every rank.
  void close();

  /// Data of the iterations to come is checked, at a cost of time, or not.
  void check_data(bool yes);
  /// Elements of this rank that were not as they should be, so far.
  [[nodiscard]] std::int64_t wrong() const;

  [[nodiscard]] Seconds now() const override { return clock_.now(); }
  void wake_at(Seconds when) override;
  void compute_from(RankTimes moments) override;
  int enqueue(CommunicationWork work) override;

 private:
  enum class Kind : std::uint8_t { announced, ready, timer };
  struct Event {
    Seconds when;
    std::int64_t order;
    Kind kind;
    int index;
    [[nodiscard]] bool operator>(const Event& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };

  [[nodiscard]] RankTimes here(Seconds moment) const { return all_at(ranks_, moment); }
  [[nodiscard]] bool is_over() const;
  void schedule(Seconds when, Kind kind, int index);
  /// Does what can be done now, or waits for what is next, at the latest until then.
  void step(Seconds until);
  void wait_until(Seconds moment);
  bool advance_streams();
  bool deliver_due();
  void deliver(const Event& event);
  void announce(int gradient);
  bool follow_agreement();
  void ring();
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
  std::int64_t delivered_ = 0;  // announcements, since the start
  int awaited_rings_ = 0;       // timers of this rank that rank 0 lets ring
  bool is_checked_ = false;

  int iteration_ = 0;
  double factor_ = 1;  // of this rank's compute, in this iteration
  int undelivered_ = 0;
  LocalIteration current_;
  std::optional<Seconds> compute_begin_;
};

}  // namespace farandole
