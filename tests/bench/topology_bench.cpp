// Big networks: building one, and routing a ring and 100,000 random pairs on it. The bar is 2 s and 1 GiB.
#include <random>

#include <benchmark/benchmark.h>

#include "config/document.hpp"
#include "platform/topology.hpp"

namespace farandole { namespace {

/// 65,536 nodes: 2,048 leaves of 32 nodes and 32 uplinks, 64 pods of 32 spines, 1,024 switches at the top.
const char* const fat_tree = R"({"name": "fat_tree", "summary": "s", "kind": "fat_tree", "nodes": 65536,
  "node": {"device": "d", "nic": {"rate": "100 Gbit/s"}},
  "network": {"levels": [{"down": 32, "switch_ports": 64},
    {"down": 32, "parents": 32, "link": {"rate": "100 Gbit/s"}, "switch_ports": 64},
    {"down": 64, "parents": 32, "link": {"rate": "100 Gbit/s"}, "switch_ports": 64}]}})";

/// 8,064 nodes: 21 groups of Aries.
const char* const dragonfly = R"({"name": "dragonfly", "summary": "s", "kind": "dragonfly", "nodes": 8064,
  "node": {"device": "d", "nic": {"rate": "8 GB/s"}},
  "network": {"groups": 21, "chassis_per_group": 6, "routers_per_chassis": 16, "nodes_per_router": 4,
    "rank1": {"link": {"rate": "5.25 GB/s"}}, "rank2": {"link": {"rate": "5.25 GB/s"}, "cables": 3},
    "rank3": {"link": {"rate": "4.7 GB/s"}, "cables_per_router": 10}}})";

void build_and_route(benchmark::State& state, const char* text) {
  const Document document = Document::parse(text, "benchmark");
  const Topology topology = read_topology(document.root(), "benchmark");
  for (auto _ : state) {
    const Platform platform = build(topology, topology.nodes.value(), document.root());
    const int devices = platform.devices();
    std::size_t links = 0;
    for (int device = 0; device < devices; ++device)
      links += platform.route(device, (device + 1) % devices).links.size();
    std::mt19937_64 random(1);
    std::uniform_int_distribution<int> any(0, devices - 1);
    for (int pair = 0; pair < 100'000; ++pair) {
      const int from = any(random);
      links += platform.route(from, any(random)).links.size();
    }
    state.counters["links"] = static_cast<double>(platform.links.size());
    state.counters["crossed"] = static_cast<double>(links);
  }
}

BENCHMARK_CAPTURE(build_and_route, fat_tree, fat_tree)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build_and_route, dragonfly, dragonfly)->Unit(benchmark::kMillisecond);

}}  // namespace farandole

BENCHMARK_MAIN();
