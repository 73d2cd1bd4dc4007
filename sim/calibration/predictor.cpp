#include "calibration/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "collective/algorithms.hpp"
#include "collective/chunk_sizes.hpp"
#include "simulate/collective_clock.hpp"

namespace farandole {
namespace {

constexpr int most_ranks_by_message = 64;

/// The collective that stands for what was measured.
struct StandIn {
  Operation operation;
  std::string algorithm;
  int ranks;
  int nodes;
  int servers;
  int segments;
  Place place;

  [[nodiscard]] auto key() const { return std::tie(operation, algorithm, ranks, nodes, servers, segments); }
  friend bool operator<(const StandIn& a, const StandIn& b) { return a.key() < b.key(); }
};

bool is_pair(const MeasuredTime& row) {
  return row.operation == pingpong || row.operation == exchange;
}

/// A server's shard in keys of the algorithm's size, unless the row says how many pieces there were.
int segments_of(const MeasuredTime& row, const Algorithm& algorithm) {
  if (row.segments > 0 || algorithm.key == Bytes(0)) return row.segments;
  return keys_in(row.bytes / std::max(row.servers, 1), algorithm.key);
}

StandIn stand_in(const MeasuredTime& row) {
  if (is_pair(row)) {
    const bool one_way = row.operation == pingpong;
    return {one_way ? Operation::broadcast : Operation::alltoall,
            one_way ? "binomial" : "pairwise",
            2,
            std::min(row.nodes.value_or(2), 2),
            0,
            0,
            row.place};
  }
  const Operation* operation = find_operation(row.operation);
  if (operation == nullptr) {
    throw InputError(row.place, "an operation", quoted(row.operation), suggestion(row.operation, operation_names()));
  }
  const std::string wanted = row.algorithm.empty() ? algorithm_names(*operation).front() : row.algorithm;
  const Algorithm* algorithm = find_algorithm(*operation, wanted);
  if (algorithm == nullptr) {
    throw InputError(row.place, "an algorithm for " + row.operation, quoted(row.algorithm),
                     suggestion(row.algorithm, algorithm_names(*operation)));
  }
  return {*operation, wanted, row.ranks, row.nodes.value_or(0), row.servers, segments_of(row, *algorithm), row.place};
}

Bytes stand_in_size(const MeasuredTime& row) {
  return row.operation == exchange ? row.bytes * 2 : row.bytes;
}

int ranks_per_node(const StandIn& what, const Topology& topology) {
  if (what.nodes == 0) return topology.devices_per_node;
  return (what.ranks + what.nodes - 1) / what.nodes;
}

RoutedSchedule routed(const StandIn& what, const Topology& topology) {
  const Node node{static_cast<std::int64_t>(what.ranks), what.place.line,
                  std::make_shared<const std::string>(what.place.source)};
  const Value blamed(node, what.place.pointer);
  const int share = ranks_per_node(what, topology);
  const Placement placement =
      place_by_slot(what.ranks, hosts_for(what.ranks, share), topology.devices_per_node, blamed);
  Shape shape(what.ranks);
  shape.ranks_per_node = share;
  shape.segments = what.segments;
  shape.servers = what.servers;
  return {find_algorithm(what.operation, what.algorithm)->build(shape), build_for(topology, placement, blamed),
          placement};
}

}  // namespace

std::vector<Seconds> predict(const Topology& topology, std::span<const MeasuredTime> measurements) {
  std::map<StandIn, std::vector<std::size_t>> alike;  // measurements that differ in nothing but their size
  for (std::size_t row = 0; row < measurements.size(); ++row) alike[stand_in(measurements[row])].push_back(row);
  std::vector<Seconds> times(measurements.size());
  for (const auto& [what, rows] : alike) {
    const Fidelity fidelity = what.ranks <= most_ranks_by_message ? Fidelity::message : Fidelity::flow;
    const auto clock = make_collective_clock(fidelity, routed(what, topology));
    const RankTimes start = all_at(what.ranks, Seconds(0));
    for (const std::size_t row : rows) {
      const Seconds launch = is_pair(measurements[row]) || what.ranks == 1 ? Seconds(0) : topology.transport.launch;
      times[row] = latest(clock->finish(stand_in_size(measurements[row]), start)) + launch;
    }
  }
  return times;
}

}  // namespace farandole
