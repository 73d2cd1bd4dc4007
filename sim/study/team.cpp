#include "study/team.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
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
#include "config/modules.hpp"
#include "study/point_timer.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace study {
namespace {

/// What launchers tell the processes they start: Open MPI, PMIx, MPICH and its relatives, Slurm's srun, ALPS' aprun.
/// MPI itself is not asked: a program that stands alone must not wait for a network.
bool is_launched() {
  constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_STEP_NUM_TASKS",
                                 "ALPS_APP_PE"};
  return std::ranges::any_of(variables, [](const char* name) { return std::getenv(name) != nullptr; });
}

using Workers = std::vector<std::unique_ptr<ForkedWorker>>;

std::vector<int> sockets_of(const Workers& workers) {
  return mapped(workers, [](const auto& worker) { return worker->socket(); });
}

/// Those that have something to say, or have died.
std::vector<std::size_t> talking(const Workers& workers) {
  auto sockets = mapped(sockets_of(workers), [](int socket) { return pollfd{socket, POLLIN, 0}; });
  while (::poll(sockets.data(), sockets.size(), -1) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  }
  return places_of(sockets, [](const pollfd& socket) { return socket.revents != 0; });
}

class Pool {
 public:
  Pool(const std::vector<std::size_t>& tasks, const Work& work) : tasks_(tasks), work_(work) {}

  void run(std::size_t processes, const Receive& receive) {
    while (workers_.size() < std::min(processes, tasks_.size())) start_worker();
    while (!workers_.empty()) {
      for (const std::size_t index : talking(workers_)) hear(workers_[index], receive);
      std::erase(workers_, nullptr);
      while (workers_.size() < processes && next_ < tasks_.size()) start_worker();
    }
  }

 private:
  void start_worker() {
    workers_.push_back(std::make_unique<ForkedWorker>(work_, sockets_of(workers_)));
    give_task(*workers_.back());
  }

  void give_task(ForkedWorker& worker) {
    if (next_ == tasks_.size()) return worker.dismiss();
    worker.give(tasks_[next_++]);
  }

  /// The worker is gone afterwards if it is dead.
  void hear(std::unique_ptr<ForkedWorker>& worker, const Receive& receive) {
    const std::optional<std::size_t> task = worker->task();
    std::optional<Outcome> outcome = worker->receive();
    if (outcome) {
      give_task(*worker);  // first, so that it works while its result is received
    } else {
      outcome = worker->ended();
      worker.reset();
    }
    if (task) receive(*task, *outcome);
  }

  const std::vector<std::size_t>& tasks_;
  const Work& work_;
  Workers workers_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Team> join_team() {
  if (!is_launched()) return nullptr;
  std::unique_ptr<Team> team;
  const ModuleFunction join = module_function("mpi", "farandole_join_mpi_team");
  if (join.address != nullptr) reinterpret_cast<void (*)(std::unique_ptr<Team>&)>(join.address)(team);
  return team;
}

void run_in_processes(const std::vector<std::size_t>& tasks, int processes, const Work& work, const Receive& receive) {
  Pool(tasks, work).run(static_cast<std::size_t>(std::max(processes, 1)), receive);
}

namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// All bytes through calls that take or give some of them; false where the other side is gone.
template <class Byte>
bool pass_all(Byte* at, std::size_t size, auto pass_some) {
  while (size > 0) {
    const ssize_t passed = pass_some(at, size);
    if (passed < 0 && errno == EINTR) continue;
    if (passed <= 0) return false;
    at += passed;
    size -= static_cast<std::size_t>(passed);
  }
  return true;
}

bool send_all(int socket, const void* data, std::size_t size) {
  return pass_all(static_cast<const char*>(data), size,
                  [&](const char* at, std::size_t left) { return ::send(socket, at, left, MSG_NOSIGNAL); });
}

bool receive_all(int socket, void* data, std::size_t size) {
  return pass_all(static_cast<char*>(data), size,
                  [&](char* at, std::size_t left) { return ::recv(socket, at, left, 0); });
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

Outcome end_of(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM) return {Outcome::Kind::failed, "it took longer than --point-timeout allows"};
  if (signal == SIGPROF) return {Outcome::Kind::bad_input, beyond_budget()};
  if (signal != 0)
    return {Outcome::Kind::failed, fmt::format("its process was ended by signal {} ({})", signal, ::strsignal(signal))};
  return {Outcome::Kind::failed, fmt::format("its process ended with status {}", WEXITSTATUS(status))};
}

[[noreturn]] void become_worker(int socket, const Work& work) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  serve(socket, work);
  ::_exit(0);  // ends a forked worker
}

}  // namespace

ForkedWorker::ForkedWorker(const Work& work, const std::vector<int>& siblings) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
  process_ = ::fork();
  if (process_ < 0) fail("fork");
  if (process_ == 0) {
    // Only the parent may hold the other ends: they close, and workers end, with it.
    ::close(sockets[0]);
    for (const int sibling : siblings) ::close(sibling);
    become_worker(sockets[1], work);
  }
  ::close(sockets[1]);
  socket_ = sockets[0];
}

ForkedWorker::~ForkedWorker() {
  if (process_ >= 0 && task_) ::kill(process_, SIGKILL);
  ::close(socket_);
  if (process_ >= 0) end_of(process_);
}

void ForkedWorker::give(std::size_t task) {
  task_ = task;
  // Where the worker is dead already, its socket says so when it is read.
  send_all(socket_, &task, sizeof task);
}

void ForkedWorker::dismiss() {
  ::shutdown(socket_, SHUT_WR);
}

std::optional<Outcome> ForkedWorker::receive() {
  std::optional<Outcome> outcome = receive_outcome(socket_);
  task_.reset();
  return outcome;
}

Outcome ForkedWorker::ended() {
  const pid_t process = process_;
  process_ = -1;
  return end_of(process);
}

}}  // namespace farandole::study
