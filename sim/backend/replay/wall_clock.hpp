// The clock of a replay: real time since all ranks met.
#pragma once

#include <chrono>

#include "units/quantity.hpp"

namespace farandole {

class WallClock {
 public:
  /// It is 0 now.
  void start() { zero_ = Clock::now(); }
  [[nodiscard]] Seconds now() const { return Seconds(std::chrono::duration<double>(Clock::now() - zero_).count()); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point zero_ = Clock::now();
};

}  // namespace farandole
