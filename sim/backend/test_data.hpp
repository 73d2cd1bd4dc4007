// Numbers to measure with, whose sums are exact in floats, and the check that a collective did what it promises.
//
// Rank r's element i is 1 + (i + 7 r) mod 13: small whole numbers, different on all ranks. What an operation promises
// is in collective/specification.hpp; the layout says which chunks a rank contributes to and is promised.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/schedule.hpp"

namespace farandole {

/// Rank r's element i.
float test_number(int rank, std::int64_t element);

/// What the rank's buffer holds before: `size` elements as the operation counts bytes, of an alltoall `ranks` times as
/// many; where the rank contributes nothing, zeros if the operation adds up and impossible numbers if it moves.
std::vector<float> test_data(const Schedule& layout, int rank, std::int64_t size);

/// How many promised elements are wrong.
std::int64_t count_wrong(const Schedule& layout, int rank, std::int64_t size, const std::vector<float>& data);

/// One chunk per rank, or as few as the operation allows: how a library, which has no schedule, lays out its data.
Schedule plain_layout(Operation operation, int ranks, int root);

}  // namespace farandole
