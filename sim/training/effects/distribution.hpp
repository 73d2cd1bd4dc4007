// How a quantity that varies is distributed around its mean: jitter of compute, length of an interruption, read times.
//
// A distribution is relative: its mean is 1 and `deviation` is its standard deviation as a share of the mean, so the
// quantity itself keeps its dimension and is multiplied by a factor. Random numbers come from outside as a uniform
// deviate in (0, 1) and pass through the quantile function: the same deviate gives the same factor, monotonically.
//
//   constant      1
//   uniform       1 + d sqrt(3) (2p - 1)
//   normal        1 + d z(p), z cut at four deviations
//   lognormal     exp(-s^2/2 + s z(p)) with s^2 = ln(1 + d^2)
//   exponential   1 - d + d (-ln(1 - p)), an exponential on top of a fixed part
//   gamma         the gamma distribution of shape 1/d^2 and scale d^2
//
// Factors are above zero for every deviation a row allows.
#pragma once

#include <span>
#include <string>

#include "units/quantity.hpp"

namespace farandole { inline namespace training {

/// A row of the table of kinds; the largest deviation keeps factors positive, or numbers finite.
struct DistributionKind {
  std::string name;
  double most_deviation;
  double (*quantile)(double probability, double deviation);
};

std::span<const DistributionKind> distribution_kinds();
/// The row of that name; the name must be one of the table.
const DistributionKind& distribution_kind(const std::string& name);

struct Distribution {
  std::string kind = "constant";
  double deviation = 0;  // relative to the mean

  [[nodiscard]] bool varies() const { return deviation > 0; }
  /// The factor at a probability in (0, 1).
  [[nodiscard]] double factor(double probability) const;
  /// The sum of `count` independent draws, relative to its mean: the same kind with the deviation that such a sum has.
  /// Exact for gamma, normal and constant, else right in mean and deviation.
  [[nodiscard]] Distribution of_sum(double count) const;
};

inline bool operator==(const Distribution& a, const Distribution& b) {
  return a.kind == b.kind && a.deviation == b.deviation;
}

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

struct OsNoise {
  Seconds period;  // above zero
  Seconds length;  // mean of one interruption
  Distribution spread;

  /// What interruptions add to `compute`, from two independent uniform deviates.
  [[nodiscard]] Seconds added(Seconds compute, double phase, double probability) const;
};

}}  // namespace farandole::training
