#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "calibration/next_measurement.hpp"
#include "collective/algorithms.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::array possible_node_counts{1, 2, 4, 8};
constexpr int most_ranks = 64;  // which are timed message by message

struct Measurable {
  const char* operation;
  const char* osu;              // the program of the OSU micro-benchmarks; nullptr: IMB has one
  std::array<double, 3> sizes;  // as the program counts them: of a message, of all data, or of one rank's share
  bool is_of_shares;
};
constexpr std::array messages{Measurable{pingpong, "osu_latency", {8, 65536, 4194304}, false},
                              Measurable{exchange, nullptr, {8, 65536, 4194304}, false}};
constexpr std::array collectives{Measurable{"allreduce", "osu_allreduce", {1024, 65536, 67108864}, false},
                                 Measurable{"allgather", "osu_allgather", {16, 4096, 1048576}, true},
                                 Measurable{"alltoall", "osu_alltoall", {16, 4096, 1048576}, true}};

class PossibleRows {
 public:
  explicit PossibleRows(const Topology& machine) : machine_(machine) {
    add_messages();
    for (const int nodes : possible_node_counts) {
      if (machine.nodes && nodes > *machine.nodes) continue;
      for (const int devices : std::set<int>{1, machine.devices_per_node}) add_collectives(nodes, devices);
    }
  }
  std::vector<PossibleRow> all;

 private:
  [[nodiscard]] MeasuredTime row_of(const char* operation, int ranks, int nodes, double bytes) const {
    MeasuredTime row;
    row.place = {"a proposal", 1, ""};
    row.operation = operation;
    row.ranks = ranks;
    row.nodes = nodes;
    row.bytes = Bytes(bytes);
    return row;
  }

  void add_messages() {
    for (const int nodes : {1, 2}) {
      if ((machine_.nodes && nodes > *machine_.nodes) || (nodes == 1 && machine_.devices_per_node < 2)) continue;
      for (const Measurable& message : messages) {
        for (const double size : message.sizes) add(message, size, row_of(message.operation, 2, nodes, size));
      }
    }
  }

  void add_collectives(int nodes, int devices) {
    const int ranks = nodes * devices;
    if (ranks < 2 || ranks > most_ranks) return;
    MeasuredTime barrier = row_of("barrier", ranks, nodes, 0);
    add({"barrier", "osu_barrier", {}, false}, 0, barrier);
    for (const Measurable& collective : collectives) {
      for (const double size : collective.sizes) {
        const double bytes = collective.is_of_shares ? size * ranks : size;
        add(collective, size, row_of(collective.operation, ranks, nodes, bytes));
        MeasuredTime direct = row_of(collective.operation, ranks, nodes, bytes);
        direct.algorithm = "direct";
        if (find_algorithm(*find_operation(direct.operation), direct.algorithm) != nullptr && !has_library(direct))
          add(collective, size, direct);
      }
    }
  }
  [[nodiscard]] bool has_library(MeasuredTime row) const {
    row.algorithm.clear();
    return library_of(row, machine_) != nullptr && !is_piecewise(row, machine_);
  }

  /// What a library carries out that picks its ways is fitted apart: there messages and algorithms of a known name tell
  /// of a machine's numbers, which only our own bench runs.
  void add(const Measurable& program, double size, MeasuredTime row) {
    const bool is_message = row.operation == pingpong || row.operation == exchange;
    MeasuredTime allreduce = row_of("allreduce", row.ranks, *row.nodes, size);
    const bool is_benched = is_piecewise(allreduce, machine_) || !row.algorithm.empty();
    if (is_benched && row.algorithm.empty() && !is_message)
      row.algorithm = algorithm_names(*find_operation(row.operation)).front();
    const std::string where = fmt::format(", {} ranks on {} node{}", row.ranks, *row.nodes, *row.nodes == 1 ? "" : "s");
    all.push_back({(is_benched ? benched(row) : by_others(program, size)) + where, std::move(row)});
  }

  static std::string benched(const MeasuredTime& row) {
    std::string command = "farandole bench --op " + row.operation;
    if (!row.algorithm.empty()) command += " --algorithm " + row.algorithm;
    if (row.operation != "barrier") command += fmt::format(" -b {0:.0f} -e {0:.0f}", row.bytes.si());
    return command;
  }
  static std::string by_others(const Measurable& program, double size) {
    if (program.osu == nullptr) return fmt::format("IMB-MPI1 PingPing -msglog {0:.0f}:{0:.0f}", std::log2(size));
    if (size <= 0) return program.osu;
    return fmt::format("{0} -m {1:.0f}:{1:.0f}", program.osu, size);
  }

  const Topology& machine_;
};

}  // namespace

std::vector<PossibleRow> possible_rows(const Topology& machine) {
  return PossibleRows(machine).all;
}

}}  // namespace farandole::calibration
