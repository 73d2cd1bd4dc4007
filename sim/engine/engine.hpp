// The seam between what a strategy decides and the clock and network it runs on.
//
// A strategy adds tasks and is told what happened. engine/simulated_job.hpp carries them out in simulated time,
// backend/replay with MPI or NCCL on a wall clock; strategies cannot tell the difference.
#pragma once

#include <stdexcept>
#include <string>

#include "engine/task.hpp"

namespace farandole { inline namespace engine {

/// Something is over: what was to be told, when each rank passed it, and of a task its number and times.
struct Happening {
  Note note;
  RankTimes moments{};  // empty: of one worker, now
  TaskId task = -1;
  const TaskTimes* times = nullptr;
};

class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual Seconds now() const = 0;
  /// Tells at `when`, at the earliest now.
  virtual void call_at(Seconds when, Note note) = 0;
  /// Tells when the task is done on all ranks, and of marks when all ranks have passed them. A replay carries out tasks
  /// of ranks, or what workers do with servers.
  virtual TaskId add(Task /*task*/) { lack("collectives"); }

  /// Tells when a worker's device has computed for so long.
  virtual void compute(int /*worker*/, Seconds /*work*/, Note /*note*/) { lack("servers"); }
  /// Tells when the last byte has arrived.
  virtual void send(Connection /*connection*/, Bytes /*size*/, Note /*note*/) { lack("servers"); }
  /// Tells when the memory of the server's host has moved so many bytes; what it does at the same time shares it
  /// evenly. `worker`: for whose push, which stands for those of all that are carried with it; or `everyone`.
  virtual void process(int /*server*/, int /*worker*/, Bytes /*traffic*/, Note /*note*/) { lack("servers"); }

  static constexpr int everyone = -1;

  /// Whether this engine carries that worker out: a simulation carries all of them, a process of a replay its own, with
  /// a copy of the strategy of its own.
  [[nodiscard]] virtual bool has(int /*worker*/) const { return true; }
  /// Tells the copy of the strategy that has that worker, or all others; where one engine has all there are no others.
  virtual void tell(int /*worker*/, Note /*note*/) {}

 private:
  [[noreturn]] static void lack(const char* what) { throw std::logic_error(std::string("an engine without ") + what); }
};

}}  // namespace farandole::engine
