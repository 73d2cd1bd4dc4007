// How gradients travel: a state machine that adds tasks and is told what happens.
//
// A strategy of collectives goes iteration by iteration: `begin` adds the tasks that need nothing else, and `on` what
// follows from what has happened; the iteration's update starts on each rank when `synchronised` holds for it. A
// strategy of servers, whose workers act each on its own, begins once and goes through its iterations by itself.
// Moments in what it is told are per rank; it is told at the latest of them.
#pragma once

#include <optional>
#include <span>

#include "engine/engine.hpp"
#include "engine/iteration.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace training {

class Strategy {
 public:
  virtual ~Strategy() = default;

  /// `moments`: when each rank is free and has its batch.
  virtual void begin(Engine& engine, const RankTimes& moments) = 0;
  virtual void on(Engine& engine, const Happening& happening) = 0;

  /// Once every gradient of this iteration is averaged everywhere: when each rank got its last one.
  [[nodiscard]] virtual std::optional<RankTimes> synchronised() const = 0;

  /// When, in this iteration, ranks had announced what they had not yet agreed on; by their begin.
  [[nodiscard]] virtual std::span<const Busy> negotiated() const { return {}; }

  /// Of a strategy that tunes itself, how far it is; null for others.
  [[nodiscard]] virtual const Tuning* tuning() const { return nullptr; }
};

}}  // namespace farandole::training
