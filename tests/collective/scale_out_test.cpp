// Nodes of several devices: every algorithm between nodes, with all devices of a node at it, is still the operation.
#include "collective/algorithms/scale_out.hpp"

#include <gmock/gmock.h>

#include "collective/proof.hpp"
#include "collective/specification.hpp"

namespace farandole::scale_out_test { namespace {

constexpr std::uint64_t seed = 20210016;

bool moves_receivers(const Schedule& across) {
  return std::ranges::any_of(across.phases, [](const Phase& phase) { return phase.peer_step != 0; });
}
bool sends_single_chunks(const Schedule& across) {
  return std::ranges::all_of(across.phases, [](const Phase& phase) {
    return std::ranges::all_of(phase.transfers, [](const Transfer& transfer) { return transfer.count == 1; });
  });
}
bool is_plain(const Schedule& across) {
  const bool has_bundles = std::ranges::any_of(across.phases, [](const Phase& phase) { return !phase.bundle.empty(); });
  return across.rows == 1 && across.copies == 1 && across.weights.empty() && !has_bundles;
}

void expect_proved(const Schedule& schedule, const std::string& what) {
  EXPECT_EQ(disprove(schedule), std::nullopt) << what;
  EXPECT_EQ(disprove_numerically(schedule, 97, seed), std::nullopt) << what;
}

/// In every way of numbering that the algorithm can have; returns in how many.
int expect_proved_scaled_out(const Algorithm& row, int nodes, int devices, int root_node, int root_device) {
  const Schedule across = row.build({nodes, root_node});
  const std::string what = name(row.operation) + " " + row.name + ": " + std::to_string(nodes) + " nodes of " +
                           std::to_string(devices) + ", root " + std::to_string(root_device);
  int ways = 0;
  for (const Places places : {Places::device_by_device, Places::node_by_node}) {
    const bool is_node_by_node = places == Places::node_by_node;
    if (!is_plain(across) || (is_node_by_node ? !sends_single_chunks(across) : moves_receivers(across))) {
      EXPECT_THROW(scaled_out(across, devices, places, root_device), std::invalid_argument) << what;
      continue;
    }
    const Schedule schedule = scaled_out(across, devices, places, root_device);
    EXPECT_EQ(schedule.ranks, nodes * devices);
    if (has_root(row.operation)) {
      EXPECT_EQ(schedule.root, is_node_by_node ? root_node * devices + root_device : root_device * nodes + root_node);
    }
    expect_proved(schedule, what);
    ++ways;
  }
  return ways;
}

TEST(ScaledOut, EveryAlgorithmBetweenNodesIsProvedWithAllTheirDevices) {
  using enum Operation;
  std::map<Operation, int> proved;
  for (const Algorithm& row : algorithms()) {
    if (row.operation != allreduce && row.operation != reduce_scatter && row.operation != allgather) continue;
    if (row.name.find("adasum") != std::string::npos) continue;  // no sum
    for (int nodes = 1; nodes <= 7; ++nodes) {
      for (int devices = 1; devices <= 4; ++devices) {
        proved[row.operation] += expect_proved_scaled_out(row, nodes, devices, 0, 0);
      }
    }
  }
  EXPECT_THAT(proved, testing::Each(testing::Field(&std::pair<const Operation, int>::second, testing::Ge(100))));
}

TEST(ScaledOut, WithARootItIsProvedWhereverTheRootSits) {
  using enum Operation;
  std::vector<Algorithm> rows;
  for (const Algorithm& row : algorithms()) {
    if (row.operation == broadcast || row.operation == reduce) rows.push_back(row);
  }
  rows.push_back({reduce, "double_tree", "", double_tree_reduce});
  for (const Algorithm& row : rows) {
    for (int nodes = 1; nodes <= 5; ++nodes) {
      for (int devices = 1; devices <= 3; ++devices) {
        for (int root = 0; root < nodes * devices; ++root) {
          expect_proved_scaled_out(row, nodes, devices, root / devices, root % devices);
        }
      }
    }
  }
}

TEST(ScaledOut, ADeviceSendsItsNodesWhatIsTheirsAndItsPartBetweenNodes) {
  // Of 4 nodes of 3, an allreduce of M: (3-1)/3 M inside, then 2 (4-1)/4 of M/3 between nodes, then (3-1)/3 M inside.
  const Schedule schedule =
      scaled_out(find_algorithm(Operation::allreduce, "ring")->build(4), 3, Places::device_by_device);
  Chunk inside = 0;
  Chunk between = 0;
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t /*index*/) {
        if (transfer.from != 0) return;
        (transfer.to % 4 == 0 ? inside : between) += transfer.count;
      });
    }
  }
  EXPECT_EQ(schedule.chunks, 12);
  EXPECT_EQ(inside, 2 * 2 * 12 / 3);
  EXPECT_EQ(between, 2 * 3 * 12 / 3 / 4);
  EXPECT_EQ(rounds(schedule), 1 + 2 * 3 + 1);
}

TEST(ScaledOut, RefusesOperationsThatAreNotMadeOfParts) {
  EXPECT_THROW(scaled_out(find_algorithm(Operation::alltoall, "direct")->build(4), 2, Places::node_by_node),
               std::invalid_argument);
  EXPECT_THROW(scaled_out(find_algorithm(Operation::barrier, "dissemination")->build(4), 2, Places::device_by_device),
               std::invalid_argument);
}

TEST(OneShotAllreduce, IsProvedInOneRound) {
  for (int n = 1; n <= 17; ++n) {
    const Schedule schedule = one_shot_allreduce(n);
    EXPECT_EQ(rounds(schedule), n > 1 ? 1 : 0);
    expect_proved(schedule, std::to_string(n));
  }
}

TEST(DoubleTreeReduce, IsProvedForEveryRootAndSendsHalfTheDataUpEachTree) {
  for (int n = 1; n <= 33; ++n) {
    for (int root = 0; root < n; root += 1 + n / 9) {
      const Schedule schedule = double_tree_reduce({n, root});
      EXPECT_EQ(schedule.root, root);
      expect_proved(schedule, std::to_string(n) + " ranks, root " + std::to_string(root));
      std::size_t sent = 0;
      for (const Phase& phase : schedule.phases) sent += phase.transfers.size();
      EXPECT_EQ(sent, 2 * static_cast<std::size_t>(n - 1));
    }
  }
}

}}  // namespace farandole::scale_out_test
