// Work spread over processes of this machine.
//
// Called by study/study.hpp. SimGrid allows one engine at a time in a process, so points run in forked workers. A
// worker that dies (a signal, no memory) costs the task it had, which is reported as failed; a new worker takes its
// place and all other tasks are done. Workers end when the program that forked them does, however that ends. The caller
// has one thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace farandole {

struct Outcome {
  enum class Kind : char { done, failed, bad_input };
  Kind kind = Kind::failed;
  std::string text;  // what the work returned, or why there is nothing
};

/// Runs in a worker; an InputError it throws is bad input, any other exception a failure.
using Work = std::function<std::string(std::size_t task)>;
/// Runs in the calling process, in the order in which tasks end. If it throws, the workers are killed.
using Receive = std::function<void(std::size_t task, const Outcome& outcome)>;

/// Every task once, on at most `processes` workers, started in the order given.
void run_in_processes(const std::vector<std::size_t>& tasks, int processes, const Work& work, const Receive& receive);

}  // namespace farandole
