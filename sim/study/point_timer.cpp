#include "study/point_timer.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <string_view>

#include <sys/time.h>
#include <unistd.h>

namespace farandole { inline namespace study {
namespace {

/// Nothing but write and _exit may be called here.
void end_program(int /*signal*/) {
  constexpr std::string_view line = "farandole: a point took longer than --point-timeout allows\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(1);  // ends a program whose point hangs
}

void set_timer(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

PointTimer::PointTimer(Seconds limit, Where where) {
  if (limit == Seconds::infinity()) return;
  struct sigaction action {};
  action.sa_handler = where == Where::program ? end_program : SIG_DFL;  // NOLINT: a macro of the system's
  ::sigaction(SIGALRM, &action, nullptr);
  constexpr double shortest = 1e-3;  // 0 would be no timer
  constexpr double longest = 1e8;
  set_timer(std::clamp(limit / Seconds(1), shortest, longest));
}

PointTimer::~PointTimer() {
  set_timer(0);
}

}}  // namespace farandole::study
