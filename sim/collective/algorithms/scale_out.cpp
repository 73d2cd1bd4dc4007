#include "collective/algorithms/scale_out.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/trees.hpp"
#include "collective/specification.hpp"

namespace farandole { inline namespace collective {
namespace {

/// Of an allreduce, a reduce-scatter, an allgather and a reduce a device has the part of its number. Of a broadcast
/// there is one part, which all devices get from the root's number.
class Parts {
 public:
  Parts(const Schedule& across, int devices, Places places, int root_device)
      : across_(across), devices_(devices), root_device_(root_device), node_by_node_(places == Places::node_by_node) {}

  [[nodiscard]] int rows() const { return is_whole() ? 1 : is_in_columns() ? blocks() : devices_; }
  [[nodiscard]] Chunk chunks() const { return is_whole() ? across_.chunks : across_.chunks * devices_; }
  [[nodiscard]] int root() const { return place(across_.root, root_device_); }

  /// Everybody's own part, or to everybody his.
  [[nodiscard]] Phase exchange(Action action) const {
    const bool reduces = action == Action::reduce;
    Phase phase = blank_phase(reduces ? "reduce_scatter_in_node" : "allgather_in_node");
    for (int node = 0; node < nodes(); ++node) {
      for (int from = 0; from < devices_; ++from) {
        for (int ahead = 1; ahead < devices_; ++ahead) {
          const int to = (from + ahead) % devices_;
          phase.transfers.push_back(whole_part(place(node, from), place(node, to), reduces ? to : from, action));
        }
      }
    }
    return phase;
  }
  [[nodiscard]] Phase gather() const {
    Phase phase = blank_phase("gather_in_node");
    for (int device = 0; device < devices_; ++device) {
      if (device == root_device_) continue;
      phase.transfers.push_back(whole_part(place(across_.root, device), root(), device, Action::copy));
    }
    return phase;
  }
  [[nodiscard]] Phase hand_out() const {
    Phase phase = blank_phase("broadcast_in_node");
    for (int node = 0; node < nodes(); ++node) {
      for (int device = 0; device < devices_; ++device) {
        if (device == root_device_) continue;
        phase.transfers.push_back(
            whole_part(place(node, root_device_), place(node, device), root_device_, Action::copy));
      }
    }
    return phase;
  }

  /// What one device runs with its counterparts, run by all of them at once.
  [[nodiscard]] Phase between_nodes(const Phase& of_one) const {
    Phase phase = of_one;
    phase.transfers.clear();
    if (node_by_node_) phase.peer_step *= devices_;
    if (is_in_columns()) phase.row_step = std::exchange(phase.chunk_step, 0);
    for (int device = 0; device < devices_; ++device) {
      if (is_whole() && device != root_device_) continue;
      for (Transfer transfer : of_one.transfers) {
        transfer.from = place(transfer.from, device);
        transfer.to = place(transfer.to, device);
        transfer.chunk = chunk(device, transfer.chunk);
        phase.transfers.push_back(transfer);
      }
    }
    return phase;
  }

 private:
  [[nodiscard]] int nodes() const { return across_.ranks; }
  [[nodiscard]] int blocks() const { return static_cast<int>(across_.chunks); }  // of a part
  [[nodiscard]] bool is_whole() const { return across_.operation == Operation::broadcast; }
  /// What follows on a chunk of a part is in the next row, not beside it.
  [[nodiscard]] bool is_in_columns() const { return node_by_node_ && !is_whole(); }
  [[nodiscard]] int place(int node, int device) const {
    return node_by_node_ ? node * devices_ + device : device * nodes() + node;
  }
  [[nodiscard]] Chunk chunk(int device, Chunk of_part) const {
    if (is_whole()) return of_part;
    return is_in_columns() ? of_part * devices_ + device : device * across_.chunks + of_part;
  }
  [[nodiscard]] Transfer whole_part(int from, int to, int device, Action action) const {
    return {from, to, chunk(device, 0), action, is_in_columns() ? 1 : blocks()};
  }
  [[nodiscard]] Phase blank_phase(const char* name) const {
    Phase phase{name, {}};
    for (int row = 0; is_in_columns() && row < blocks(); ++row) phase.bundle.push_back({row, 0});
    return phase;
  }

  const Schedule& across_;
  int devices_;
  int root_device_;
  bool node_by_node_;
};

bool fits(const Schedule& across, Places places) {
  using enum Operation;
  const bool is_known = across.operation == allreduce || across.operation == reduce_scatter ||
                        across.operation == allgather || across.operation == broadcast || across.operation == reduce;
  if (!is_known || across.rows != 1 || across.copies != 1 || !across.weights.empty()) return false;
  return std::ranges::all_of(across.phases, [&](const Phase& phase) {
    if (!phase.bundle.empty()) return false;
    if (places == Places::device_by_device) return phase.peer_step == 0;
    return std::ranges::all_of(phase.transfers, [](const Transfer& transfer) { return transfer.count == 1; });
  });
}

}  // namespace

Schedule scaled_out(const Schedule& across, int devices, Places places, int root_device) {
  using enum Operation;
  if (!fits(across, places)) throw std::invalid_argument("no algorithm that devices could run between nodes");
  const Operation operation = across.operation;
  const Parts parts(across, devices, places, root_device);
  const Shape shape(across.ranks * devices, has_root(operation) ? parts.root() : 0);
  Schedule schedule = blank(operation, "topo_" + across.algorithm, shape, parts.chunks(), parts.rows());
  const bool is_shared = devices > 1;
  if (is_shared && sums(operation)) schedule.phases.push_back(parts.exchange(Action::reduce));
  for (const Phase& phase : across.phases) schedule.phases.push_back(parts.between_nodes(phase));
  if (is_shared && (operation == allreduce || operation == allgather)) {
    schedule.phases.push_back(parts.exchange(Action::copy));
  }
  if (is_shared && operation == broadcast) schedule.phases.push_back(parts.hand_out());
  if (is_shared && operation == reduce) schedule.phases.push_back(parts.gather());
  return schedule;
}

Schedule one_shot_allreduce(const Shape& shape) {
  Schedule schedule = blank(Operation::allreduce, "one_shot", shape, 1);
  if (shape.ranks == 1) return schedule;
  Phase phase{"exchange", {}};
  phase.peer_step = 1;
  phase.fan = shape.ranks - 1;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    phase.transfers.push_back({rank, (rank + 1) % shape.ranks, 0, Action::reduce});
  }
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

Schedule double_tree_reduce(const Shape& shape) {
  Schedule schedule = blank(Operation::reduce, "double_tree", shape, 2);
  if (shape.ranks == 1) return schedule;
  Phase phase{"reduce", {}};
  phase.window = 1;
  for (const WhichTree which : {WhichTree::first, WhichTree::second}) {
    const Tree tree = nccl_tree(shape.ranks - 1, which);
    const auto rank_of = [&](int member) { return (shape.root + 1 + member) % shape.ranks; };
    for (int member = 0; member + 1 < shape.ranks; ++member) {
      const int parent = tree.parent[static_cast<std::size_t>(member)];
      const int to = parent < 0 ? shape.root : rank_of(parent);
      const int height = tree.height[static_cast<std::size_t>(member)];
      phase.transfers.push_back({rank_of(member), to, which == WhichTree::first ? 0 : 1, Action::reduce, 1, height});
      phase.repeats = std::max(phase.repeats, height + 1);
    }
  }
  schedule.phases.push_back(std::move(phase));
  return schedule;
}

}}  // namespace farandole::collective
