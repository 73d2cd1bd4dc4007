#include "study/process_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "config/error.hpp"

namespace farandole {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// False where the other side is gone.
bool send_all(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t received = ::recv(socket, at, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    size -= static_cast<std::size_t>(received);
  }
  return true;
}

Outcome attempt(const Work& work, std::size_t task) {
  try {
    return {Outcome::Kind::done, work(task)};
  } catch (const InputError& error) {
    return {Outcome::Kind::bad_input, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::Kind::failed, error.what()};
  }
}

bool send_outcome(int socket, const Outcome& outcome) {
  const std::uint64_t size = outcome.text.size();
  return send_all(socket, &outcome.kind, sizeof outcome.kind) && send_all(socket, &size, sizeof size) &&
         send_all(socket, outcome.text.data(), outcome.text.size());
}

std::optional<Outcome> receive_outcome(int socket) {
  Outcome outcome;
  std::uint64_t size = 0;
  if (!receive_all(socket, &outcome.kind, sizeof outcome.kind) || !receive_all(socket, &size, sizeof size)) return {};
  outcome.text.resize(size);
  if (!receive_all(socket, outcome.text.data(), size)) return {};
  return outcome;
}

/// What a worker does until no task comes any more.
void serve(int socket, const Work& work) {
  std::size_t task = 0;
  while (receive_all(socket, &task, sizeof task)) {
    if (!send_outcome(socket, attempt(work, task))) return;
  }
}

struct Worker {
  pid_t process = -1;
  int socket = -1;
  std::optional<std::size_t> task;
};

std::string cause_of_death(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    return fmt::format("its process was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("its process ended with status {}", WEXITSTATUS(status));
}

class Pool {
 public:
  Pool(const std::vector<std::size_t>& tasks, const Work& work) : tasks_(tasks), work_(work) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (const Worker& worker : workers_) {
      if (worker.process < 0) continue;
      if (worker.task) ::kill(worker.process, SIGKILL);
      ::close(worker.socket);
      cause_of_death(worker.process);
    }
  }

  void run(std::size_t processes, const Receive& receive) {
    while (workers_.size() < std::min(processes, tasks_.size())) start_worker();
    while (!workers_.empty()) {
      for (const std::size_t index : talking_workers()) hear(index, receive);
      std::erase_if(workers_, [](const Worker& worker) { return worker.process < 0; });
      while (workers_.size() < processes && next_ < tasks_.size()) start_worker();
    }
  }

 private:
  void start_worker() {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
    const pid_t process = ::fork();
    if (process < 0) fail("fork");
    if (process == 0) {
      become_worker(sockets[0], sockets[1]);
    }
    ::close(sockets[1]);
    workers_.push_back({process, sockets[0], {}});
    give_task(workers_.back());
  }

  [[noreturn]] void become_worker(int other_end, int socket) {
#ifdef __linux__
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    // Only the parent may hold the other ends: they close, and workers end, with it.
    ::close(other_end);
    for (const Worker& sibling : workers_) ::close(sibling.socket);
    serve(socket, work_);
    ::_exit(0);  // ends a forked worker
  }

  void give_task(Worker& worker) {
    worker.task.reset();
    if (next_ == tasks_.size()) {
      ::shutdown(worker.socket, SHUT_WR);
      return;
    }
    worker.task = tasks_[next_++];
    // Where the worker is dead already, its socket says so when it is read.
    send_all(worker.socket, &*worker.task, sizeof *worker.task);
  }

  [[nodiscard]] std::vector<std::size_t> talking_workers() const {
    std::vector<pollfd> sockets;
    for (const Worker& worker : workers_) sockets.push_back({worker.socket, POLLIN, 0});
    while (::poll(sockets.data(), sockets.size(), -1) < 0) {
      if (errno != EINTR) fail("poll");
    }
    std::vector<std::size_t> talking;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].revents != 0) talking.push_back(i);
    }
    return talking;
  }

  void hear(std::size_t index, const Receive& receive) {
    Worker& worker = workers_[index];
    std::optional<Outcome> outcome = receive_outcome(worker.socket);
    const std::optional<std::size_t> task = worker.task;
    if (outcome) {
      give_task(worker);  // first, so that it works while its result is received
    } else {
      ::close(worker.socket);
      outcome = {Outcome::Kind::failed, cause_of_death(worker.process)};
      worker = {};
    }
    if (task) receive(*task, *outcome);
  }

  const std::vector<std::size_t>& tasks_;
  const Work& work_;
  std::vector<Worker> workers_;
  std::size_t next_ = 0;
};

}  // namespace

void run_in_processes(const std::vector<std::size_t>& tasks, int processes, const Work& work, const Receive& receive) {
  Pool(tasks, work).run(static_cast<std::size_t>(std::max(processes, 1)), receive);
}

}  // namespace farandole
