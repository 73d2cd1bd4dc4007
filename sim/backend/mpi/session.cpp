#include "backend/mpi/session.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include "backend/mpi/endpoint.hpp"
#include "backend/mpi/library.hpp"

namespace farandole {
namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find_first_of(",\n"));
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return first_line({text.data(), static_cast<std::size_t>(length)});
}

std::string host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> text{};
  int length = 0;
  MPI_Get_processor_name(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string system_of_this_machine() {
  utsname names{};
  uname(&names);
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

/// The processors this rank may run on: "0-3,8".
std::string binding() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return "unknown";
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(static_cast<std::size_t>(first), &allowed)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(last + 1), &allowed)) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last > first) text += fmt::format("-{}", last);
    first = last;
  }
  return text;
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

class MpiSession final : public Session {
 public:
  MpiSession() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(endpoint_.communicator(), MPI_COMM_TYPE_SHARED, endpoint_.rank(), MPI_INFO_NULL, &node);
    int local_rank = 0;
    MPI_Comm_rank(node, &local_rank);
    MPI_Comm_size(node, &ranks_per_node_);
    MPI_Comm_free(&node);
    for (const double is_first : endpoint_.everyones(local_rank == 0 ? 1 : 0)) nodes_ += static_cast<int>(is_first);
  }

  Endpoint& endpoint() override { return endpoint_; }
  [[nodiscard]] int ranks_per_node() const override { return ranks_per_node_; }
  [[nodiscard]] int nodes() const override { return nodes_; }

  Settings description() override {
    Settings settings{{"mpi.library", library_version()},
                      {"machine.system", system_of_this_machine()},
                      {"machine.nodes", std::to_string(nodes_)},
                      {"machine.ranks_per_node", std::to_string(ranks_per_node_)}};
    const std::vector<std::string> places = gathered(fmt::format("{}, processors {}", host(), binding()));
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
  /// Every rank's text, cut to a line's length; complete on all ranks.
  [[nodiscard]] std::vector<std::string> gathered(const std::string& text) const {
    using Line = std::array<char, 160>;
    Line own{};
    text.copy(own.data(), own.size() - 1);
    std::vector<Line> lines(static_cast<std::size_t>(endpoint_.ranks()));
    MPI_Allgather(own.data(), int{own.size()}, MPI_CHAR, lines.data(), int{own.size()}, MPI_CHAR,
                  endpoint_.communicator());
    std::vector<std::string> texts;
    for (const Line& line : lines) texts.emplace_back(line.data());
    return texts;
  }

  MpiRuntime runtime_;  // first in, last out
  MpiEndpoint endpoint_;
  int ranks_per_node_ = 1;
  int nodes_ = 0;
};

}  // namespace

std::string mpi_version() {
  int version = 0;
  int subversion = 0;
  MPI_Get_version(&version, &subversion);
  return fmt::format("{}, standard {}.{}", library_version(), version, subversion);
}

std::unique_ptr<Session> open_mpi_session() {
  return std::make_unique<MpiSession>();
}

}  // namespace farandole
