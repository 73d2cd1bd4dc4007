// Loaded before the C library (LD_PRELOAD), for tests/faults/faults.py: a clock that jumps.
//
//   FARANDOLE_FAULT_CLOCK    realtime or monotonic
//   FARANDOLE_FAULT_AT       number of the call from which on it is ahead, from 1
//   FARANDOLE_FAULT_SECONDS  by so many; less than 0: it is behind
//   FARANDOLE_FAULT_LOG      a file that takes a line when it jumps
//
// Under Open MPI it acts in rank 0 only, or in rank FARANDOLE_FAULT_RANK.
#include <atomic>
#include <ctime>

#include <sys/time.h>

#include "faults/layer.hpp"

namespace {

/// Seconds that a clock is ahead by at this call.
long ahead(const char* clock) {
  static const bool jumps = fault_layer::acts_here();
  static const std::string& chosen = *new std::string(fault_layer::variable("FARANDOLE_FAULT_CLOCK"));
  static const long first = fault_layer::number("FARANDOLE_FAULT_AT");
  static const long seconds = fault_layer::number("FARANDOLE_FAULT_SECONDS");
  static std::atomic<long> calls{0};
  if (!jumps || chosen != clock) return 0;
  const long call = ++calls;
  if (call == first) fault_layer::append_line(fault_layer::variable("FARANDOLE_FAULT_LOG"), "jumped\n");
  return call >= first ? seconds : 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int status = NEXT(clock_gettime)(clock, time);
  time->tv_sec += ahead(clock == CLOCK_REALTIME ? "realtime" : "monotonic");
  return status;
}

int gettimeofday(timeval* time, void* zone) noexcept {
  const int status = NEXT(gettimeofday)(time, zone);
  time->tv_sec += ahead("realtime");
  return status;
}

time_t time(time_t* kept) noexcept {
  const time_t now = NEXT(time)(nullptr) + ahead("realtime");
  if (kept != nullptr) *kept = now;
  return now;
}

}  // extern "C"
