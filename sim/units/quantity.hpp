// Quantities with their dimension in the type: bytes, seconds, floating-point operations, money, energy and what they
// divide into.
//
// Everyone who handles a dimensioned number uses these; a `double` in a signature is dimensionless. Values are held in
// SI units without prefix (bytes, seconds, FLOP, joules) and, of money, in units of its currency, which is not part of
// the type: the offer that a price stands in names it. Products and quotients carry the right dimension, a quotient of
// equal dimensions is a plain double. Nothing here throws; text is read and printed by units/format.hpp.
#pragma once

#include <compare>
#include <limits>

namespace farandole { inline namespace units {

template <int Byte, int Second, int Flop, int Money_ = 0, int Joule = 0>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double si) : si_(si) {}

  /// The number in SI units without prefix.
  [[nodiscard]] constexpr double si() const { return si_; }

  static constexpr Quantity infinity() { return Quantity(std::numeric_limits<double>::infinity()); }

  constexpr Quantity& operator+=(Quantity other) {
    si_ += other.si_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    si_ -= other.si_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    si_ *= factor;
    return *this;
  }
  constexpr Quantity& operator/=(double divisor) {
    si_ /= divisor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.si_ + b.si_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.si_ - b.si_); }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.si_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.si_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(a.si_ * factor); }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.si_ / divisor); }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;  // NOLINT(modernize-use-nullptr): none here

 private:
  double si_ = 0;
};

template <int... A, int... B>
constexpr auto operator*(Quantity<A...> a, Quantity<B...> b) {
  if constexpr (((A + B == 0) && ...)) {
    return a.si() * b.si();
  } else {
    return Quantity<(A + B)...>(a.si() * b.si());
  }
}

template <int... A, int... B>
constexpr auto operator/(Quantity<A...> a, Quantity<B...> b) {
  if constexpr (((A == B) && ...)) {
    return a.si() / b.si();
  } else {
    return Quantity<(A - B)...>(a.si() / b.si());
  }
}

template <int... D>
constexpr auto operator/(double number, Quantity<D...> q) {
  return Quantity<(-D)...>(number / q.si());
}

using Bytes = Quantity<1, 0, 0>;
using Seconds = Quantity<0, 1, 0>;
using BytesPerSecond = Quantity<1, -1, 0>;
using Flop = Quantity<0, 0, 1>;
using FlopPerSecond = Quantity<0, -1, 1>;
using PerSecond = Quantity<0, -1, 0>;
using Money = Quantity<0, 0, 0, 1>;
using Joules = Quantity<0, 0, 0, 0, 1>;
using Watts = Quantity<0, -1, 0, 0, 1>;
using MoneyPerSecond = Quantity<0, -1, 0, 1>;
using MoneyPerJoule = Quantity<0, 0, 0, 1, -1>;

inline constexpr Seconds hour{3600};
/// 365 days.
inline constexpr Seconds year{8760.0 * 3600.0};

/// Literals for code and tests: `64_MiB`, `25_Gbps`, `2_us`. Decimal prefixes are powers of 1000, `_KiB` ... of 1024.
inline namespace literals {
// NOLINTBEGIN(bugprone-macro-parentheses): a type takes no parentheses.
#define FARANDOLE_LITERAL(suffix, type, factor)              \
  constexpr type operator""_##suffix(long double x) {        \
    return type(static_cast<double>(x) * (factor));          \
  }                                                          \
  constexpr type operator""_##suffix(unsigned long long x) { \
    return type(static_cast<double>(x) * (factor));          \
  }
FARANDOLE_LITERAL(B, Bytes, 1.0)
FARANDOLE_LITERAL(KiB, Bytes, 1024.0)
FARANDOLE_LITERAL(MiB, Bytes, 1048576.0)
FARANDOLE_LITERAL(GiB, Bytes, 1073741824.0)
FARANDOLE_LITERAL(MB, Bytes, 1e6)
FARANDOLE_LITERAL(GB, Bytes, 1e9)
FARANDOLE_LITERAL(s, Seconds, 1.0)
FARANDOLE_LITERAL(ms, Seconds, 1e-3)
FARANDOLE_LITERAL(us, Seconds, 1e-6)
FARANDOLE_LITERAL(ns, Seconds, 1e-9)
FARANDOLE_LITERAL(Bps, BytesPerSecond, 1.0)
FARANDOLE_LITERAL(MBps, BytesPerSecond, 1e6)
FARANDOLE_LITERAL(GBps, BytesPerSecond, 1e9)
FARANDOLE_LITERAL(Gbps, BytesPerSecond, 1e9 / 8)
FARANDOLE_LITERAL(Mbps, BytesPerSecond, 1e6 / 8)
FARANDOLE_LITERAL(GFLOP, Flop, 1e9)
FARANDOLE_LITERAL(TFLOPps, FlopPerSecond, 1e12)
#undef FARANDOLE_LITERAL
// NOLINTEND(bugprone-macro-parentheses)
}  // namespace literals

}}  // namespace farandole::units
