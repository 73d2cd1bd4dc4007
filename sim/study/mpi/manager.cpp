// The team of an MPI launcher, the module "mpi" (config/modules.hpp); study/team.hpp has the contract.
//
// A worker has up to two tasks, so that it need not wait for the next. One that has said nothing for half a minute
// counts as dead: what it had goes to the others. A task that two workers died with has failed.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>
#include <poll.h>

#include "config/error.hpp"
#include "study/team.hpp"

namespace farandole { inline namespace study {
namespace {

// The texts of messages within an MPI team, and the times everyone keeps to.

constexpr std::chrono::microseconds glance{200};  // between two looks for messages
constexpr std::chrono::seconds heartbeat{1};      // how often everyone is heard of at least
constexpr std::chrono::seconds silence{30};       // after which a rank counts as dead
constexpr std::chrono::seconds joining{300};      // the same before it has read its files

std::string to_text(std::size_t task) {
  return {reinterpret_cast<const char*>(&task), sizeof task};
}

std::size_t task_of(const std::string& text) {
  std::size_t task = 0;
  if (text.size() < sizeof task) throw std::logic_error("a message without a task");
  std::memcpy(&task, text.data(), sizeof task);
  return task;
}

/// The task, a byte for the kind, the outcome's text.
std::string to_text(std::size_t task, const Outcome& outcome) {
  return to_text(task) + static_cast<char>(outcome.kind) + outcome.text;
}

std::pair<std::size_t, Outcome> outcome_of(const std::string& text) {
  const std::size_t task = task_of(text);
  if (text.size() == sizeof task) throw std::logic_error("a message without an outcome");
  return {task, {static_cast<Outcome::Kind>(text[sizeof task]), text.substr(sizeof task + 1)}};
}

// What manager and workers of an MPI team say to one another.
//
// Everyone looks for messages without waiting for them, so that nobody spins on a core that a
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
  Mailbox() {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    // That a rank is gone is not the end of the others.
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &ranks_);
  }
  // The communicator stays until MPI ends: to free it, all ranks would have to be there.
  ~Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// The next message from anyone, if one is there.
  std::optional<TeamMessage> look() {
    int is_there = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &is_there, &handle, &status) != MPI_SUCCESS) return {};
    if (is_there == 0) return {};
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    TeamMessage message{status.MPI_SOURCE, static_cast<Tag>(status.MPI_TAG),
                        std::string(static_cast<std::size_t>(size), 0)};
    if (MPI_Mrecv(message.text.data(), size, MPI_CHAR, &handle, &status) != MPI_SUCCESS) return {};
    return message;
  }

  /// Does not wait until it is received.
  void send(int rank, Tag tag, const std::string& text) {
    forget_what_was_sent();
    Sending& sending = *sending_.emplace_back(std::make_unique<Sending>());
    sending.text = text;
    MPI_Isend(sending.text.data(), static_cast<int>(sending.text.size()), MPI_CHAR, rank, static_cast<int>(tag),
              communicator_, &sending.request);
  }

  /// Waits until all that was sent has left, but no longer than that.
  void flush(std::chrono::milliseconds patience) {
    using std::chrono::steady_clock;
    for (const auto end = steady_clock::now() + patience; steady_clock::now() < end;) {
      forget_what_was_sent();
      if (sending_.empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  struct Sending {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void forget_what_was_sent() {
    std::erase_if(sending_, [](const auto& sending) {
      int is_done = 0;
      return MPI_Test(&sending->request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_done != 0;
    });
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<std::unique_ptr<Sending>> sending_;
};

using Clock = std::chrono::steady_clock;
constexpr int rank_of_manager = 0;
constexpr std::size_t tasks_ahead = 2;
constexpr int max_failures = 2;

/// A worker of an MPI team: does the manager's tasks, one after the other, in a forked process. The rank itself only
/// carries messages, so that it is heard of while a task is under way and survives its crash; the forked process never
/// touches MPI.
class Carrier {
 public:
  Carrier(Mailbox& mailbox, const Work& work) : mailbox_(mailbox), work_(work) {}

  std::string run() {
    while (true) {
      while (const std::optional<TeamMessage> message = mailbox_.look()) {
        heard_ = Clock::now();
        if (message->tag == Tag::end) return message->text;
        if (message->tag == Tag::task) tasks_.push_back(task_of(message->text));
      }
      if (Clock::now() - heard_ > silence) throw std::runtime_error("the manager, MPI rank 0, is silent");
      say_hello();
      start_next();
      if (has_outcome()) pass_on();
    }
  }

 private:
  void say_hello() {
    if (Clock::now() - spoke_ < heartbeat) return;
    spoke_ = Clock::now();
    mailbox_.send(rank_of_manager, Tag::alive, "");
  }

  void start_next() {
    if (tasks_.empty() || (worker_ && worker_->task())) return;
    if (!worker_) worker_ = std::make_unique<ForkedWorker>(work_, std::vector<int>{});
    worker_->give(tasks_.front());
    tasks_.pop_front();
  }

  /// Takes a moment where there is none.
  bool has_outcome() const {
    if (!worker_ || !worker_->task()) {
      std::this_thread::sleep_for(glance);
      return false;
    }
    pollfd socket{worker_->socket(), POLLIN, 0};
    constexpr int milliseconds = 1;
    return ::poll(&socket, 1, milliseconds) > 0;
  }

  void pass_on() {
    const std::size_t task = *worker_->task();
    std::optional<Outcome> outcome = worker_->receive();
    if (!outcome) {
      outcome = worker_->ended();
      worker_.reset();
    }
    start_next();
    mailbox_.send(rank_of_manager, Tag::outcome, to_text(task, *outcome));
  }

  Mailbox& mailbox_;
  const Work& work_;
  std::deque<std::size_t> tasks_;
  std::unique_ptr<ForkedWorker> worker_;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point spoke_{};
};

/// Until the manager says that it is over; returns what it said. std::runtime_error where it falls silent.
std::string work_for_manager(Mailbox& mailbox, const std::string& identity, const Work& work) {
  mailbox.send(rank_of_manager, Tag::hello, identity);
  std::string last_message = Carrier(mailbox, work).run();
  mailbox.flush(std::chrono::seconds(1));
  return last_message;
}

/// Tells the manager that this rank cannot work, and waits for the end; returns what it said, or that it said nothing.
std::string refuse_to_work(Mailbox& mailbox) {
  mailbox.send(rank_of_manager, Tag::hello, "");
  for (const auto begin = Clock::now(); Clock::now() - begin < silence; std::this_thread::sleep_for(glance)) {
    const std::optional<TeamMessage> message = mailbox.look();
    if (message && message->tag == Tag::end) return message->text;
  }
  return "rank 0";
}

/// Gives tasks to workers and hears of their outcomes.
class Manager {
 public:
  Manager(Mailbox& mailbox, std::string identity, const std::vector<std::size_t>& tasks, const Receive& receive)
      : mailbox_(mailbox),
        identity_(std::move(identity)),
        receive_(receive),
        waiting_(tasks.begin(), tasks.end()),
        open_(tasks.size()) {
    for (int rank = 1; rank < mailbox.ranks(); ++rank) workers_[rank].heard = Clock::now();
  }

  /// Until all tasks have an outcome.
  void run() {
    while (open_ > 0) {
      say_hello();
      bool is_busy = false;
      while (hear()) is_busy = true;
      expire_workers();
      if (!is_busy) std::this_thread::sleep_for(glance);
    }
  }

  /// The ranks that died, as text; empty where all are well.
  [[nodiscard]] std::string lost() const {
    std::string text;
    for (const auto& [rank, worker] : workers_) {
      if (worker.is_lost) text += fmt::format("{}rank {}", text.empty() ? "" : ", ", rank);
    }
    return text;
  }

 private:
  struct Worker {
    bool has_joined = false;
    bool is_lost = false;
    std::deque<std::size_t> tasks;  // the first is the one it works on
    Clock::time_point heard;
  };

  void say_hello() {
    if (Clock::now() - spoke_ < heartbeat) return;
    spoke_ = Clock::now();
    for (const auto& [rank, worker] : workers_) {
      if (worker.has_joined && !worker.is_lost) mailbox_.send(rank, Tag::alive, "");
    }
  }

  /// Whether there was something to hear.
  bool hear() {
    const std::optional<TeamMessage> message = mailbox_.look();
    if (!message) return false;
    Worker& worker = workers_.at(message->rank);
    if (worker.is_lost) return true;  // given up already, and its tasks are others'
    worker.heard = Clock::now();
    if (message->tag == Tag::hello) register_worker(worker, *message);
    if (message->tag == Tag::outcome) take_outcome(worker, *message);
    give_tasks(message->rank, worker);
    return true;
  }

  void register_worker(Worker& worker, const TeamMessage& message) {
    if (message.text != identity_) {
      throw InputError(
          fmt::format("farandole: rank {}: expected the scenario and data files that rank 0 reads, got "
                      "others, or another version of the program",
                      message.rank));
    }
    worker.has_joined = true;
  }

  void take_outcome(Worker& worker, const TeamMessage& message) {
    auto [task, outcome] = outcome_of(message.text);
    std::erase(worker.tasks, task);
    give_tasks(message.rank, worker);  // first, so that it works while its result is received
    finish(task, outcome);
  }

  void finish(std::size_t task, const Outcome& outcome) {
    --open_;
    receive_(task, outcome);
  }

  void give_tasks(int rank, Worker& worker) {
    while (worker.has_joined && worker.tasks.size() < tasks_ahead && !waiting_.empty()) {
      worker.tasks.push_back(waiting_.front());
      waiting_.pop_front();
      mailbox_.send(rank, Tag::task, to_text(worker.tasks.back()));
    }
  }

  void expire_workers() {
    for (auto& [rank, worker] : workers_) {
      const auto limit = worker.has_joined ? silence : joining;
      if (!worker.is_lost && Clock::now() - worker.heard > limit) bury(rank, worker);
    }
    const auto is_lost = [](const auto& entry) { return entry.second.is_lost; };
    if (open_ > 0 && std::ranges::all_of(workers_, is_lost)) throw std::runtime_error("no MPI worker is left");
  }

  void bury(int rank, Worker& worker) {
    worker.is_lost = true;
    const std::deque<std::size_t> left = std::exchange(worker.tasks, {});
    waiting_.insert(waiting_.begin(), left.begin(), left.end());
    if (!left.empty() && ++deaths_[left.front()] == max_failures) {
      std::erase(waiting_, left.front());
      finish(left.front(),
             {Outcome::Kind::failed, fmt::format("{} MPI workers died with it, the last rank {}", max_failures, rank)});
    }
    for (auto& [other, survivor] : workers_) {
      if (!survivor.is_lost) give_tasks(other, survivor);
    }
  }

  Mailbox& mailbox_;
  std::string identity_;
  const Receive& receive_;
  std::deque<std::size_t> waiting_;
  std::size_t open_;                   // tasks without an outcome
  std::map<std::size_t, int> deaths_;  // of workers, by the task they were at
  std::map<int, Worker> workers_;      // by rank
  Clock::time_point spoke_{};
};

/// MPI as long as the team lives. It ends together, so not at all where a rank is missing.
class Runtime {
 public:
  Runtime() {
    if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) throw std::runtime_error("MPI does not start");
  }
  ~Runtime() {
    if (all_are_well) MPI_Finalize();
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  bool all_are_well = true;
};

class MpiTeam final : public Team {
 public:
  /// Those that could not begin, because of bad input say, do not keep the others waiting.
  ~MpiTeam() override {
    if (is_manager()) {
      end_workers("");
    } else if (!has_served_) {
      runtime_.all_are_well = refuse_to_work(mailbox_).empty();
    }
  }

  [[nodiscard]] int ranks() const { return mailbox_.ranks(); }
  [[nodiscard]] bool is_manager() const override { return mailbox_.rank() == 0; }

  void manage(const std::string& identity, const std::vector<std::size_t>& tasks, const Receive& receive) override {
    Manager manager(mailbox_, identity, tasks, receive);
    try {
      manager.run();
    } catch (...) {
      end_workers(manager.lost());
      throw;
    }
    end_workers(manager.lost());
  }

  void serve(const std::string& identity, const Work& work) override {
    has_served_ = true;
    runtime_.all_are_well = false;  // unless the manager says so
    runtime_.all_are_well = work_for_manager(mailbox_, identity, work).empty();
  }

 private:
  void end_workers(const std::string& lost) {
    if (has_ended_) return;
    has_ended_ = true;
    runtime_.all_are_well = lost.empty();
    for (int rank = 1; rank < mailbox_.ranks(); ++rank) mailbox_.send(rank, Tag::end, lost);
    mailbox_.flush(std::chrono::milliseconds(lost.empty() ? 30'000 : 1'000));
  }

  Runtime runtime_;  // first in, last out
  Mailbox mailbox_;
  bool has_ended_ = false;
  bool has_served_ = false;
};

}  // namespace

/// Starts MPI; leaves `team` null where MPI knows of this process only.
extern "C" __attribute__((visibility("default"))) void farandole_join_mpi_team(std::unique_ptr<Team>& team) {
  auto joined = std::make_unique<MpiTeam>();
  if (joined->ranks() > 1) team = std::move(joined);
}

}}  // namespace farandole::study
