// Work spread over processes of this machine.
//
// Called by study/study.hpp. A worker that dies costs the task it had, which is reported as failed; a new worker takes
// its place and all other tasks are done (study/forked_worker.hpp).
#pragma once

#include <functional>
#include <vector>

#include "study/forked_worker.hpp"

namespace farandole {

/// Runs in the calling process, in the order in which tasks end. If it throws, the workers are killed.
using Receive = std::function<void(std::size_t task, const Outcome& outcome)>;

/// Every task once, on at most `processes` workers, started in the order given.
void run_in_processes(const std::vector<std::size_t>& tasks, int processes, const Work& work, const Receive& receive);

}  // namespace farandole
