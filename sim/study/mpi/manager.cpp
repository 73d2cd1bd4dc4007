#include "study/mpi/manager.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "config/error.hpp"
#include "study/mpi/protocol.hpp"

namespace farandole { inline namespace study {
namespace {

constexpr std::size_t tasks_ahead = 2;
constexpr int max_failures = 2;

}  // namespace

Manager::Manager(Mailbox& mailbox, std::string identity, const std::vector<std::size_t>& tasks, const Receive& receive)
    : mailbox_(mailbox),
      identity_(std::move(identity)),
      receive_(receive),
      waiting_(tasks.begin(), tasks.end()),
      open_(tasks.size()) {
  for (int rank = 1; rank < mailbox.ranks(); ++rank) workers_[rank].heard = Clock::now();
}

void Manager::run() {
  while (open_ > 0) {
    say_hello();
    bool is_busy = false;
    while (hear()) is_busy = true;
    expire_workers();
    if (!is_busy) std::this_thread::sleep_for(glance);
  }
}

std::string Manager::lost() const {
  std::string text;
  for (const auto& [rank, worker] : workers_) {
    if (worker.is_lost) text += fmt::format("{}rank {}", text.empty() ? "" : ", ", rank);
  }
  return text;
}

void Manager::say_hello() {
  if (Clock::now() - spoke_ < heartbeat) return;
  spoke_ = Clock::now();
  for (const auto& [rank, worker] : workers_) {
    if (worker.has_joined && !worker.is_lost) mailbox_.send(rank, Tag::alive, "");
  }
}

/// Whether there was something to hear.
bool Manager::hear() {
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

void Manager::register_worker(Worker& worker, const TeamMessage& message) {
  if (message.text != identity_) {
    throw InputError(
        fmt::format("farandole: rank {}: expected the scenario and data files that rank 0 reads, got "
                    "others, or another version of the program",
                    message.rank));
  }
  worker.has_joined = true;
}

void Manager::take_outcome(Worker& worker, const TeamMessage& message) {
  auto [task, outcome] = outcome_of(message.text);
  std::erase(worker.tasks, task);
  give_tasks(message.rank, worker);  // first, so that it works while its result is received
  finish(task, outcome);
}

void Manager::finish(std::size_t task, const Outcome& outcome) {
  --open_;
  receive_(task, outcome);
}

void Manager::give_tasks(int rank, Worker& worker) {
  while (worker.has_joined && worker.tasks.size() < tasks_ahead && !waiting_.empty()) {
    worker.tasks.push_back(waiting_.front());
    waiting_.pop_front();
    mailbox_.send(rank, Tag::task, to_text(worker.tasks.back()));
  }
}

void Manager::expire_workers() {
  for (auto& [rank, worker] : workers_) {
    const auto limit = worker.has_joined ? silence : joining;
    if (!worker.is_lost && Clock::now() - worker.heard > limit) bury(rank, worker);
  }
  const auto is_lost = [](const auto& entry) { return entry.second.is_lost; };
  if (open_ > 0 && std::ranges::all_of(workers_, is_lost)) throw std::runtime_error("no MPI worker is left");
}

void Manager::bury(int rank, Worker& worker) {
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

}}  // namespace farandole::study
