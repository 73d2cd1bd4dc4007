// What NCCL chooses takes hardly longer than the next of its ways, on any machine that is shipped.
#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/catalogue.hpp"
#include "scenario/collective_run.hpp"
#include "scenario/library_choice.hpp"
#include "support/source_folder.hpp"

namespace farandole::chosen_way_test { namespace {

/// NCCL reckons with numbers of its own, which are not what its ways take: rings over two nodes of V100 on PCIe 1.96
/// times what trees would, allgathers of 4 MiB over four A100 by Simple 1.83 times what LL128 would, nvls_tree over two
/// nodes of B200 1.79 times what a tree of LL128 would.
constexpr double most = 2;

std::optional<Placement> place_on(const Topology& topology, int ranks, const Value& where) {
  try {
    return place({}, ranks, {}, layout_of(topology), where);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void expect_no_other_much_faster(const Topology& topology, const Library& library, int nodes, const Value& where) {
  const int ranks = nodes * topology.devices_per_node;
  const auto placed = place_on(topology, ranks, where);
  if (!placed) return;  // it has fewer nodes
  const Placement& placement = *placed;
  const Platform platform = build_for(topology, {}, placement, where);
  const Device device = Catalogue().device(topology.device, where);
  for (const Operation operation : {Operation::allreduce, Operation::allgather}) {
    const LibraryWays ways = library.ways({platform, placement, operation, 0, kind_of(device)});
    for (const Bytes size : size_range(1_KiB, 4_GiB, 4)) {
      const std::vector<LibraryWay> all = ways(size);
      const auto time = [&](const LibraryWay& way) { return way.latency + size / std::min(way.rate, way.wire); };
      for (std::size_t other = 1; other < all.size(); ++other) {
        EXPECT_LE(time(all[0]).si(), most * time(all[other]).si()) << fmt::format(
            "{}, {} nodes, {} of {:.0f} bytes by {}: {} {} of {:.1f} us, not {} {} of {:.1f}", topology.name, nodes,
            name(operation), size.si(), library.name, all[0].algorithm, all[0].protocol, 1e6 * time(all[0]).si(),
            all[other].algorithm, all[other].protocol, 1e6 * time(all[other]).si());
      }
    }
  }
}

TEST(ChosenWay, TakesHardlyLongerThanTheNext) {
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() / "topologies")) {
    if (file.path().extension() != ".json") continue;
    const Document document = Document::read(file.path());
    const Topology topology = read_topology(document.root(), file.path());
    const Library* library = find_library(topology.transport.library);
    if (library == nullptr || !library->ways || !library->name.starts_with("nccl-") || !topology.has_nic()) continue;
    if (library->name == "nccl-2.21-tcpxo") continue;  // a plugin's tuner chooses, not NCCL
    for (const int nodes : {1, 2, 4, 8}) expect_no_other_much_faster(topology, *library, nodes, document.root());
  }
}

}}  // namespace farandole::chosen_way_test
