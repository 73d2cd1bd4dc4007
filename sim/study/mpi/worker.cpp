#include <chrono>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>

#include <poll.h>

#include "study/mpi/manager.hpp"
#include "study/mpi/protocol.hpp"

namespace farandole { inline namespace study {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int manager = 0;

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
    mailbox_.send(manager, Tag::alive, "");
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
      outcome = {Outcome::Kind::failed, worker_->exit_reason()};
      worker_.reset();
    }
    start_next();
    mailbox_.send(manager, Tag::outcome, to_text(task, *outcome));
  }

  Mailbox& mailbox_;
  const Work& work_;
  std::deque<std::size_t> tasks_;
  std::unique_ptr<ForkedWorker> worker_;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point spoke_{};
};

}  // namespace

std::string work_for_manager(Mailbox& mailbox, const std::string& identity, const Work& work) {
  mailbox.send(manager, Tag::hello, identity);
  std::string last_message = Carrier(mailbox, work).run();
  mailbox.flush(std::chrono::seconds(1));
  return last_message;
}

std::string refuse_to_work(Mailbox& mailbox) {
  mailbox.send(manager, Tag::hello, "");
  for (const auto begin = Clock::now(); Clock::now() - begin < silence; std::this_thread::sleep_for(glance)) {
    const std::optional<TeamMessage> message = mailbox.look();
    if (message && message->tag == Tag::end) return message->text;
  }
  return "rank 0";
}

}}  // namespace farandole::study
