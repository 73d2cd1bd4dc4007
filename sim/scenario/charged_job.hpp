// A job as its cost sees it, and the same job elsewhere.
//
// Used by scenario/economics_run.cpp for a point, and by scenario/band_run.cpp for the ends of its band.
#pragma once

#include <optional>

#include "economics/cost.hpp"
#include "scenario/scenario.hpp"

namespace farandole { inline namespace scenario {

struct ChargedJob {
  NodeUse use;
  double samples_per_second = 0;
  std::optional<WholeRun> run;
};

ChargedJob charged(const Scenario& scenario, const TrainingPoint& point);

/// All nodes for a second.
MoneyPerSecond job_rate(const Offer& offer, const ChargedJob& job);

/// With interruptions, a sample takes this long.
Seconds sample_time(const Offer& offer, const ChargedJob& job);

Money per_sample(const Offer& offer, const ChargedJob& job);

/// Of the job's run, which it must have; the offer's minimum at least.
Money per_run(const Offer& offer, const ChargedJob& job);

/// The scenario on the other machine, and what it is paid by there.
struct Elsewhere {
  Document document;  // what it was read from
  Scenario scenario;
  Offer offer;  // in use as much as the one here, where both are paid whether they are used or not
};

/// Of a scenario whose "economics" compares; `document` is the one it was read from.
Elsewhere elsewhere_of(const Document& document, const Catalogue& catalogue, const Scenario& scenario);

/// For which shares of the time that nodes are in use, here and there alike, a sample costs at most as much here.
BreakEven break_even(const Offer& offer, const ChargedJob& here, const Offer& there, const ChargedJob& job_there);

}}  // namespace farandole::scenario
