// farandole show topologies, farandole show topology NAME-or-FILE.
#include <iterator>

#include <fmt/format.h>

#include "command.hpp"
#include "scenario/catalogue.hpp"
#include "show.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

Topology load(const Catalogue& catalogue, const std::string& name) {
  const OptionValue option("show topology", name);
  return catalogue.topology(name, option.value());
}

/// An open topology is shown with two nodes, the fewest with a network.
Platform sample(const Topology& topology) {
  const OptionValue option("show topology", topology.name);
  return build(topology, topology.nodes.value_or(2), option.value());
}

Json topology_json(const Topology& topology, const Platform& platform) {
  const Json as_needed = "as needed";
  const bool open = !topology.nodes.has_value();
  return {{"name", topology.name},
          {"summary", topology.summary},
          {"kind", topology.kind},
          {"file", topology.file.string()},
          {"nodes", open ? as_needed : Json(platform.nodes)},
          {"devices", open ? as_needed : Json(platform.devices())},
          {"links", open ? as_needed : Json(platform.links.size())},
          {"devices_per_node", platform.devices_per_node},
          {"device", platform.device}};
}

std::string describe_route(const Platform& platform, const char* what, int from, int to) {
  const Route route = platform.route(from, to);
  BytesPerSecond rate = BytesPerSecond::infinity();
  std::string way;
  for (const int index : route.links) {
    const Link& link = platform.links[static_cast<std::size_t>(index)];
    rate = std::min(rate, link.capacity);
    way += fmt::format("    {:<28} {:>14}\n", link.name, format(link.capacity));
  }
  return fmt::format("  {} (device {} to {}): {}, {}\n{}", what, from, to, format(rate), format(route.latency), way);
}

}  // namespace

Shown show_topologies(const ShowRequest& /*request*/) {
  const Catalogue catalogue;
  Shown shown{fmt::format("{:<18} {:<6} {:>10} {:>8}  {}\n", "topology", "kind", "nodes", "devices", "summary"),
              Json::array()};
  for (const std::string& name : catalogue.topologies()) {
    const Topology topology = load(catalogue, name);
    const Platform platform = sample(topology);
    shown.json.push_back(topology_json(topology, platform));
    fmt::format_to(std::back_inserter(shown.text), "{:<18} {:<6} {:>10} {:>8}  {}\n", name, topology.kind,
                   topology.nodes ? std::to_string(*topology.nodes) : "as needed",
                   topology.nodes ? std::to_string(platform.devices()) : "-", topology.summary);
  }
  return shown;
}

Shown show_topology(const ShowRequest& request) {
  const Topology topology = load(Catalogue(), request.name);
  const Platform platform = sample(topology);
  Shown shown{{}, topology_json(topology, platform)};
  shown.text = fmt::format("{}: {}\n", topology.name, topology.summary);
  shown.text +=
      topology.nodes
          ? fmt::format("  {} nodes, {} devices ({} each, {}), {} links\n", platform.nodes, platform.devices(),
                        platform.devices_per_node, platform.device, platform.links.size())
          : fmt::format("  nodes as needed, {} device each ({})\n", platform.devices_per_node, platform.device);
  shown.text += fmt::format("  a collective starts in {}\n", format(platform.transport.launch));
  if (platform.devices_per_node > 1) shown.text += describe_route(platform, "within a node", 0, 1);
  if (platform.nodes > 1) {
    shown.text += describe_route(platform, "between nodes", platform.devices_per_node - 1, platform.devices_per_node);
  }
  return shown;
}

}  // namespace farandole
