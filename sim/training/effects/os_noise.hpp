// The operating system interrupts every host now and then: timer ticks, daemons, kernel threads.
//
// Each rank is interrupted once per `period`, at a phase of its own that is drawn anew in every iteration, for a time
// drawn from `length`. Over a compute time C that is
//
//   hits = floor(C / period + u),  u uniform in (0, 1),  so that hits / C = 1 / period in the mean
//
// and the iteration's compute takes sum(length of every hit) longer. Where the period exceeds C most ranks are spared
// in most iterations, but the more ranks there are, the surer one of them is not: a synchronous iteration takes as long
// as the unluckiest (Petrini, Kerbyson, Pakin, SC 2003). The sum of many lengths is drawn at once
// (Distribution::of_sum).
#pragma once

#include "training/effects/distribution.hpp"
#include "units/quantity.hpp"

namespace farandole {

struct OsNoise {
  Seconds period;  // above zero
  Seconds length;  // mean of one interruption
  Distribution spread;

  /// What interruptions add to `compute`, from two independent uniform deviates.
  [[nodiscard]] Seconds added(Seconds compute, double phase, double probability) const;
};

}  // namespace farandole
