// Money, energy and power with their dimension in the type, as units/quantity.hpp has it for bytes and seconds.
//
// Used by whoever says what a job costs. Held in units without prefix: of a currency that is not part of the type (the
// offer that a price stands in names it), joules, seconds. Nothing here throws.
#pragma once

#include <compare>

#include "units/quantity.hpp"

namespace farandole { inline namespace units {

template <int Money_, int Joule, int Second>
class Amount {
 public:
  constexpr Amount() = default;
  constexpr explicit Amount(double plain) : plain_(plain) {}

  /// The number in units without prefix.
  [[nodiscard]] constexpr double plain() const { return plain_; }

  constexpr Amount& operator+=(Amount other) {
    plain_ += other.plain_;
    return *this;
  }

  friend constexpr Amount operator+(Amount a, Amount b) { return Amount(a.plain_ + b.plain_); }
  friend constexpr Amount operator-(Amount a, Amount b) { return Amount(a.plain_ - b.plain_); }
  friend constexpr Amount operator*(Amount a, double factor) { return Amount(a.plain_ * factor); }
  friend constexpr Amount operator*(double factor, Amount a) { return Amount(a.plain_ * factor); }
  friend constexpr Amount operator/(Amount a, double divisor) { return Amount(a.plain_ / divisor); }
  friend constexpr double operator/(Amount a, Amount b) { return a.plain_ / b.plain_; }
  friend constexpr auto operator<=>(Amount a, Amount b) = default;  // NOLINT(modernize-use-nullptr): none here

 private:
  double plain_ = 0;
};

template <int M, int J, int S>
constexpr auto operator*(Amount<M, J, S> a, Seconds time) {
  return Amount<M, J, S + 1>(a.plain() * time.si());
}

template <int M, int J, int S>
constexpr auto operator/(Amount<M, J, S> a, Seconds time) {
  return Amount<M, J, S - 1>(a.plain() / time.si());
}

using Money = Amount<1, 0, 0>;
using Joules = Amount<0, 1, 0>;
using Watts = Amount<0, 1, -1>;
using MoneyPerSecond = Amount<1, 0, -1>;
using MoneyPerJoule = Amount<1, -1, 0>;

/// What a power costs while it is drawn.
constexpr MoneyPerSecond operator*(Watts power, MoneyPerJoule price) {
  return MoneyPerSecond(power.plain() * price.plain());
}

inline constexpr Seconds hour{3600};
/// 365 days.
inline constexpr Seconds year{8760.0 * 3600.0};

}}  // namespace farandole::units
