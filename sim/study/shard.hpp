// A share of a study's points: --shard 2/3.
//
// Counting points from one, point p belongs to shard I of N where p and I leave the same rest by N. So 0/N is N/N, and
// job arrays may count from zero or from one.
#pragma once

#include <cstddef>
#include <string>

namespace farandole { inline namespace study {

struct StudyShard {
  int index = 1;  // from 1 to `of`
  int of = 1;

  /// `point` counts from zero.
  [[nodiscard]] bool has(std::size_t point) const {
    const auto n = static_cast<std::size_t>(of);
    return point % n == static_cast<std::size_t>(index - 1);
  }
  /// How many of so many points it has.
  [[nodiscard]] std::size_t count(std::size_t points) const {
    const auto first = static_cast<std::size_t>(index);
    return points < first ? 0 : (points - first) / static_cast<std::size_t>(of) + 1;
  }
  [[nodiscard]] std::string text() const { return std::to_string(index) + "/" + std::to_string(of); }
  friend bool operator==(const StudyShard&, const StudyShard&) = default;
};

}}  // namespace farandole::study
