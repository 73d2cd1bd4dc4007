// What a scenario's job costs: its "economics" section, and the cost of a point that was run.
//
// Read by read_scenario, carried out by run_point. The cost of a sample is nodes x rate of a node x stretch by
// interruptions / samples per second; of an epoch and a run, those of "run", where there is one.
#pragma once

#include <optional>
#include <string>

#include "economics/offer.hpp"
#include "scenario/catalogue.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace scenario {

struct Scenario;

/// The same job on other terms, perhaps elsewhere.
struct ElsewhereSpec {
  std::string offer;
  std::string topology;  // empty: the same machine
  int ranks = 0;         // 0: as many
};

struct EconomicsSpec {
  OfferFile file;
  int years = 5;                      // that totals are worked out for
  double utilisation = 1;             // of what is not paid for while idle, in totals
  double throughput_uncertainty = 0;  // of the simulation itself, as a share
  std::optional<ElsewhereSpec> elsewhere{};
};

EconomicsSpec read_economics(const Value& where, const Catalogue& catalogue);

/// `document` is the one the scenario was read from, `point` the scenario's own with its run.
JobCost cost_of(const Document& document, const Catalogue& catalogue, const Scenario& scenario,
                const TrainingPoint& point);

}}  // namespace farandole::scenario
