// The manager of an MPI team: gives tasks to workers and hears of their outcomes.
//
// Called by study/mpi/mpi_team.cpp. A worker has up to two tasks, so that it need not wait for the next. One that has
// said nothing for half a minute counts as dead: what it had goes to the others. A task that two workers died with has
// failed.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "study/mpi/messages.hpp"
#include "study/process_pool.hpp"

namespace farandole {

class Manager {
 public:
  Manager(Mailbox& mailbox, std::string identity, const std::vector<std::size_t>& tasks, const Receive& receive);

  /// Until all tasks have an outcome.
  void run();
  /// The ranks that died, as text; empty where all are well.
  [[nodiscard]] std::string lost() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    bool has_joined = false;
    bool is_lost = false;
    std::deque<std::size_t> tasks;  // the first is the one it works on
    Clock::time_point heard;
  };

  bool hear();
  void take_hello(Worker& worker, const TeamMessage& message);
  void take_outcome(Worker& worker, const TeamMessage& message);
  void finish(std::size_t task, const Outcome& outcome);
  void give_tasks(int rank, Worker& worker);
  void bury_the_silent();
  void bury(int rank, Worker& worker);
  void say_hello();

  Mailbox& mailbox_;
  std::string identity_;
  const Receive& receive_;
  std::deque<std::size_t> waiting_;
  std::size_t open_;                   // tasks without an outcome
  std::map<std::size_t, int> deaths_;  // of workers, by the task they were at
  std::map<int, Worker> workers_;      // by rank
  Clock::time_point spoke_{};
};

}  // namespace farandole
