#include "learning/read_numbers.hpp"

#include "config/section.hpp"

namespace farandole { inline namespace learning {

int read_count(Section& section, std::string_view key, int fallback) {
  constexpr int most = 10'000'000;
  const auto value = section.maybe(key);
  if (!value) return fallback;
  const int count = read_at_least(*value, 1);
  if (count > most) value->fail("at most 10,000,000");
  return count;
}

std::uint32_t read_seed(Section& section, std::uint32_t fallback) {
  const auto value = section.maybe("seed");
  return value ? static_cast<std::uint32_t>(read_at_least(*value, 0)) : fallback;
}

void require_matrix(int rows, std::size_t columns, const Value& where) {
  constexpr int most = 1 << 26;
  require_at_most(Count(rows) * columns, most, "numbers in the samples", where);
}

}}  // namespace farandole::learning
