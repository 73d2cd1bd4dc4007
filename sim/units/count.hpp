// How many of something: what comes out of products and sums of numbers that users ask for.
//
// Everyone who multiplies or adds counts of an input (ranks x passes, groups x routers, segments + ranks) does it with
// these, and holds the result against a limit before anything is allocated. There is none below zero. A result that 64
// bits do not hold is `too_many`, which stays what it is whatever is added or multiplied, but for nothing times it: so
// no count wraps around, and a comparison with a limit below `too_many` is right however large the factors are.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

namespace farandole { inline namespace units {

class Count {
 public:
  static constexpr std::int64_t too_many = std::numeric_limits<std::int64_t>::max();

  constexpr Count() = default;
  /// Counts are counts of any width; what is negative counts as none.
  template <std::integral T>
  constexpr Count(T number)
      : number_(std::cmp_less(number, 0)          ? 0
                : std::cmp_less(number, too_many) ? static_cast<std::int64_t>(number)
                                                  : too_many) {}

  [[nodiscard]] constexpr std::int64_t number() const { return number_; }

  friend constexpr Count operator*(Count a, Count b) {
    Count product;
    if (__builtin_mul_overflow(a.number_, b.number_, &product.number_)) product.number_ = too_many;
    return product;
  }
  friend constexpr Count operator+(Count a, Count b) {
    Count sum;
    if (__builtin_add_overflow(a.number_, b.number_, &sum.number_)) sum.number_ = too_many;
    return sum;
  }
  constexpr Count& operator*=(Count other) { return *this = *this * other; }
  constexpr Count& operator+=(Count other) { return *this = *this + other; }

  friend constexpr auto operator<=>(Count a, Count b) = default;  // NOLINT(modernize-use-nullptr): none here

 private:
  std::int64_t number_ = 0;
};

}}  // namespace farandole::units
