#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "config/section.hpp"
#include "economics/offer.hpp"

namespace farandole { inline namespace economics {
namespace {

struct Unit {
  std::string_view symbol;
  double factor;
};

constexpr std::array times{Unit{"h", 3600.0}, Unit{"month", 8760.0 * 300.0}, Unit{"year", 8760.0 * 3600.0}};
constexpr std::array energies{Unit{"kWh", 3.6e6}, Unit{"MWh", 3.6e9}};
constexpr std::array powers{Unit{"W", 1.0}, Unit{"kW", 1e3}, Unit{"MW", 1e6}};
constexpr std::array long_times{Unit{"day", 86400.0},          Unit{"days", 86400.0},
                                Unit{"week", 604800.0},        Unit{"weeks", 604800.0},
                                Unit{"month", 8760.0 * 300.0}, Unit{"months", 8760.0 * 300.0},
                                Unit{"year", 8760.0 * 3600.0}, Unit{"years", 8760.0 * 3600.0}};

struct Parts {
  double number = 0;
  std::string unit;
};

std::optional<Parts> split(const std::string& text) {
  Parts parts;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts.number);
  if (error != std::errc{} || !std::isfinite(parts.number) || parts.number < 0) return std::nullopt;
  parts.unit.assign(end, text.data() + text.size());
  if (parts.unit.starts_with(' ')) parts.unit.erase(0, 1);
  return parts;
}

std::optional<double> factor_of(std::string_view symbol, std::span<const Unit> units) {
  const auto found = std::ranges::find(units, symbol, &Unit::symbol);
  return found == units.end() ? std::nullopt : std::optional(found->factor);
}

bool is_currency(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// "32.77 USD/h": the number over the factor of what follows the slash.
double read_price(const Value& where, Currency& currency, std::span<const Unit> units, std::string_view expected) {
  const auto parts = split(read<std::string>(where));
  const auto slash = parts ? parts->unit.find('/') : std::string::npos;
  if (slash == std::string::npos) where.fail(expected);
  const auto factor = factor_of(std::string_view(parts->unit).substr(slash + 1), units);
  const std::string money = parts->unit.substr(0, slash);
  if (!factor || !is_currency(money)) where.fail(expected);
  currency.expect(money, where);
  return parts->number / *factor;
}

}  // namespace

void Currency::expect(const std::string& found, const Value& where) {
  if (name_.empty()) name_ = found;
  if (name_ != found) where.fail(fmt::format("a price in {}, as the others of this offer", name_));
}

Money read_money(const Value& where, Currency& currency) {
  const auto parts = split(read<std::string>(where));
  if (!parts || !is_currency(parts->unit)) where.fail("an amount of money such as \"199000 USD\"");
  currency.expect(parts->unit, where);
  return Money(parts->number);
}

MoneyPerSecond read_price_of_time(const Value& where, Currency& currency) {
  return MoneyPerSecond(read_price(where, currency, times, "a price such as \"32.77 USD/h\", per h, month or year"));
}

MoneyPerJoule read_price_of_energy(const Value& where, Currency& currency) {
  return MoneyPerJoule(read_price(where, currency, energies, "a price of energy such as \"0.10 USD/kWh\""));
}

Watts read_power(const Value& where) {
  const auto parts = split(read<std::string>(where));
  const auto factor = parts ? factor_of(parts->unit, powers) : std::nullopt;
  if (!factor) where.fail("a power such as \"400 W\"");
  return Watts(parts->number * *factor);
}

Seconds read_long_time(const Value& where) {
  const auto parts = split(read<std::string>(where));
  const auto factor = parts ? factor_of(parts->unit, long_times) : std::nullopt;
  return factor ? Seconds(parts->number * *factor) : read<Seconds>(where);
}

}}  // namespace farandole::economics
