// A simulated nccl-tests run: one collective over a range of sizes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collective/algorithms.hpp"
#include "scenario/budget.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/library_choice.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/fidelity.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace scenario {

/// How a parameter server is set up; ignored for other operations.
struct ServerRequest {
  int servers = 0;    // 0: as the algorithm sees fit
  std::string model;  // whose tensors are placed, and how; empty: all data split evenly
  std::string sharding = "even";
  std::vector<std::vector<double>> shards{};  // sizes of the tensors of each server
  bool message_per_tensor = false;
  Bytes key{};  // shards are cut into keys of at most this size; 0: into `segments`, or not at all
};

struct CollectiveRequest {
  Algorithm algorithm;
  std::vector<Bytes> sizes;
  std::vector<Fidelity> fidelities;
  int ranks = 2;
  int root = 0;      // of operations that have one
  int segments = 0;  // in pipelines; 0: as the algorithm sees fit
  PlacementRule placement;
  FoldingPolicy folding = FoldingPolicy::where_exact;
  std::vector<double> contributions{};  // relative sizes, where ranks' contributions differ: Shape::weights
  ServerRequest parameter_server{};
  Budget budget{};                 // none; what is estimated to take more is refused
  LibraryUse library{};            // where `algorithm` is a library
  std::string plain_by_default{};  // why it is not the library that the topology names, where nobody chose
  NetworkSolver network = NetworkSolver::as_it_pays;
  bool in_place = false;        // of a library: the result lies where the data did,
  int devices_per_process = 1;  // so many are driven by one process,
  std::string type = "float";   // and numbers are of this type
};

/// Bytes of a number of each type, by the names of nccl-tests.
const std::map<std::string, int>& number_types();

/// What the request's library is asked for.
LibraryJob library_job(const CollectiveRequest& request, const Platform& platform, const Placement& placement);

/// nccl-tests' sizes: from `least` to `most`, multiplied by `factor` each time. A factor of at least 2 (1 is allowed
/// where least == most); an empty range is refused by the caller.
std::vector<Bytes> size_range(Bytes least, Bytes most, int factor);

/// One point per size and fidelity; time includes the transport's launch. Bandwidths as nccl-tests defines them
/// (doc/PERFORMANCE.md of nccl-tests): algorithm bandwidth = bytes / time, bus bandwidth = that times 2 (n-1)/n for an
/// allreduce, (n-1)/n for reduce_scatter, allgather, alltoall, gather and scatter, 1 for broadcast and reduce; a
/// barrier has none; of a parameter server, that times what the busiest server sends (or receives) in shares of the
/// size. Sizes count as collective/chunk_sizes.hpp says. `where` is blamed when the topology has too few
/// slots. `provenance`: of all points.
std::vector<CollectivePoint> run_collective(const CollectiveRequest& request, const Topology& topology,
                                            const Value& where, Provenance* provenance = nullptr);

/// Nobody chose: the topology's library in place of the request's algorithm, where it can do what the request asks for.
void choose_by_default(CollectiveRequest& request, const Topology& topology, const Value& where);

/// What the request's algorithm leaves unused of the machine; nothing where it leaves nothing, and where a library
/// chooses.
std::optional<std::string> note_on_nics(const CollectiveRequest& request, const Topology& topology, const Value& where);

/// What the request's algorithm is built for, at one of its sizes.
Shape shape_of(const CollectiveRequest& request, const Topology& topology, const Placement& placement, Bytes size);

/// Settings the points depend on.
Settings collective_settings(const CollectiveRequest& request, const Topology& topology);

}}  // namespace farandole::scenario
