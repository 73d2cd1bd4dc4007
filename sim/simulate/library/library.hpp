// Communication libraries: each picks the algorithm, and with it the protocol and the channels, by operation, size and
// ranks, as its own sources say.
//
// The decision is the library's. The time comes from the schedule it decided for, on the platform, at any fidelity, so
// that shared links and late ranks count as usual. Of NCCL, latencies and limits are its cost model's (nccl_route.hpp);
// of the MPI libraries, what the platform says of MPI (Platform::mpi), or else its transport's.
//
// Called by whoever needs a clock for a collective that names a library in place of an algorithm.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/network_scale.hpp"
#include "simulate/collective_clock.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace simulate {

/// What a library's tables know devices by.
struct DeviceKind {
  int compute_capability = 0;  // of CUDA devices: 80 is 8.0; 0: no CUDA device
  std::string gfx{};           // of ROCm devices: "gfx90a"; empty: no ROCm device
  std::string generation{};    // of GPUs: "ponte_vecchio"; may be empty

  /// No GPU: what ranks have is in the memory of hosts.
  [[nodiscard]] bool is_processor() const { return compute_capability == 0 && gfx.empty() && generation.empty(); }
};

struct LibraryJob {
  const Platform& platform;
  const Placement& placement;
  Operation operation;
  int root = 0;  // of operations that have one
  DeviceKind device{};
  NetworkScale scale{};  // that the platform was built with: its links have it, tables of latencies need it
  // To see what a mechanism costs the library decides as it does, but what it decided for takes so many times its
  // latency and rate by the library's own tables, and each transfer may have its way for itself.
  NetworkScale charged{};
  bool contention = true;
  bool in_place = false;        // the result lies where the data did
  int devices_per_process = 1;  // that one process drives: what was measured of one says nothing of the other
  bool switches_add = true;     // numbers of its type (NCCL, src/enqueue.cc: ncclNvlsSupported)
};

/// What launching its kernels adds where one process drives several devices: the program's, not the library's.
Seconds launching(int devices_per_process);

/// What a library does for one size.
struct LibraryPlan {
  LibraryChoice choice;
  Seconds launch;                         // before the first message
  std::string key;                        // plans with the same one have the same route
  std::function<RoutedSchedule()> route;  // of ranks in the library's order
  std::vector<int> order{};               // where it is not the planner's
  bool adds_in_switches = false;          // what all have: nothing goes before the last begins, and all end together
};

struct LibraryPlanner {
  std::vector<int> order;  // the rank at each place of the schedules; empty: as they are numbered
  std::function<LibraryPlan(Bytes size)> plan;
};

/// One of the ways a library could carry out an operation of some size, and what that would take on a quiet network.
struct LibraryWay {
  std::string algorithm;
  std::string protocol;
  Seconds latency;      // by the library's cost model
  BytesPerSecond rate;  // by the same
  BytesPerSecond wire;  // what the links would carry at most
};
/// For a size, the way that the library picks and behind it the others that it could.
using LibraryWays = std::function<std::vector<LibraryWay>(Bytes size)>;

/// What devices have to run for a library that works on them.
enum class DeviceStack : std::uint8_t { none, cuda, rocm };

struct MpiDecisions;
struct NcclTuning;
struct RcclTuning;

struct Library {
  std::string name;  // "nccl-2.7"
  std::string summary;
  std::vector<Operation> operations;
  std::map<std::filesystem::path, std::string> texts;  // of the files that it was read from
  DeviceStack needs = DeviceStack::none;               // none: works on the hosts
  std::function<LibraryPlanner(const LibraryJob& job)> planner;
  std::function<LibraryWays(const LibraryJob& job)> ways{};     // empty: its times are those of its algorithms
  std::function<MeasuredLinks(const LibraryJob& job)> links{};  // what it finds on the machine; as `ways`
  std::vector<std::string> generations{};     // of GPUs that it runs on, beside processors; empty: of all
  std::shared_ptr<const MpiDecisions> mpi{};  // of an MPI, whose messages cost what Platform::mpi says
  std::shared_ptr<const NcclTuning> nccl{};   // of a release of NCCL that has a cost model
  std::shared_ptr<const RcclTuning> rccl{};   // of a release of RCCL
};

/// Those of the data's topologies/libraries/, by family and release: all of them are read.
std::vector<const Library*> libraries();
/// The library of that name there, or of that file (library_file.hpp); nullptr where there is none. It is read when it
/// is first asked for and stays, a file of one's own until it is changed.
const Library* find_library(const std::string& name);

/// "CUDA", "ROCm".
std::string name(DeviceStack stack);
/// On such devices.
bool can_run(const Library& library, const DeviceKind& device);

/// What its messages cost there, where they are a transport's; NCCL's cost model has latencies of its own beside it.
Transport transport_of(const Library& library, const Platform& platform);

/// A clock that asks the library for every size; its times have the launch in them.
class LibraryClock : public CollectiveClock {
 public:
  [[nodiscard]] virtual LibraryChoice choice(Bytes size) const = 0;
};

/// Platform and placement of the job must outlive the clock.
std::unique_ptr<LibraryClock> make_library_clock(const Library& library, const LibraryJob& job, Fidelity fidelity,
                                                 ClockOptions options = {});

}}  // namespace farandole::simulate
