// Reads money, power, prices and years of an offer: "199000 USD", "32.77 USD/h", "0.1048 USD/kWh", "400 W", "4 years".
//
// Called by economics/offer.hpp. A currency is three capital letters; all prices of one offer have the same. Amounts
// are finite and never negative. InputError at the value otherwise.
#pragma once

#include <string>

#include "config/document.hpp"
#include "units/amount.hpp"

namespace farandole {

/// The currency of an offer: that of the first price, which all others must have.
class Currency {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  void expect(const std::string& found, const Value& where);

 private:
  std::string name_;
};

Money read_money(const Value& where, Currency& currency);
/// Per hour, month or year: "/h", "/month", "/year".
MoneyPerSecond read_price_of_time(const Value& where, Currency& currency);
MoneyPerJoule read_price_of_energy(const Value& where, Currency& currency);
Watts read_power(const Value& where);
/// A time as everywhere ("15 min"), or days, weeks, months and years.
Seconds read_long_time(const Value& where);

}  // namespace farandole
