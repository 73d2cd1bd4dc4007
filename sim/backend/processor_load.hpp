// How busy the processors of this machine were while something was measured.
//
// A measurement on a machine whose processors are all busy is one of the processors, not of the network: results carry
// this number, and who compares them may leave such rows out. From /proc/stat, all processors and all processes; what a
// hypervisor took away counts as time, not as busy.
#pragma once

#include <cstdint>
#include <optional>

namespace farandole {

class ProcessorLoad {
 public:
  /// Since now.
  ProcessorLoad() : begin_(count()) {}

  /// From 0 to 1; empty where the system does not say, or too little time has passed to tell.
  [[nodiscard]] std::optional<double> share() const;

 private:
  struct Ticks {
    std::int64_t busy = 0;
    std::int64_t all = 0;
  };
  static Ticks count();

  Ticks begin_;
};

}  // namespace farandole
