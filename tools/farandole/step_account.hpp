// A step of a device, moment for moment: what it computes, which communication is not behind that, and when it is idle.
//
// Called by compare_command.cpp, for what was measured and for what is predicted alike. A moment counts once, however
// many streams are busy: for the kernel that began first; where none runs, for the collective that did, which is
// exposed then; where none of these is under way, for a copy engine; else it is idle. So parts sum to the step.
#pragma once

#include <map>
#include <string>

#include "trace_reader.hpp"

namespace farandole {

/// Of the mean step.
struct StepAccount {
  int steps = 1;
  double seconds = 0;
  double exposed = 0;                         // communication
  std::map<std::string, double> parts;        // "matrix products", "exposed allreduce", "idle"; they sum to `seconds`
  std::map<std::string, double> collectives;  // each for as long as any of its kind is under way, exposed or not
  std::map<std::string, double> unnamed;      // kernels of no class, by name

  [[nodiscard]] double part(const std::string& name) const;
  [[nodiscard]] double idle() const;
  [[nodiscard]] double unexposed() const { return seconds - exposed; }
  /// Kernels and copies.
  [[nodiscard]] double busy() const { return seconds - exposed - idle(); }
};

inline constexpr const char* exposed_word = "exposed ";
inline constexpr const char* idle_part = "idle";
inline constexpr const char* untold_part = "computation or idle";  // of a trace that has communication alone

/// `windows` are in order, apart from one another, and hold `steps` steps. What is told apart is not more than
/// `detail`.
StepAccount account_of(const DeviceTrace& trace, TraceDetail detail, const std::vector<StepWindow>& windows, int steps);

}  // namespace farandole
