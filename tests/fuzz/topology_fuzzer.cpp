// libFuzzer target: a file of topologies/ is a machine whose devices reach each other, or refused.
#include "fuzz/graph_platform.hpp"

namespace {

using namespace farandole;

/// Larger ones take longer and find no more.
constexpr int most_devices_to_build = 512;
constexpr int most_devices_to_cross = 8;

void build_machine(const Topology& topology, const Value& where) {
  const int nodes = std::min(topology.nodes.value_or(3), 3);
  if (topology.devices_per_node > most_devices_to_build) return;
  const Platform platform = build(topology, nodes, where);
  fuzz::require(platform.devices() == nodes * topology.devices_per_node, "every node has its devices");
  for (const Link& link : platform.links) fuzz::require_sound(link);
  const int last = platform.devices() - 1;
  for (int from = 0; from < std::min(last + 1, most_devices_to_cross); ++from) {
    const Route route = platform.route(from, last);
    fuzz::require(route.latency >= Seconds(0) && route.latency < Seconds::infinity(), "a way has a latency");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  if (text.find("\"file\"") != std::string::npos) return 0;  // the graph's own targets read such files
  fuzz::use_or_refuse([&] {
    const Document document = Document::parse(text, "fuzz.json");
    build_machine(read_topology(document.root(), "fuzz.json"), document.root());
  });
  return 0;
}
