// What all ranks measured in an iteration, put together as the event loop does with simulated moments.
#pragma once

#include "backend/endpoint.hpp"
#include "backend/replay/replay.hpp"
#include "engine/iteration.hpp"

namespace farandole {

/// Every rank calls it with its own; all get the same. `before`: when the last rank ended the iteration before.
Iteration iteration_of_all(Endpoint& endpoint, const LocalIteration& own, Seconds before);

/// When the last rank was there.
Seconds last_of_all(Endpoint& endpoint, Seconds own);

}  // namespace farandole
