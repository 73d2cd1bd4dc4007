#include "study/point_timer.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <string_view>

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include "scenario/budget.hpp"

namespace farandole { inline namespace study {
namespace {

// A handler finds nothing else.
Seconds time_of_budget = Seconds::infinity();
std::string refusal_of_budget;

/// Nothing but write and _exit may be called here.
void end_program(int signal) {
  const bool is_beyond_budget = signal == SIGPROF;
  const std::string_view line = is_beyond_budget ? std::string_view(refusal_of_budget)
                                                 : "farandole: a point took longer than --point-timeout allows\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(is_beyond_budget ? 2 : 1);  // ends a program whose point hangs
}

void on(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // NOLINT: a macro of the system's
  ::sigaction(signal, &action, nullptr);
}

void set_timer(decltype(ITIMER_REAL) which, Seconds time) {
  constexpr double shortest = 1e-3;  // 0 would be no timer
  constexpr double longest = 1e8;
  const double seconds = std::clamp(time / Seconds(1), shortest, longest);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setitimer(which, &timer, nullptr);
}

}  // namespace

PointTimer::PointTimer(Seconds limit, Where where) {
  const auto set = [&](int signal, decltype(ITIMER_REAL) which, Seconds time) {
    if (time == Seconds::infinity()) return;
    on(signal, where == Where::program ? end_program : SIG_DFL);
    set_timer(which, time);
  };
  set(SIGALRM, ITIMER_REAL, limit);
  set(SIGPROF, ITIMER_PROF, time_of_budget);
}

PointTimer::~PointTimer() {
  const itimerval none{};
  ::setitimer(ITIMER_REAL, &none, nullptr);
  ::setitimer(ITIMER_PROF, &none, nullptr);
}

void end_beyond(Seconds processor_time, const std::string& file) {
  time_of_budget = processor_time;
  refusal_of_budget = fmt::format(
      "{}: expected what a --budget of {} allows, got a point that takes more time of a "
      "processor; --budget \"{}\" lets it go on\n",
      file, about(processor_time), about(10 * processor_time));
}

std::string beyond_budget() {
  return refusal_of_budget.substr(0, refusal_of_budget.size() - 1);
}

}}  // namespace farandole::study
