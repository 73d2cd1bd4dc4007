// What a job costs and how much energy it takes: the part of a result point that a scenario's "economics" asks for.
//
// Filled by scenario/, printed by report/. All money is in the currency of the offer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

/// What the cost of a sample is where one input is at the ends of its range.
struct CostSensitivity {
  std::string input;  // "bought/utilisation"
  std::string low;    // as written
  std::string high;
  Money at_low;
  Money at_high;

  static void fields(auto& input, auto& visit) {
    visit("input", input.input);
    visit("low", input.low);
    visit("high", input.high);
    visit("cost_per_sample_at_low", input.at_low);
    visit("cost_per_sample_at_high", input.at_high);
  }
};

/// The same job elsewhere.
struct CostComparison {
  std::string offer;
  std::string platform;
  Money per_sample;
  /// Share of the time, the same here and there, from which on a sample costs at most as much here; 0 where it does at
  /// every utilisation, nothing where there is no such share.
  std::optional<double> break_even_utilisation;
  /// Up to which it does, where it does not in full use.
  std::optional<double> pays_up_to_utilisation;

  static void fields(auto& elsewhere, auto& visit) {
    visit("offer", elsewhere.offer);
    visit("platform", elsewhere.platform);
    visit("cost_per_sample", elsewhere.per_sample);
    visit("break_even_utilisation", elsewhere.break_even_utilisation, {.null_where_empty = true});
    visit("pays_up_to_utilisation", elsewhere.pays_up_to_utilisation);
  }
};

struct JobCost {
  std::string offer;
  std::string kind;  // "bought", "rented", "spot" or "reserved"
  std::string date;  // of its prices
  std::string currency;
  double utilisation = 1;  // that the cost of an hour assumes
  double stretch = 1;      // by interruptions: time with them over time without
  MoneyPerSecond node;     // one node, in use
  Watts node_power;        // mean draw of one node's machine during the job
  Money per_sample;
  Joules energy_per_sample;  // with the building's share (PUE), as all energies here
  std::optional<Money> per_epoch;
  std::optional<Joules> energy_per_epoch;
  std::optional<Money> per_run;
  std::optional<Joules> energy_per_run;
  std::optional<Seconds> node_time;  // of a run, all nodes together
  std::vector<Money> totals;         // of having the nodes for 0, 1, 2, ... years; in the last, what is left credited
  std::vector<CostSensitivity> sensitivity;  // the widest first
  std::optional<CostComparison> comparison;
  std::vector<std::string> assumptions;  // inputs that no source backs

  static void fields(auto& cost, auto& visit) {
    visit("offer", cost.offer);
    visit("kind", cost.kind);
    visit("date", cost.date);
    visit("currency", cost.currency);
    visit("utilisation", cost.utilisation);
    visit("stretch", cost.stretch);
    visit("cost_per_node_second", cost.node);
    visit("node_watts", cost.node_power);
    visit("cost_per_sample", cost.per_sample);
    visit("joules_per_sample", cost.energy_per_sample);
    visit("cost_per_epoch", cost.per_epoch);
    visit("joules_per_epoch", cost.energy_per_epoch);
    visit("cost_per_run", cost.per_run);
    visit("joules_per_run", cost.energy_per_run);
    visit("node_seconds_per_run", cost.node_time);
    visit("total_cost_by_year", cost.totals);
    visit("sensitivity", cost.sensitivity);
    visit("compared_with", cost.comparison);
    visit("assumptions", cost.assumptions);
  }
};

}}  // namespace farandole::timeline
