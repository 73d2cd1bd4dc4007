// The processes that an MPI launcher started, sharing one study: a manager, rank 0, and workers.
//
// Called by `farandole run` before anything else, on every rank. Each rank reads and plans the whole run by itself, so
// that only numbers of points travel one way and their records the other; ranks that read other files than the manager
// are refused. The manager alone journals and writes. A point that crashes costs that point. Points of a worker that
// dies go to the others, where the launcher keeps them running (Open MPI: mpirun --enable-recovery); else the launcher
// ends the run, and --resume goes on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "study/forked_worker.hpp"

namespace farandole { inline namespace study {

// Work spread over processes of this machine.
//
// Called by study/study.hpp. A worker that dies costs the task it had, which is reported as failed; a new worker takes
// its place and all other tasks are done (study/forked_worker.hpp).

/// Runs in the calling process, in the order in which tasks end. If it throws, the workers are killed.
using Receive = std::function<void(std::size_t task, const Outcome& outcome)>;

/// Every task once, on at most `processes` workers, started in the order given.
void run_in_processes(const std::vector<std::size_t>& tasks, int processes, const Work& work, const Receive& receive);

class Team {
 public:
  virtual ~Team() = default;

  [[nodiscard]] virtual bool is_manager() const = 0;
  /// The manager's part: every task once, each outcome in the order in which they come. `identity` says which study it
  /// is. std::runtime_error where no worker is left.
  virtual void manage(const std::string& identity, const std::vector<std::size_t>& tasks, const Receive& receive) = 0;
  /// A worker's part, until the manager ends it. std::runtime_error where the manager falls silent.
  virtual void serve(const std::string& identity, const Work& work) = 0;
};

/// Null where no launcher started the program as several processes, or MPI is not usable (config/modules.hpp).
std::unique_ptr<Team> join_team();

}}  // namespace farandole::study
