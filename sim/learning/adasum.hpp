// Adasum carried out on numbers, over the very transfers that are timed (collective/algorithms/adasum.hpp).
//
// Ranks of one group hold parts of one vector. Within a group what arrives is added. Between two groups a and b it is
// combined: (1 - a.b / (2 a.a)) a + (1 - a.b / (2 b.b)) b, with products over the groups' whole vectors, and the two
// are one group from then on. A square below 1e-8 counts as none, as in Horovod. The whole vector is one tensor.
#pragma once

#include <vector>

#include "collective/schedule.hpp"
#include "learning/problem.hpp"

namespace farandole {

/// `vectors[r]`, rank r's, becomes what it holds in the end; at first neighbouring `ranks_per_group` ranks are a group.
void adasum(const Schedule& schedule, int ranks_per_group, std::vector<Vector>& vectors);

}  // namespace farandole
