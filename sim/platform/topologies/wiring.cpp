#include "platform/topologies/wiring.hpp"

#include <vector>

#include <fmt/format.h>

namespace farandole { inline namespace platform {
namespace {

/// SplitMix64's finaliser (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

int add_switch(Platform& platform, const std::string& name, int level, int ports) {
  platform.network.switches.push_back({name, ports, level});
  return static_cast<int>(platform.network.switches.size()) - 1;
}

int add_cable(Platform& platform, int from, int to, const std::string& name, const Topology::LinkRate& rate,
              int count) {
  const int there = static_cast<int>(platform.links.size());
  platform.links.push_back({name + "/up", rate.effective() * count, rate.latency, rate.wire * count});
  platform.links.push_back({name + "/down", rate.effective() * count, rate.latency, rate.wire * count});
  platform.network.cables.push_back({from, to, there, there + 1, count});
  return static_cast<int>(platform.network.cables.size()) - 1;
}

void check_ports(const Platform& platform, const Value& where) {
  const Network& network = platform.network;
  std::vector<std::int64_t> used(network.switches.size(), 0);
  for (const int plugged_in : network.switch_of_nic) ++used[static_cast<std::size_t>(plugged_in)];
  for (const Cable& cable : network.cables) {
    used[static_cast<std::size_t>(cable.from)] += cable.count;
    used[static_cast<std::size_t>(cable.to)] += cable.count;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    const Switch& part = network.switches[i];
    if (part.ports == 0 || used[i] <= part.ports) continue;
    where.fail(fmt::format("at most the {} cables that {} has ports for", part.ports, part.name),
               fmt::format("{} nodes, which put {} into it", platform.nodes, used[i]));
  }
}

std::uint64_t flow_hash(std::uint64_t seed, int from, int to, int choice) {
  const auto ends = (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint32_t>(to);
  return mixed(mixed(mixed(seed) ^ ends) + static_cast<std::uint64_t>(choice));
}

}}  // namespace farandole::platform
