#include <string>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "scenario/budget.hpp"
#include "units/parse.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// One of the two parts of a budget; false where the text is no such quantity.
bool take_part(std::string_view text, Budget& budget) {
  if (const auto time = parse_quantity<Seconds>(text); std::holds_alternative<Seconds>(time)) {
    budget.time = std::get<Seconds>(time);
    return true;
  }
  const auto memory = parse_quantity<Bytes>(text);
  if (std::holds_alternative<Bytes>(memory)) budget.memory = std::get<Bytes>(memory);
  return std::holds_alternative<Bytes>(memory);
}

bool take_all(std::string_view text, Budget& budget) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return take_part(text, budget);
  std::string_view second = text.substr(comma + 1);
  if (second.starts_with(' ')) second.remove_prefix(1);
  return take_part(text.substr(0, comma), budget) && take_part(second, budget);
}

}  // namespace

Budget read_budget(const Value& where) {
  Budget budget;
  take_all(default_budget, budget);
  if (!take_all(read<std::string>(where), budget)) {
    where.fail(fmt::format("a time of one processor and memory such as \"{}\", or one of the two", default_budget));
  }
  return budget;
}

}}  // namespace farandole::scenario
