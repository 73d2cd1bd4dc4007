// Numbers that nothing has settled, and how far a step lies from where they would put it.
//
// A topology file says of a number between which ends it lies eight times in ten: its "calibration" as what runs of
// training have left of it (calibration/posterior.hpp), else its "priors" as what is believed before any. Such numbers
// are in the topology or, as the cost of a coordinator's message, in scenarios; what a scenario sets itself is
// settled. Used by band_run.cpp and by calibration/published.cpp.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/train.hpp"
#include "timeline/explanation.hpp"
#include "workload/device.hpp"

namespace farandole { inline namespace scenario {

struct UnsettledNumber {
  std::string pointer;              // into the topology file, or the scenario
  std::array<std::string, 2> ends;  // as the file has them: "3.14 GB/s"
};

/// Of the machine that `document`, a scenario without a sweep that was read with `catalogue`, names.
std::vector<UnsettledNumber> unsettled_numbers(const Document& document, const Catalogue& catalogue);

/// What a scenario would set to have the number at an end.
SetValue as_value(const UnsettledNumber& number, const std::string& end);

/// What each does to the step: it is put to each end by itself, with the same seeds. One rank by itself has none: what
/// they say is of networks, servers and of ranks beside the median one. Two runs for each number. `clocks`: the
/// point's.
std::vector<BandSource> number_sources(const TrainedPoint& point, const Document& document, const Catalogue& catalogue,
                                       const Scenario& scenario, SharedClocks clocks = {});

/// Factors of the step from all of them. They are taken as independent: the logarithms of what they do add up in
/// squares.
TimeBand band_of(const std::vector<BandSource>& sources);

}}  // namespace farandole::scenario
