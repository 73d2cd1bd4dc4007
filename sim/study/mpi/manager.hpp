// The manager of an MPI team: gives tasks to workers and hears of their outcomes.
//
// Called by study/mpi/mpi_team.cpp. A worker has up to two tasks, so that it need not wait for the next. One that has
// said nothing for half a minute counts as dead: what it had goes to the others. A task that two workers died with has
// failed.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "study/forked_worker.hpp"
#include "study/mpi/messages.hpp"
#include "study/team.hpp"

namespace farandole { inline namespace study {

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
  void register_worker(Worker& worker, const TeamMessage& message);
  void take_outcome(Worker& worker, const TeamMessage& message);
  void finish(std::size_t task, const Outcome& outcome);
  void give_tasks(int rank, Worker& worker);
  void expire_workers();
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

// The team of an MPI launcher, in the module "mpi" (config/modules.hpp); study/team.hpp has the contract.

/// Starts MPI; leaves `team` null where MPI knows of this process only.
extern "C" __attribute__((visibility("default"))) void farandole_join_mpi_team(std::unique_ptr<Team>& team);

// A worker of an MPI team: does the manager's tasks, one after the other, in a forked process.
//
// Called by study/mpi/mpi_team.cpp. The rank itself only carries messages, so that it is heard of while a task is under
// way and survives its crash; the forked process never touches MPI.

/// Until the manager says that it is over; returns what it said. std::runtime_error where it falls silent.
std::string work_for_manager(Mailbox& mailbox, const std::string& identity, const Work& work);

/// Tells the manager that this rank cannot work, and waits for the end; returns what it said, or that it said nothing.
std::string refuse_to_work(Mailbox& mailbox);

}}  // namespace farandole::study
