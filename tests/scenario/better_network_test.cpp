// A better network is never slower, whatever a library picks on it: all machines that are shipped, by their libraries.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/catalogue.hpp"
#include "scenario/collective_run.hpp"
#include "scenario/library_choice.hpp"
#include "support/source_folder.hpp"

namespace farandole::better_network_test {
namespace {

struct Machine {
  std::string name;
  Topology topology;
  Device device;
  const Library* library;
  Document document;
};

std::vector<Machine> machines() {
  std::vector<Machine> all;
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() / "topologies")) {
    if (file.path().extension() != ".json") continue;
    const Document document = Document::read(file.path());
    const Topology topology = read_topology(document.root(), file.path());
    const Library* library = find_library(topology.transport.library);
    if (library == nullptr || !library->name.starts_with("nccl-") || !topology.has_nic()) continue;
    all.push_back({topology.name, topology, Catalogue().device(topology.device, document.root()), library, document});
  }
  std::ranges::sort(all, {}, &Machine::name);
  return all;
}

/// What makes a network better, by so many times.
struct Better {
  const char* what;
  std::function<NetworkScale(double)> scale;
  bool between_nodes;  // links of NICs and beyond alone
};
const std::array betters{Better{"NICs", [](double) { return NetworkScale{}; }, true},
                         Better{"links",
                                [](double times) {
                                  return NetworkScale{times, 1};
                                },
                                false},
                         Better{"latencies",
                                [](double times) {
                                  return NetworkScale{1, 1 / times};
                                },
                                false}};

void widen_between_nodes(Platform& platform, double times) {
  const auto widen = [&](int link) {
    Link& wide = platform.links[static_cast<std::size_t>(link)];
    wide.wire *= times;
    wide.capacity *= times;
  };
  for (int link = platform.first_network_link(); link < static_cast<int>(platform.links.size()); ++link) widen(link);
  for (const auto& nic : platform.node.nics) {
    for (const int offset : {nic.up, nic.down}) {
      if (offset < 0) continue;
      platform.node.links[static_cast<std::size_t>(offset)].wire *= times;
      for (int node = 0; node < platform.nodes; ++node) widen(platform.link_of(node, offset));
    }
  }
}

using Times = std::vector<std::pair<Seconds, std::string>>;  // by size, with what was picked

Times times_on(const Machine& machine, int nodes, const Better& better, double times, std::span<const Bytes> sizes) {
  const int ranks = nodes * machine.topology.devices_per_node;
  const Placement placement = place({}, ranks, {}, layout_of(machine.topology), machine.document.root());
  const NetworkScale scale = better.scale(times);
  Platform platform = build_for(machine.topology, scale, placement, machine.document.root());
  if (better.between_nodes) widen_between_nodes(platform, times);
  const LibraryJob job{platform, placement, Operation::allreduce, 0, kind_of(machine.device), scale};
  const auto clock = make_library_clock(*machine.library, job, Fidelity::analytic);
  Times all;
  for (const Bytes size : sizes) {
    const LibraryChoice choice = clock->choice(size);
    all.emplace_back(latest(clock->finish(size, all_at(ranks, Seconds(0)))), choice.algorithm + ' ' + choice.protocol);
  }
  return all;
}

bool has_so_many(const Machine& machine, int nodes) {
  try {
    static_cast<void>(
        place({}, nodes * machine.topology.devices_per_node, {}, layout_of(machine.topology), machine.document.root()));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// Exceptions. Between nodes of polaris (scenarios/published/collectives/polaris-*) and gcp-a3-mega
/// (gcp-a3-mega-16ranks) ways were measured one by one, and each takes as many times longer than by the model as it was
/// measured to: that of a way has no part in what is picked. On v100-4x-pcie, of which nothing was measured between
/// nodes, links of PCIe that neighbours and the NIC share carry less than the model counts on, by up to 36 %.
const std::set<std::string> exceptions{"gcp-a3-mega", "polaris", "v100-4x-pcie"};

void expect_never_slower(const Machine& machine, int nodes, const Better& better) {
  const std::vector<Bytes> sizes = size_range(1_KiB, 1_GiB, 4);
  Times before;
  for (const double times : {1.0, 1.25, 1.5, 2.0, 4.0}) {
    Times now = times_on(machine, nodes, better, times, sizes);
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_LE(now[i].first.si(), before[i].first.si() * (1 + 1e-6))
          << fmt::format("{}, {} nodes, {} better by {}: {:.0f} bytes by {}, then by {}", machine.name, nodes,
                         better.what, times, sizes[i].si(), before[i].second, now[i].second);
    }
    before = std::move(now);
  }
}

/// With NICs of 800 instead of 400 Gbit/s, 16 MiB took 343 us instead of 178.
TEST(BetterNetworks, AreNeverSlowerOnHgxB200) {
  const auto all = machines();
  const auto machine = std::ranges::find(all, "hgx-b200", &Machine::name);
  ASSERT_NE(machine, all.end());
  for (const Better& better : betters) expect_never_slower(*machine, 4, better);
}

TEST(SlowBetterNetworks, AreNeverSlowerOnAnyMachine) {
  for (const Machine& machine : machines()) {
    if (exceptions.contains(machine.name)) continue;
    for (const int nodes : {2, 4, 16}) {
      if (!has_so_many(machine, nodes)) continue;
      for (const Better& better : betters) expect_never_slower(machine, nodes, better);
    }
  }
}

}  // namespace
}  // namespace farandole::better_network_test
