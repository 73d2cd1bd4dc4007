// An offer: one way to have the nodes of a machine, with its prices, its power and the date and source of both.
//
// Files of topologies/offers/. A number stands alone ("400 W") or as an object with its range and origin:
//
//   { "value": "199000 USD", "low": "150000 USD", "high": "250000 USD", "source": "...", "confidence": "secondary" }
//
// What has a range is an uncertain input (economics/cost.hpp); what is an "assumption" is listed in results.
// Read by scenario/; mistakes are InputErrors at their place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace economics {

// The electric power of a node.
//
//   draw = host + devices * (idle + busy share * (full load - idle))
//
// linear in the share of the time in which devices compute, as SimGrid's plug-in for the energy of hosts has it (a test
// compares the two), and as measurements of GPUs under training loads suggest between their ends. While devices
// communicate or wait they count as idle.

struct NodePower {
  Watts host;  // everything but the devices
  Watts device_idle;
  Watts device_busy;
};

/// `busy`: from 0 to 1, in the mean of the devices.
constexpr Watts draw(const NodePower& power, int devices, double busy) {
  return power.host + (power.device_idle + (power.device_busy - power.device_idle) * busy) * devices;
}

/// What one node of a machine of one's own costs.
struct Ownership {
  Money price;                // of a node with its part of the network
  Seconds lifetime;           // over which it is written off
  double residual = 0;        // share of the price that it then still brings
  double interest = 0;        // per year
  MoneyPerSecond running;     // maintenance, staff, space
  MoneyPerJoule electricity;  // for the building's energy, pue times the machine's
};

/// What one node costs that belongs to somebody else; its energy is in the price.
struct Rent {
  MoneyPerSecond rate;
  Money upfront;    // of a term, paid at its start
  Seconds term;     // 0: from hour to hour
  Seconds minimum;  // that is charged of every run
};

/// How often a node is taken away, and what that costs.
struct Interruptions {
  Seconds node_mtbf;
  Seconds restart;           // until the job goes on
  Seconds checkpoint_every;  // what is lost goes back to the last one
};

struct UncertainInput {
  std::string pointer;  // of the object
  std::string low;
  std::string high;
};

struct Offer {
  std::string name;
  std::string kind;
  std::string date;
  std::string currency;
  NodePower power;
  double pue = 1;          // energy of the building over energy of the machine
  double utilisation = 1;  // share of hours in use, of what costs money all the time
  std::optional<Ownership> owned;
  std::optional<Rent> rented;
  std::optional<Interruptions> interruptions;
  std::vector<UncertainInput> uncertain;
  std::vector<std::string> assumptions;  // "bought/utilisation 60 %"

  /// Whether it costs the same, used or not.
  [[nodiscard]] bool is_committed() const { return owned || rented->term > Seconds(0); }
};

/// Money, power, prices and years: "199000 USD", "32.77 USD/h", "0.1048 USD/kWh", "400 W", "4 years". A currency is
/// three capital letters; all prices of one offer have the same. Amounts are finite and never negative.
Offer read_offer(const Value& where);

}}  // namespace farandole::economics
