#include "study/team.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <poll.h>

#include "config/modules.hpp"
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

}}  // namespace farandole::study
