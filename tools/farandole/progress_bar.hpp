// A progress bar with the time left, on stderr.
//
// Used by commands that run many points, where stderr is a terminal.
#pragma once

#include <chrono>

namespace farandole {

class ProgressBar {
 public:
  /// Draws; never more than ten times a second but for the last.
  void show(int done, int all);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_{};
  int before_ = -1;  // points that were done when it was first shown
};

}  // namespace farandole
