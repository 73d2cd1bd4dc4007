// Tables of what jobs cost: the cost itself, break-even, what the years add up to, and which inputs matter.
//
// Called by the table of `farandole run`, after it; points without a cost print nothing. Money is in the currency of
// each offer, energies in kWh.
#pragma once

#include <iosfwd>
#include <span>

#include "report/facet.hpp"
#include "timeline/result.hpp"

namespace farandole {

void write_costs(std::ostream& out, const Facets<TrainingPoint>& facets, std::span<const TrainingPoint> points);

}  // namespace farandole
