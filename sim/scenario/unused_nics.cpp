#include "scenario/unused_nics.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace scenario {
namespace {

using Nics = std::map<int, std::set<int>>;  // by node

/// How many of the device's node are known then.
std::size_t add_nics_of(const Platform& platform, int device, Nics& nics) {
  const auto& own = platform.node.nics_of_device[static_cast<std::size_t>(device % platform.devices_per_node)];
  auto& of_node = nics[platform.node_of(device)];
  of_node.insert(own.begin(), own.end());
  return of_node.size();
}

/// NCCL and RCCL lay their channels over all NICs; an MPI sends from rank to rank as well.
bool uses_all_nics(const std::string& name, Operation operation) {
  const Library* library = find_library(name);
  return library != nullptr && library->needs != DeviceStack::none &&
         std::ranges::find(library->operations, operation) != library->operations.end();
}

}  // namespace

std::optional<NicUse> unused_nics(const Schedule& schedule, const Platform& platform, const Placement& placement) {
  if (placement.nodes_used < 2 || platform.node.nics.size() < 2) return std::nullopt;
  Nics known;
  std::size_t all = 0;
  for (const int device : placement.device_of_rank) all = std::max(all, add_nics_of(platform, device, known));
  Nics out;  // counted apart: a ring leaves a node through one device and comes in through another
  Nics in;
  std::size_t used = 0;
  const auto device = [&](int rank) { return placement.device_of_rank[static_cast<std::size_t>(rank)]; };
  for (const Phase& phase : schedule.phases) {
    const int repeats = receivers_move(phase) ? phase.repeats : 1;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      for (const Transfer& pattern : phase.transfers) {
        for (int lane = 0; lane < phase.fan; ++lane) {
          const Transfer sent = in_repeat(schedule, phase, pattern, std::max(repeat, pattern.start), lane);
          if (platform.node_of(device(sent.from)) == platform.node_of(device(sent.to))) continue;
          used = std::max(
              {used, add_nics_of(platform, device(sent.from), out), add_nics_of(platform, device(sent.to), in)});
          if (used >= all) return std::nullopt;
        }
      }
    }
  }
  if (out.empty()) return std::nullopt;
  return NicUse{static_cast<int>(used), static_cast<int>(all)};
}

/// No links between nodes, or none that can ever be full.
static bool is_fully_provisioned(const Platform& platform) {
  if (platform.first_network_link() == static_cast<int>(platform.links.size())) return true;
  std::vector<BytesPerSecond> capacities;
  for (const Link& link : platform.links) capacities.push_back(link.capacity);
  return platform.network.never_full && platform.network.never_full(platform, capacities);
}

std::optional<std::string> note_on_fabric(const Library& library, const Platform& platform,
                                          const Placement& placement) {
  if (!library.ways) return std::nullopt;
  std::set<int> nodes;
  for (const int device : placement.device_of_rank) nodes.insert(platform.node_of(device));
  if (nodes.size() < 2) return std::nullopt;
  const bool is_contiguous = *nodes.rbegin() - *nodes.begin() + 1 == static_cast<int>(nodes.size());
  const bool is_provisioned = is_fully_provisioned(platform);
  if (is_contiguous && is_provisioned) return std::nullopt;
  const char* fabric = is_provisioned ? "" : "the network is not known to be fully provisioned";
  const char* nodes_apart = is_contiguous ? "" : "the nodes are not contiguous";
  return fmt::format("oversubscription, routing and placement do not fully act on collectives of {}: {}{}{}",
                     library.name, fabric, is_contiguous || is_provisioned ? "" : ", and ", nodes_apart);
}

std::string describe(const NicUse& use, const Schedule& schedule, const Transport& transport) {
  std::string text = fmt::format("{} uses {} of {} NICs of a node", schedule.algorithm, use.used, use.all);
  if (!uses_all_nics(transport.library, schedule.operation)) return text;
  return text + fmt::format("; \"library\" ({}) uses all", transport.library);
}

}}  // namespace farandole::scenario
