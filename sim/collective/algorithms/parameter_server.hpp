// Parameter servers: every worker pushes what it has to the servers, which add it up; every worker pulls the sums.
//
// The array is cut into one shard per server: evenly, or into the tensors that each server was given (Shape::shards,
// collective/tensor_placement.hpp). Ranks 0 .. servers-1 serve. Dedicated: they do nothing else, and the ranks after
// them work. Colocated: all ranks work, and what a rank pushes to itself costs nothing.
//
// Messages. A shard travels in one message; with `message_per_tensor`, in one for each of its tensors, one after the
// other, as over a gRPC channel. All shards travel at once; a server sends its shard back when the last push of it is
// in (and, colocated, when its own pushes are out). With `segments` above 1 a shard is cut into so many keys, as
// PS-Lite's: key k is pulled while key k+1 is pushed.
//
// Sources: Li et al., "Scaling distributed machine learning with the parameter server", OSDI 2014; for keys
// github.com/dmlc/ps-lite; for whole tensors collective/tensor_placement.hpp.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

/// Throw std::invalid_argument for more servers than there may be, shards that are not one for each server, or a
/// message per tensor together with keys. One rank sends nothing.
Schedule dedicated_parameter_servers(const Shape& shape);  // 1 server unless the shape says more
Schedule colocated_parameter_servers(const Shape& shape);  // as many as ranks unless the shape says fewer
/// As dedicated; another name, under which the command line cuts shards into keys of a fixed size.
Schedule keyed_parameter_servers(const Shape& shape);

/// How many there may be: dedicated ones leave at least one worker; one rank is its own server.
int most_servers(int ranks, bool are_dedicated);

}  // namespace farandole
