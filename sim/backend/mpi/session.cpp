#include "backend/mpi/session.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/prctl.h>

#include "backend/host_description.hpp"

namespace farandole { inline namespace backend {
namespace {

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

class MpiRuntime {
 public:
  MpiRuntime() {
    if (MPI_Init(nullptr, nullptr) != MPI_SUCCESS) throw std::runtime_error("MPI does not start");
  }
  ~MpiRuntime() { MPI_Finalize(); }
  MpiRuntime(const MpiRuntime&) = delete;
  MpiRuntime& operator=(const MpiRuntime&) = delete;
};

/// The ranks of this node.
struct Neighbours {
  int first = 0;
  int count = 1;
};

Neighbours neighbours() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  Neighbours found;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &found.first, 1, MPI_INT, MPI_MIN, node);
  MPI_Comm_size(node, &found.count);
  MPI_Comm_free(&node);
  return found;
}

/// Sleep where there are more ranks than processors; short enough for messages through shared memory, which wake
/// nobody.
Seconds idle_poll_for(int ranks_on_node) {
  const bool is_crowded = static_cast<unsigned>(ranks_on_node) > std::thread::hardware_concurrency();
  return is_crowded ? 50_us : Seconds(0);
}

class MpiSession final : public Session {
 public:
  explicit MpiSession(const SessionOptions& options)
      : neighbours_(neighbours()),
        idle_poll_(options.idle_poll.value_or(idle_poll_for(neighbours_.count))),
        endpoint_(MPI_COMM_WORLD, idle_poll_) {
    std::map<int, int> nodes;  // by their first rank
    for (const double first : endpoint_.allgather_scalar(neighbours_.first)) {
      const auto [node, is_new] = nodes.try_emplace(static_cast<int>(first), static_cast<int>(nodes.size()));
      node_of_ranks_.push_back(node->second);
    }
    nodes_ = static_cast<int>(nodes.size());
  }

  Endpoint& endpoint() override { return endpoint_; }
  std::unique_ptr<Endpoint> open_channel() override {
    return std::make_unique<MpiEndpoint>(endpoint_.communicator(), idle_poll_);
  }
  [[nodiscard]] int ranks_per_node() const override { return neighbours_.count; }
  [[nodiscard]] int nodes() const override { return nodes_; }
  [[nodiscard]] std::vector<int> node_of_ranks() const override { return node_of_ranks_; }

  Settings description() override {
    Settings settings{{"mpi.library", library_version()},
                      {"machine.system", system_of_this_machine()},
                      {"machine.nodes", std::to_string(nodes_)},
                      {"machine.ranks_per_node", std::to_string(neighbours_.count)}};
    const std::vector<std::string> places =
        everyones_text(endpoint_, fmt::format("{}, processors {}", host_name(), binding()));
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      settings[fmt::format("rank.{:04}", rank)] = places[rank];
    }
    return settings;
  }

  CollectiveRun library(const Schedule& layout, std::int64_t size) override {
    return mpi_collective(endpoint_.communicator(), layout, size);
  }

  void abandon() override { MPI_Abort(endpoint_.communicator(), 1); }

 private:
  MpiRuntime runtime_;  // first in, last out
  Neighbours neighbours_;
  IdlePoll idle_poll_;
  MpiEndpoint endpoint_;
  int nodes_ = 0;
  std::vector<int> node_of_ranks_;
};

}  // namespace

/// "Open MPI v4.1.4, standard 3.1", without initialising it.
static std::string mpi_version() {
  int version = 0;
  int subversion = 0;
  MPI_Get_version(&version, &subversion);
  return fmt::format("{}, standard {}.{}", library_version(), version, subversion);
}

void farandole_mpi_backend(BackendRow& row) {
  row.version = mpi_version();
  row.open = [](const SessionOptions& options) -> std::unique_ptr<Session> {
    return std::make_unique<MpiSession>(options);
  };
}

namespace {

constexpr int tag = 1;

/// Open MPI looks at the requests first and at the network afterwards: only a second look sees what has come.
bool all_done(std::vector<MPI_Request>& requests) {
  int done = 0;
  for (int look = 0; look < 2 && done == 0; ++look) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  }
  return done != 0;
}

}  // namespace

MpiEndpoint::MpiEndpoint(MPI_Comm like, IdlePoll& idle_poll) : idle_poll_(idle_poll) {
  MPI_Comm_dup(like, &communicator_);
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &ranks_);
}

MpiEndpoint::~MpiEndpoint() {
  MPI_Comm_free(&communicator_);
}

void MpiEndpoint::send(std::span<const float> data, int to) {
  MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_FLOAT, to, tag, communicator_, &requests_.emplace_back());
}

void MpiEndpoint::receive(std::span<float> data, int from) {
  MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_FLOAT, from, tag, communicator_, &requests_.emplace_back());
}

void MpiEndpoint::wait_for(std::vector<MPI_Request>& requests) {
  if (idle_poll_.is_allowed()) {
    while (!all_done(requests)) idle_poll_.take(Seconds::infinity());
  } else {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
}

void MpiEndpoint::wait() {
  wait_for(requests_);
  requests_.clear();
}

bool MpiEndpoint::is_done() {
  if (!all_done(requests_)) return false;
  requests_.clear();
  return true;
}

std::vector<double> MpiEndpoint::allgather_scalar(double number) {
  std::vector<double> numbers(static_cast<std::size_t>(ranks_));
  std::vector<MPI_Request> request(1);
  MPI_Iallgather(&number, 1, MPI_DOUBLE, numbers.data(), 1, MPI_DOUBLE, communicator_, request.data());
  wait_for(request);
  return numbers;
}

namespace {

/// Those of this process that somebody waits on with epoll.
std::vector<pollfd> epoll_instances() {
  std::vector<pollfd> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const auto target = std::filesystem::read_symlink(entry.path(), none);
    if (target == "anon_inode:[eventpoll]") found.push_back({std::stoi(entry.path().filename()), POLLIN, 0});
  }
  return found;
}

timespec span_of(Seconds time) {
  const double whole = std::floor(time.si());
  return {static_cast<time_t>(whole), static_cast<long>((time.si() - whole) * 1e9)};
}

}  // namespace

IdlePoll::IdlePoll(Seconds longest) : longest_(longest) {
  if (!is_allowed()) return;
  prctl(PR_SET_TIMERSLACK, 1UL);  // wake on the nanosecond asked for, not up to 50 us later
  events_ = epoll_instances();
}

void IdlePoll::take(Seconds at_most) {
  const Seconds length = std::min(at_most, longest_);
  if (!(length > Seconds(0))) return;
  const timespec span = span_of(length);
  ppoll(events_.data(), events_.size(), &span, nullptr);
}

}}  // namespace farandole::backend
