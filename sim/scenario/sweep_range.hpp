// A range of values: {"from": "1 MiB", "to": "256 MiB", "factor": 2} or {"from": 8, "to": 64, "step": 8}.
//
// Called by scenario/sweep_axis.hpp. From `from` on, multiplied by `factor` or increased by `step`, as long as `to` is
// not exceeded (but for rounding). Bounds are numbers, or texts with a unit of one dimension; values come in the unit
// of `from`, and as integers where all that they are made of are. Anything else is an InputError at its place.
#pragma once

#include <vector>

#include "config/document.hpp"

namespace farandole {

/// At least one value, in ascending order.
std::vector<Node> read_range(const Value& where);

}  // namespace farandole
