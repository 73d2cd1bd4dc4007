// The manager of an MPI team: gives tasks to workers and hears of their outcomes.
//
// Called by the team (manager.cpp). A worker has up to two tasks, so that it need not wait for the next. One that has
// said nothing for half a minute counts as dead: what it had goes to the others. A task that two workers died with has
// failed.
#pragma once

#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "study/team.hpp"

namespace farandole { inline namespace study {

// The texts of messages within an MPI team, and the times everyone keeps to.

inline constexpr std::chrono::microseconds glance{200};  // between two looks for messages
inline constexpr std::chrono::seconds heartbeat{1};      // how often everyone is heard of at least
inline constexpr std::chrono::seconds silence{30};       // after which a rank counts as dead
inline constexpr std::chrono::seconds joining{300};      // the same before it has read its files

inline std::string to_text(std::size_t task) {
  return {reinterpret_cast<const char*>(&task), sizeof task};
}

inline std::size_t task_of(const std::string& text) {
  std::size_t task = 0;
  if (text.size() < sizeof task) throw std::logic_error("a message without a task");
  std::memcpy(&task, text.data(), sizeof task);
  return task;
}

/// The task, a byte for the kind, the outcome's text.
inline std::string to_text(std::size_t task, const Outcome& outcome) {
  return to_text(task) + static_cast<char>(outcome.kind) + outcome.text;
}

inline std::pair<std::size_t, Outcome> outcome_of(const std::string& text) {
  const std::size_t task = task_of(text);
  if (text.size() == sizeof task) throw std::logic_error("a message without an outcome");
  return {task, {static_cast<Outcome::Kind>(text[sizeof task]), text.substr(sizeof task + 1)}};
}

// What manager and workers of an MPI team say to one another.
//
// Used by study/mpi/ alone. Everyone looks for messages without waiting for them, so that nobody spins on a core that a
// simulation could use, and a rank that dies never blocks another. Silence is how a death shows: every rank is heard of
// at least once a second.

enum class Tag : int {
  hello = 1,  // worker to manager, once: which study it has read
  outcome,    // worker to manager: a task, its kind and text
  task,       // manager to worker
  end,        // manager to worker: nothing more to do; "" where all are well, else who died
  alive       // both ways, now and then
};

/// As it was received.
struct TeamMessage {
  int rank = 0;  // who sent it
  Tag tag = Tag::alive;
  std::string text;
};

class Mailbox {
 public:
  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// The next message from anyone, if one is there.
  std::optional<TeamMessage> look();
  /// Does not wait until it is received.
  void send(int rank, Tag tag, const std::string& text);
  /// Waits until all that was sent has left, but no longer than that.
  void flush(std::chrono::milliseconds patience);

 private:
  struct Sending;

  void forget_what_was_sent();

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<std::unique_ptr<Sending>> sending_;
};

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

}}  // namespace farandole::study
