// The event loop: simulated time, the ranks' compute and communication streams, one iteration after another.
//
// Deterministic: events at the same moment are delivered in the order they were scheduled. What differs between ranks
// is carried in arrays (RankTimes); nothing is done once per rank that can be done once for all.
#pragma once

#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "simulate/collective_clock.hpp"
#include "simulate/device_share.hpp"
#include "simulate/iteration.hpp"
#include "simulate/shared_streams.hpp"
#include "timeline/timeline.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/job.hpp"
#include "training/strategy.hpp"
#include "training/variability.hpp"

namespace farandole {

/// How often collectives of an operation and a size were started.
using CollectiveCounts = std::map<std::pair<Operation, Bytes>, double>;

/// The clock of what is to be done; must outlive the simulation.
using ClockOf = std::function<CollectiveClock&(const CommunicationWork&)>;

/// A collective of an iteration: when its last rank began it and when the last ended, since the iteration began.
struct CollectiveSpan {
  Operation operation;
  Bytes size;
  Seconds begin;
  Seconds end;
};

struct IterationProfile {
  Seconds duration;
  std::vector<CollectiveSpan> collectives;
};

class Simulation final : public Executor {
 public:
  /// `launch`: what starting a collective costs. `timeline` may be null. The references must outlive the simulation.
  Simulation(const Job& job, const Variability& variability, Strategy& strategy, ClockOf clock_of, int ranks,
             Seconds launch, Timeline* timeline);
  /// One clock times every operation.
  Simulation(const Job& job, const Variability& variability, Strategy& strategy, CollectiveClock& clock, int ranks,
             Seconds launch, Timeline* timeline);

  /// Iterations start when their batch is there; without this, input is free. `input` must outlive the simulation.
  void feed_from(InputPipeline& input) { input_ = &input; }
  /// Several streams in place of one. `streams` must outlive the simulation, and no collective takes compute then.
  void communicate_over(SharedStreams& streams) { streams_ = &streams; }
  /// What a running collective takes of a device's compute rate, from 0 to below 1.
  void take_from_compute(double share) { device_share_ = DeviceShare(share); }

  Iteration run_iteration();

  [[nodiscard]] Seconds now() const override { return now_; }
  void wake_at(Seconds when) override;
  void compute_from(RankTimes moments) override;
  int enqueue(CommunicationWork work) override;

  /// Of the strategy, where it tunes itself; else null.
  [[nodiscard]] const Tuning* tuning() const { return strategy_.tuning(); }

  /// Of the last iteration.
  [[nodiscard]] std::vector<PathStep> last_critical_path() const { return critical_path(moments_, communications_); }

  /// Of the last iteration.
  [[nodiscard]] IterationProfile last_profile() const;

  /// Of all iterations so far.
  [[nodiscard]] const CollectiveCounts& collectives() const { return counts_; }

  /// Whether there were collectives, and all of them were folded.
  [[nodiscard]] bool folded() const { return collectives_ > 0 && folded_ == collectives_; }

 private:
  enum class Kind : std::uint8_t { announced, ready, timer, communicated };
  struct Event {
    Seconds when;
    std::int64_t order;
    Kind kind;
    int index;
    [[nodiscard]] bool operator>(const Event& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  void schedule(Seconds when, Kind kind, int index);
  void schedule_gradients();
  /// When each rank has computed so much of the iteration, as far as communication is known by now.
  [[nodiscard]] RankTimes computed(Seconds nominal) const;
  void deliver(const Event& event);
  [[nodiscard]] bool iteration_is_over() const;
  void run_events();
  void run_events_over_streams();
  void deliver_ready(int gradient);
  void note_span(int number, const CommunicationTimes& times);
  [[nodiscard]] Iteration close_iteration(Seconds before, const RankTimes& backward_end);

  const Job& job_;
  const Variability& variability_;
  Strategy& strategy_;
  ClockOf clock_of_;
  Seconds launch_;
  Timeline* timeline_;
  InputPipeline* input_ = nullptr;
  SharedStreams* streams_ = nullptr;
  DeviceShare device_share_;

  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<int, Event> called_;  // with several streams, in place of events_: by what was asked of them
  std::int64_t scheduled_ = 0;
  int collectives_ = 0;
  CollectiveCounts counts_;
  std::vector<CollectiveSpan> spans_;  // of this iteration, since the start of the run
  int folded_ = 0;                     // of them
  Seconds now_;
  int iteration_ = 0;
  int undelivered_gradients_ = 0;
  RankTimes begin_;                                 // of this iteration
  RankTimes compute_begin_;                         // of its forward pass; empty until the strategy lets it
  RankTimes factors_;                               // of this iteration
  RankTimes stream_free_;                           // communication stream
  std::vector<CommunicationTimes> communications_;  // of this iteration, by number
  IterationMoments moments_;                        // of the last iteration
  std::vector<Busy> busy_;                          // all ranks taking part, one per communication that is over
};

}  // namespace farandole
