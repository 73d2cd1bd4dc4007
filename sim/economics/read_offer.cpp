#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "config/named.hpp"
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

std::optional<std::pair<double, std::string>> split(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string unit(end, text.data() + text.size());
  if (unit.starts_with(' ')) unit.erase(0, 1);
  return std::pair(number, unit);
}

std::optional<double> factor_of(std::string_view symbol, std::span<const Unit> units) {
  const auto found = std::ranges::find(units, symbol, &Unit::symbol);
  return found == units.end() ? std::nullopt : std::optional(found->factor);
}

/// The currency of an offer is that of the first price, which all others must have.
void expect_currency(std::string& currency, const std::string& found, const Value& where) {
  if (currency.empty()) currency = found;
  if (currency != found) where.fail(fmt::format("a price in {}, as the others of this offer", currency));
}

bool is_currency(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// "32.77 USD/h": the number over the factor of what follows the slash.
double read_price(const Value& where, std::string& currency, std::span<const Unit> units, std::string_view expected) {
  const auto parts = split(read<std::string>(where));
  const auto slash = parts ? parts->second.find('/') : std::string::npos;
  if (slash == std::string::npos) where.fail(expected);
  const auto factor = factor_of(std::string_view(parts->second).substr(slash + 1), units);
  const std::string money = parts->second.substr(0, slash);
  if (!factor || !is_currency(money)) where.fail(expected);
  expect_currency(currency, money, where);
  return parts->first / *factor;
}

Money read_money(const Value& where, std::string& currency) {
  const auto parts = split(read<std::string>(where));
  if (!parts || !is_currency(parts->second)) where.fail("an amount of money such as \"199000 USD\"");
  expect_currency(currency, parts->second, where);
  return Money(parts->first);
}

/// Per hour, month or year: "/h", "/month", "/year".
MoneyPerSecond read_price_of_time(const Value& where, std::string& currency) {
  return MoneyPerSecond(read_price(where, currency, times, "a price such as \"32.77 USD/h\", per h, month or year"));
}

Watts read_power(const Value& where) {
  const auto parts = split(read<std::string>(where));
  const auto factor = parts ? factor_of(parts->second, powers) : std::nullopt;
  if (!factor) where.fail("a power such as \"400 W\"");
  return Watts(parts->first * *factor);
}

/// A time as everywhere ("15 min"), or days, weeks, months and years.
Seconds read_long_time(const Value& where) {
  const auto parts = split(read<std::string>(where));
  const auto factor = parts ? factor_of(parts->second, long_times) : std::nullopt;
  return factor ? Seconds(parts->first * *factor) : read<Seconds>(where);
}

constexpr std::array confidences{"verbatim", "derived", "secondary", "recalled", "assumption"};

/// Takes numbers that may carry range and origin, and remembers those that do.
class Inputs {
 public:
  explicit Inputs(Offer& offer) : offer_(offer) {}

  /// What `read_value` makes of a member.
  auto take(Section& section, std::string_view key, auto read_value) { return read(section.child(key), read_value); }
  /// The same, or the fallback where it is not there.
  template <class T>
  T take_or(Section& section, std::string_view key, T fallback, auto read_value) {
    const auto value = section.maybe(key);
    return value ? T(read(*value, read_value)) : fallback;
  }

 private:
  auto read(const Value& where, auto read_value) {
    if (!where.is_object()) return read_value(where);
    Section section(where);
    const Value value = section.child("value");
    const auto result = read_value(value);
    const auto low = section.maybe("low");
    const auto high = section.maybe("high");
    if (low.has_value() != high.has_value()) where.fail("both \"low\" and \"high\", or neither");
    if (low) take_range(where, result, *low, read_value(*low), *high, read_value(*high));
    (void)section.maybe_read<std::string>("source");
    take_confidence(section.maybe("confidence"), where, value);
    section.finish();
    return result;
  }

  template <class T>
  void take_range(const Value& where, T value, const Value& low_text, T low, const Value& high_text, T high) {
    if (low > value || high < value) where.fail("a value between \"low\" and \"high\"");
    offer_.uncertain.push_back({where.pointer(), text_of(low_text), text_of(high_text)});
  }

  void take_confidence(const std::optional<Value>& confidence, const Value& where, const Value& value) {
    if (!confidence) return;
    const std::string_view text = read_named(*confidence, "a confidence", confidences);
    if (text == "assumption") offer_.assumptions.push_back(where.pointer().substr(1) + " " + text_of(value));
  }

  static std::string text_of(const Value& value) {
    return value.is_string() ? farandole::read<std::string>(value) : value.describe();
  }

  Offer& offer_;
};

double read_share(const Value& where) {
  return read<Fraction>(where).value;
}

double read_pue(const Value& where) {
  const auto pue = read<double>(where);
  if (!(pue >= 1)) where.fail("a ratio of at least 1, energy of the building over energy of the machine");
  return pue;
}

Seconds read_some_time(const Value& where) {
  const Seconds time = read_long_time(where);
  if (!(time > Seconds(0))) where.fail("a time above 0");
  return time;
}

NodePower read_node_power(const Value& where, Inputs& inputs) {
  Section section(where);
  NodePower power;
  power.host = inputs.take(section, "host", read_power);
  power.device_idle = inputs.take(section, "device_idle", read_power);
  power.device_busy = inputs.take(section, "device_busy", read_power);
  section.finish();
  return power;
}

void read_bought(const Value& where, Inputs& inputs, Offer& offer) {
  Section section(where);
  const auto money = [&](const Value& value) { return read_money(value, offer.currency); };
  const auto price_of_time = [&](const Value& value) { return read_price_of_time(value, offer.currency); };
  Ownership owned;
  const Money node = inputs.take(section, "node_price", money);
  owned.price = node * (1 + inputs.take_or(section, "network", 0.0, read_share));
  owned.lifetime = inputs.take(section, "lifetime", read_some_time);
  owned.residual = inputs.take_or(section, "residual", 0.0, read_share);
  owned.interest = inputs.take_or(section, "interest", 0.0, read_share);
  owned.running = owned.price * inputs.take_or(section, "maintenance", 0.0, read_share) / year;
  owned.running += inputs.take_or(section, "staff", MoneyPerSecond(0), price_of_time);
  owned.running += inputs.take_or(section, "space", MoneyPerSecond(0), price_of_time);
  owned.electricity = inputs.take(section, "electricity", [&](const Value& value) {
    return MoneyPerJoule(read_price(value, offer.currency, energies, "a price of energy such as \"0.10 USD/kWh\""));
  });
  offer.utilisation = inputs.take(section, "utilisation", read_part);
  section.finish();
  offer.owned = owned;
}

void read_rent(const Value& where, Inputs& inputs, Offer& offer) {
  Section section(where);
  Rent rent;
  rent.rate = inputs.take(section, "node_price", [&](const Value& v) { return read_price_of_time(v, offer.currency); });
  if (offer.kind == "reserved") {
    rent.upfront =
        inputs.take_or(section, "upfront", Money(0), [&](const Value& v) { return read_money(v, offer.currency); });
    rent.term = inputs.take(section, "term", read_some_time);
    offer.utilisation = inputs.take(section, "utilisation", read_part);
  } else {
    rent.minimum = inputs.take_or(section, "minimum", Seconds(0), read_long_time);
  }
  if (offer.kind == "spot") {
    offer.interruptions = {inputs.take(section, "node_mtbf", read_some_time),
                           inputs.take(section, "restart", read_long_time),
                           inputs.take(section, "checkpoint_every", read_some_time)};
  }
  section.finish();
  offer.rented = rent;
}

}  // namespace

Offer read_offer(const Value& where) {
  Section section(where);
  Offer offer;
  Inputs inputs(offer);
  offer.name = section.required<Name>("name").value;
  (void)section.maybe_read<std::string>("summary");
  (void)section.maybe_read<std::string>("source");
  const Value kind = section.child("kind");
  offer.kind = read<std::string>(kind);
  offer.date = section.required<std::string>("date");
  offer.power = read_node_power(section.child("power"), inputs);
  offer.pue = inputs.take_or(section, "pue", 1.0, read_pue);
  if (offer.kind == "bought") {
    read_bought(section.child("bought"), inputs, offer);
  } else if (offer.kind == "rented" || offer.kind == "spot" || offer.kind == "reserved") {
    read_rent(section.child(offer.kind), inputs, offer);
  } else {
    kind.fail_unknown("a kind of offer", {"bought", "rented", "spot", "reserved"});
  }
  section.finish();
  return offer;
}

}}  // namespace farandole::economics
