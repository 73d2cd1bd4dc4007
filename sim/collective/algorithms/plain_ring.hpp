// The ring that does not cut: every rank passes whole arrays on, and adds what comes by to its own.
//
// In the first round a rank sends its own array to the next one, in every later round what it has just received; after
// n-1 rounds it has seen everybody's. Each round carries all the data, n/2 times what the ring of segments sends. Every
// rank keeps two copies: chunk 0 is its sum, chunk 1 what it passes on. It is what Osipov, "Distributed Gradient
// Descent with Horovod" (github.com/osipov/smlbook), calls plain all-gather and holds the ring of segments against.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule plain_ring_allreduce(const Shape& shape);

}  // namespace farandole
