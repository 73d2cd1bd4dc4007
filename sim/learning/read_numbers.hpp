// What the builders of problems read of their sections: counts and seeds, within bounds that keep a run affordable.
#pragma once

#include <cstdint>
#include <string_view>

#include "config/section.hpp"

namespace farandole { inline namespace learning {

/// From 1 to ten million.
inline int read_count(Section& section, std::string_view key, int fallback) {
  constexpr int most = 10'000'000;
  const auto value = section.maybe(key);
  if (!value) return fallback;
  const int count = read_at_least(*value, 1);
  if (count > most) value->fail("at most 10,000,000");
  return count;
}

/// What NumPy's `seed` takes and a JSON integer of ours holds: from 0 to 2^31 - 1.
inline std::uint32_t read_seed(Section& section, std::uint32_t fallback) {
  const auto value = section.maybe("seed");
  return value ? static_cast<std::uint32_t>(read_at_least(*value, 0)) : fallback;
}

/// Fails at `where` where a matrix of so many rows and columns is more than half a gigabyte.
inline void require_matrix(int rows, std::size_t columns, const Value& where) {
  constexpr int most = 1 << 26;
  require_at_most(Count(rows) * columns, most, "numbers in the samples", where);
}

}}  // namespace farandole::learning
