#include "config/limits.hpp"

#include <fmt/format.h>

#include "config/section.hpp"

namespace farandole { inline namespace config {

int read_between(const Value& value, int least, int most) {
  const auto number = read<std::int64_t>(value);
  if (number < least || number > most) {
    value.fail(fmt::format("an integer from {} to {}", counted(least), counted(most)));
  }
  return static_cast<int>(number);
}

void require_at_most(Count count, Count most, std::string_view what, const Value& where) {
  if (count > most) where.fail(fmt::format("at most {} {}", counted(most), what), counted(count));
}

std::string counted(Count count) {
  if (count == Count(Count::too_many)) return "more than 9 x 10^18";
  const std::string digits = fmt::format("{}", count.number());
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

}}  // namespace farandole::config
