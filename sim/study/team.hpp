// The processes that an MPI launcher started, sharing one study: a manager, rank 0, and workers.
//
// Called by `farandole run` before anything else, on every rank. Each rank reads and plans the whole run by itself, so
// that only numbers of points travel one way and their records the other; ranks that read other files than the manager
// are refused. The manager alone journals and writes. A point that crashes costs that point. Points of a worker that
// dies go to the others, where the launcher keeps them running (Open MPI: mpirun --enable-recovery); else the launcher
// ends the run, and --resume goes on.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace farandole { inline namespace study {

// A forked copy of the program that does one task after the other.
//
// A team of this machine has several, each of the MPI workers (study/mpi/) one. SimGrid allows one engine at a time in
// a process, and a crash must not take the caller along: a worker that dies (a signal, no memory) costs the task it
// had. A worker ends when the program that forked it does, however that ends. The caller has one thread.

struct Outcome {
  enum class Kind : char { done, failed, bad_input };
  Kind kind = Kind::failed;
  std::string text;  // what the work returned, or why there is nothing
};

/// Runs in a worker; an InputError it throws is bad input, any other exception a failure.
using Work = std::function<std::string(std::size_t task)>;

class ForkedWorker {
 public:
  /// `siblings`: the sockets of other workers, which the new one must not hold open. `work` must outlive it.
  ForkedWorker(const Work& work, const std::vector<int>& siblings);
  /// Kills it if it has a task, and waits for its end.
  ~ForkedWorker();
  ForkedWorker(const ForkedWorker&) = delete;
  ForkedWorker& operator=(const ForkedWorker&) = delete;

  /// What it has been given and not returned.
  [[nodiscard]] std::optional<std::size_t> task() const { return task_; }
  /// Readable once there is an outcome; for poll().
  [[nodiscard]] int socket() const { return socket_; }

  void give(std::size_t task);
  /// No task will come; it ends.
  void dismiss();
  /// Waits for the outcome of its task; nothing where it died instead, or ended because it was dismissed.
  std::optional<Outcome> receive();
  /// Waits for its end and says what it was: "its process was ended by signal 9 (Killed)".
  Outcome ended();

 private:
  pid_t process_ = -1;
  int socket_ = -1;
  std::optional<std::size_t> task_;
};

// Work spread over processes of this machine.
//
// Called by study/study.hpp. A worker that dies costs the task it had, which is reported as failed; a new worker takes
// its place and all other tasks are done.

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
