// How gradients travel: a state machine that hears what happens and issues communication.
//
// An iteration goes: `begin`, which sees to it that the ranks are let compute (Executor::compute_from) at once or
// later, then for every gradient in backward order `on_announced` (the framework's host thread has
// queued the kernels that compute it) and `on_ready` (the device has computed it), with timers and finished
// communication in between. The iteration's update starts on each rank when `synchronised` holds for it. Moments in
// events are per rank; an event is delivered at the latest of them.
#pragma once

#include <optional>

#include "timeline/tuning.hpp"
#include "training/executor.hpp"

namespace farandole {

class Strategy {
 public:
  virtual ~Strategy() = default;

  /// `moments`: when each rank is free and has its batch.
  virtual void begin(Executor& executor, const RankTimes& moments) = 0;
  virtual void on_announced(Executor& executor, int gradient, const RankTimes& moments) = 0;
  virtual void on_ready(Executor& executor, int gradient, const RankTimes& moments) = 0;
  virtual void on_timer(Executor& executor) = 0;
  virtual void on_communicated(Executor& executor, int work, const CommunicationTimes& times) = 0;

  /// Once every gradient of this iteration is averaged everywhere: when each rank got its last one.
  [[nodiscard]] virtual std::optional<RankTimes> synchronised() const = 0;

  /// Of a strategy that tunes itself, how far it is; null for others.
  [[nodiscard]] virtual const Tuning* tuning() const { return nullptr; }
};

}  // namespace farandole
