#include <algorithm>

#include "calibration/library_fit.hpp"
#include "config/limits.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/library_choice.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr const char* of_the_transport = "library";

/// A value to blame: the measurement's own place.
Node node_at(const MeasuredTime& row) {
  return {static_cast<std::int64_t>(row.ranks), row.place.line, std::make_shared<const std::string>(row.place.source)};
}

/// What a host takes to launch NCCL's kernel on one of the devices that a process drives. It launches one after the
/// other, and a collective is done when the last one that joined it is: on a DGX A100 one of 8 bytes takes 13.8, 16.9,
/// 20.8, 25.2, 29.5 and 33.7 us on 3 to 8 devices of one process (github.com/NVIDIA/nccl-tests, issue 123), which is
/// what its ring waits (3.6 + 2 (n - 1) .47 us) and 2.8 us a device, each within 5 %.
constexpr Seconds launch_of_a_device = Seconds(2.8e-6);

/// Hosts of one device that hold several ranks all the same, joined by a memory that costs next to nothing.
Topology with_room_for(int ranks, const Topology& topology) {
  Topology hosts = topology;
  if (topology.devices_per_node > 1 || ranks == 1) return hosts;
  hosts.devices_per_node = ranks;
  if (!hosts.pcie) hosts.pcie.emplace().link.wire = BytesPerSecond(1e12);
  return hosts;
}

/// Tables of nccl-tests, OSU and IMB do not say what carried out a collective: the machine's own library did.
const Library* own_library(const MeasuredTime& row, const Topology& topology) {
  const Library* library = find_library(topology.transport.library);
  const Operation* operation = find_operation(row.operation);
  if (library == nullptr || operation == nullptr) return nullptr;
  return std::ranges::find(library->operations, *operation) == library->operations.end() ? nullptr : library;
}

}  // namespace

const Library* library_of(const MeasuredTime& row, const Topology& topology) {
  if (row.algorithm.empty()) return own_library(row, topology);
  if (row.algorithm != of_the_transport) return find_library(row.algorithm);
  if (topology.transport.library.empty()) {
    throw InputError(row.place, "the name of a library, as the topology's transport has none",
                     quoted(of_the_transport));
  }
  return find_library(topology.transport.library);
}

Seconds launching(const MeasuredTime& row) {
  return row.devices_per_process > 1 ? row.devices_per_process * launch_of_a_device : Seconds(0);
}

/// Far above any machine, and few enough to be predicted again and again by a fit.
constexpr int most_ranks_of_a_measurement = 32'768;
constexpr int most_ranks_of_a_node = 1'024;

MeasuredPlace place_of(int ranks, int nodes, const Place& place, const Topology& topology) {
  const Node node{static_cast<std::int64_t>(ranks), place.line, std::make_shared<const std::string>(place.source)};
  const Value blamed(node, place.pointer);
  require_at_most(ranks, most_ranks_of_a_measurement, "ranks in a measurement", blamed);
  require_at_most(nodes, most_ranks_of_a_measurement, "nodes in a measurement", blamed);
  const int share = nodes == 0 ? topology.devices_per_node : (ranks + nodes - 1) / nodes;
  require_at_most(share, most_ranks_of_a_node, "ranks on a node in a measurement", blamed);
  const Topology hosts = with_room_for(share, topology);
  const Placement placement = place_by_slot(ranks, hosts_for(ranks, share), hosts.devices_per_node, blamed);
  return {build_for(hosts, placement, blamed), placement, share};
}

LibraryJob library_job(const MeasuredTime& row, const Topology& topology, const Library& library,
                       const MeasuredPlace& place) {
  const Node node = node_at(row);
  const Value blamed(node, row.place.pointer);
  const Operation* operation = find_operation(row.operation);
  if (operation == nullptr) {
    throw InputError(row.place, "an operation", quoted(row.operation), suggestion(row.operation, operation_names()));
  }
  const Device device = Catalogue().device(topology.device, blamed);
  const Algorithm named{*operation, library.name, library.summary, {}};
  const LibraryUse use = use_library(named, topology.transport, device, blamed);
  LibraryJob job{place.platform, place.placement, *operation, 0, use.device};
  job.devices_per_process = row.devices_per_process;
  return job;
}

}}  // namespace farandole::calibration
