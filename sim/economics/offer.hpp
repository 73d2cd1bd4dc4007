// An offer: one way to have the nodes of a machine, with its prices, its power and the date and source of both.
//
// Files of topologies/offers/. A number stands alone ("400 W") or as an object with its range and origin:
//
//   { "value": "199000 USD", "low": "150000 USD", "high": "250000 USD", "source": "...", "confidence": "secondary" }
//
// What has a range is an uncertain input (economics/sensitivity.hpp); what is an "assumption" is listed in results.
// Read by scenario/; mistakes are InputErrors at their place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "economics/power.hpp"

namespace farandole {

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

Offer read_offer(const Value& where);

}  // namespace farandole
