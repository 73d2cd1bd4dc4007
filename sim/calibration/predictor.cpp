#include "calibration/predictor.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "calibration/library_fit.hpp"
#include "collective/algorithms.hpp"
#include "collective/chunk_sizes.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
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
  if (row.operation == name(Operation::barrier)) return std::max(row.bytes, 1_B);  // a token
  return row.operation == exchange ? row.bytes * 2 : row.bytes;
}

RoutedSchedule routed(const StandIn& what, const Topology& topology) {
  const MeasuredPlace place = place_of(what.ranks, what.nodes, what.place, topology);
  Shape shape(what.ranks);
  shape.ranks_per_node = place.ranks_per_node;
  shape.segments = what.segments;
  shape.servers = what.servers;
  return {find_algorithm(what.operation, what.algorithm)->build(shape), place.platform, place.placement};
}

/// Library, operation, ranks, nodes, devices a process.
using LibraryKey = std::tuple<const Library*, std::string, int, int, int>;

/// Libraries that know several ways to do the same are timed in closed form: which is what their pieces say.
void predict_libraries(const Topology& topology, std::span<const MeasuredTime> measurements,
                       const std::vector<std::size_t>& rows, const ClockOptions& how, std::vector<Seconds>& times) {
  std::map<LibraryKey, std::vector<std::size_t>> alike;
  for (const std::size_t row : rows) {
    const MeasuredTime& what = measurements[row];
    alike[{library_of(what, topology), what.operation, what.ranks, what.nodes.value_or(0), what.devices_per_process}]
        .push_back(row);
  }
  for (const auto& [key, members] : alike) {
    const Library& library = *std::get<0>(key);
    const MeasuredTime& first = measurements[members.front()];
    const MeasuredPlace place = place_of(first.ranks, first.nodes.value_or(0), first.place, topology);
    const bool by_message = !library.ways && first.ranks <= most_ranks_by_message;
    const auto clock = make_library_clock(library, library_job(first, topology, library, place),
                                          by_message ? Fidelity::message : Fidelity::analytic, how);
    for (const std::size_t row : members) {
      const Seconds alone = latest(clock->completion_times(measurements[row].bytes, all_at(first.ranks, Seconds(0))));
      times[row] =
          library.needs != DeviceStack::none ? alone + launching(measurements[row].devices_per_process) : alone;
    }
  }
}

std::vector<Seconds> predict_alike(const Topology& topology, std::span<const MeasuredTime> measurements,
                                   const ClockOptions& how) {
  std::map<StandIn, std::vector<std::size_t>> alike;  // measurements that differ in nothing but their size
  std::vector<std::size_t> of_libraries;
  for (std::size_t row = 0; row < measurements.size(); ++row) {
    if (library_of(measurements[row], topology) != nullptr) {
      of_libraries.push_back(row);
    } else {
      alike[stand_in(measurements[row])].push_back(row);
    }
  }
  std::vector<Seconds> times(measurements.size());
  predict_libraries(topology, measurements, of_libraries, how, times);
  for (const auto& [what, rows] : alike) {
    const Fidelity fidelity = what.ranks <= most_ranks_by_message ? Fidelity::message : Fidelity::flow;
    const auto clock = make_collective_clock(fidelity, routed(what, topology), how);
    const RankTimes start = all_at(what.ranks, Seconds(0));
    for (const std::size_t row : rows) {
      const Seconds launch = is_pair(measurements[row]) || what.ranks == 1 ? Seconds(0) : topology.transport.launch;
      times[row] = latest(clock->completion_times(stand_in_size(measurements[row]), start)) + launch;
    }
  }
  return times;
}

/// What a topology says of long messages is of one way to run its library; a row may be of the other.
Topology sending(const Topology& topology, bool eager) {
  Topology so = topology;
  Bytes& from = so.transport.message.rendezvous_from;
  if (eager) {
    from = Bytes::infinity();
  } else if (from == Bytes::infinity()) {
    from = MessageCost{}.rendezvous_from;
  }
  return so;
}

}  // namespace

std::vector<Seconds> predict(const Topology& topology, std::span<const MeasuredTime> measurements,
                             NetworkSolver solver) {
  std::map<std::optional<bool>, std::vector<std::size_t>> ways;
  for (std::size_t row = 0; row < measurements.size(); ++row) {
    ways[topology.transport.eager_sends ? measurements[row].eager : std::nullopt].push_back(row);
  }
  std::vector<Seconds> times(measurements.size());
  for (const auto& [eager, rows] : ways) {
    const auto alike = mapped(rows, [&](std::size_t row) { return measurements[row]; });
    const std::vector<Seconds> own =
        predict_alike(eager ? sending(topology, *eager) : topology, alike, {FoldingPolicy::where_exact, solver});
    for (std::size_t i = 0; i < rows.size(); ++i) times[rows[i]] = own[i];
  }
  return times;
}

}}  // namespace farandole::calibration
