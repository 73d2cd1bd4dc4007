// Measured differences beside predicted ones: pairs of published runs of one source that differ in one kind of thing.
//
// Called by `farandole validate --published`. The first row of a pair is taken as a user's own measurement
// (scenario/anchor.hpp), the second is predicted from it by setting what differs, as a sweep would. So what is compared
// is the ratio of two throughputs, of which the simulator knew one. A batch that comes with another precision, model or
// number of ranks is no kind of its own. Rows that are not comparable say why (PublishedRow::note).
#pragma once

#include <vector>

#include "calibration/published.hpp"
#include "timeline/difference.hpp"

namespace farandole { inline namespace calibration {

/// `points` are the rows' own results, in their order.
RatioPairs ratios_of(const std::vector<PublishedRow>& rows, const std::vector<ValidationPoint>& points,
                     const Catalogue& catalogue);

}}  // namespace farandole::calibration
