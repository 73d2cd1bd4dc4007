// farandole show topologies, farandole show topology NAME-or-FILE.
#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "command.hpp"
#include "graphviz.hpp"
#include "platform/bisection.hpp"
#include "report/pages.hpp"
#include "scenario/catalogue.hpp"
#include "show.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

Topology load_topology(const Catalogue& catalogue, const std::string& name) {
  const OptionValue option("show topology", name);
  return catalogue.topology(name, option.value());
}

/// An open topology is shown with two nodes, the fewest with a network, one that grows with a unit of them.
Platform sample(const Topology& topology) {
  const OptionValue option("show topology", topology.name);
  return build(topology, topology.unit > 0 ? topology.unit : topology.nodes.value_or(2), option.value());
}

Json topology_json(const Topology& topology, const Platform& platform) {
  const Json as_needed = "as needed";
  const bool open = !topology.nodes.has_value();
  return {{"name", topology.name},
          {"summary", topology.summary},
          {"kind", topology.kind},
          {"file", topology.file.string()},
          {"nodes", open ? as_needed : Json(platform.nodes)},
          {"most_nodes", open ? as_needed : Json(*topology.nodes)},
          {"devices", open ? as_needed : Json(platform.devices())},
          {"links", open ? as_needed : Json(platform.links.size())},
          {"devices_per_node", platform.devices_per_node},
          {"device", platform.device},
          {"library", platform.transport.library}};
}

/// The rate of a route alone on the network: of a link that several of its paths share, what it has for all of them.
BytesPerSecond rate_of(const Platform& platform, const Route& route) {
  BytesPerSecond rate = BytesPerSecond::infinity();
  for (const int link : route.links) {
    const double share = static_cast<double>(std::ranges::count(route.links, link)) / route.paths;
    rate = std::min(rate, platform.links[static_cast<std::size_t>(link)].capacity / share);
  }
  return rate;
}

std::string describe_route(const Platform& platform, const char* what, int from, int to) {
  const Route route = platform.route(from, to);
  std::string way;
  const std::set<int> links(route.links.begin(), route.links.end());
  for (const int index : route.links) {
    if (route.paths > 1) break;
    const Link& link = platform.links[static_cast<std::size_t>(index)];
    way += fmt::format("    {:<28} {:>14}\n", link.name, format(link.capacity));
  }
  if (route.paths > 1) way = fmt::format("    {} paths over {} links\n", route.paths, links.size());
  return fmt::format("  {} (device {} to {}): {}, {}\n{}", what, from, to, format(rate_of(platform, route)),
                     format(route.latency), way);
}

Json pair_json(const Platform& platform, const char* what, int from, int to) {
  const Route route = platform.route(from, to);
  return {{"pair", what},
          {"from", from},
          {"to", to},
          {"links", route.links.size()},
          {"paths", route.paths},
          {"bandwidth", rate_of(platform, route).si()},
          {"latency", route.latency.si()}};
}

struct Pair {
  const char* what;
  int from;
  int to;
};

/// Two devices of a node, of two neighbours, and of the first and the last node.
std::vector<Pair> sample_pairs(const Platform& platform) {
  std::vector<Pair> pairs;
  const int each = platform.devices_per_node;
  if (each > 1) pairs.push_back({"within a node", 0, 1});
  if (platform.nodes > 1) pairs.push_back({"between nodes", each - 1, each});
  if (platform.nodes > 2) pairs.push_back({"from end to end", 0, platform.devices() - 1});
  return pairs;
}

std::string device_text(const Platform& platform) {
  return platform.device.empty() ? "nobody says of which kind" : platform.device;
}

/// What MPI's messages cost where the machine's transport is another library's.
std::string mpi_text(const Transport& mpi) {
  std::string text = fmt::format("  MPI, where it is named: {} by {}, {} between nodes", mpi.library, mpi.name,
                                 format(mpi.inter_node_latency));
  if (mpi.intra_node_latency > Seconds(0)) text += fmt::format(", {} inside", format(mpi.intra_node_latency));
  if (mpi.message.rendezvous > Seconds(0)) {
    text += fmt::format("; from {} on a handshake of {}", format(mpi.message.rendezvous_from),
                        format(mpi.message.rendezvous));
  }
  return text + "\n";
}

Json mpi_json(const Transport& mpi) {
  return {{"name", mpi.name},
          {"library", mpi.library},
          {"intra_node_latency", mpi.intra_node_latency.si()},
          {"inter_node_latency", mpi.inter_node_latency.si()},
          {"rendezvous", {{"from", mpi.message.rendezvous_from.si()}, {"latency", mpi.message.rendezvous.si()}}},
          {"occupancy", {{"send", mpi.occupancy.send.si()}, {"receive", mpi.occupancy.receive.si()}}}};
}

std::string condition_text(const Condition& condition) {
  std::string text;
  for (const auto& [pattern, rest] : condition.degraded) {
    text += fmt::format("  degraded to {:g} %: {}\n", 100 * rest, pattern);
  }
  for (const auto& [pattern, rate] : condition.background) {
    text += fmt::format("  background of {}: {}\n", format(rate), pattern);
  }
  for (const auto& [pattern, curve] : condition.congestion) {
    text += fmt::format("  congestion to {:g} % at {:g} flows: {}\n", 100 * curve->points().back().left,
                        curve->points().back().flows, pattern);
  }
  for (const std::string& pattern : condition.failed) text += fmt::format("  failed: {}\n", pattern);
  return text;
}

Json condition_json(const Condition& condition) {
  Json json{{"degraded", Json::object()},
            {"background", Json::object()},
            {"congestion", Json::object()},
            {"failed", condition.failed}};
  for (const auto& [pattern, rest] : condition.degraded) json["degraded"][pattern] = rest;
  for (const auto& [pattern, rate] : condition.background) json["background"][pattern] = rate.si();
  for (const auto& [pattern, curve] : condition.congestion) {
    for (const auto& [flows, left] : curve->points()) {
      json["congestion"][pattern].push_back({{"flows", flows}, {"left", left}});
    }
  }
  return json;
}

std::string network_text(const Platform& platform) {
  const Network& network = platform.network;
  if (network.only_ways) return "  only the ways between hosts are known, not the switches and cables\n";
  std::int64_t cables = 0;
  for (const Cable& cable : network.cables) cables += cable.count;
  std::string text =
      fmt::format("  {} {}, {} cables between them; at most {} on a shortest way\n", network.switches.size(),
                  network.switches.size() == 1 ? "switch" : "switches", cables, diameter(platform));
  if (const auto halves = bisection(platform)) text += fmt::format("  bisection {} each way\n", format(*halves));
  return text;
}

Json network_json(const Platform& platform) {
  const auto halves = bisection(platform);
  Json pairs = Json::array();
  for (const Pair& pair : sample_pairs(platform)) {
    pairs.push_back(pair_json(platform, pair.what, pair.from, pair.to));
  }
  std::int64_t cables = 0;
  for (const Cable& cable : platform.network.cables) cables += cable.count;
  return {{"switches", platform.network.switches.size()},
          {"cables", cables},
          {"diameter", diameter(platform)},
          {"bisection_bandwidth", halves ? Json(halves->si()) : Json()},
          {"pairs", pairs}};
}

Page topology_page(const Platform& platform, const std::string& summary, const std::string& picture,
                   const std::string& text) {
  Page page;
  page.kicker = "Farandole · topology " + platform.name;
  page.answer = {summary + "."};
  PageSection network{"network", "Nodes and switches"};
  network.text = {"Nodes of a kind are drawn as one box, cables between two boxes as one line with their rate."};
  network.picture = picture;
  PageSection numbers{"numbers", "In numbers"};
  numbers.verbatim = text;
  page.sections = {network, numbers};
  return page;
}

}  // namespace

Shown show_topologies(const ShowRequest& /*request*/) {
  const Catalogue catalogue;
  Shown shown{fmt::format("{:<18} {:<6} {:>10} {:>8}  {}\n", "topology", "kind", "nodes", "devices", "summary"),
              Json::array()};
  for (const std::string& name : catalogue.topologies()) {
    const Topology topology = load_topology(catalogue, name);
    const Platform platform = sample(topology);
    shown.json.push_back(topology_json(topology, platform));
    fmt::format_to(std::back_inserter(shown.text), "{:<18} {:<6} {:>10} {:>8}  {}\n", name, topology.kind,
                   topology.nodes ? std::to_string(platform.nodes) + (topology.unit > 0 ? "+" : "") : "as needed",
                   topology.nodes ? std::to_string(platform.devices()) : "-", topology.summary);
  }
  return shown;
}

Shown show_topology(const ShowRequest& request) {
  const Topology topology = load_topology(Catalogue(), request.name);
  const Platform platform = sample(topology);
  Shown shown{{}, topology_json(topology, platform)};
  shown.text = fmt::format("{}: {}\n", topology.name, topology.summary);
  shown.text +=
      topology.nodes
          ? fmt::format(
                "  {} nodes{}, {} devices ({} each, {}), {} links\n", platform.nodes,
                topology.unit > 0 ? fmt::format(", growing by {} up to {}", topology.unit, *topology.nodes) : "",
                platform.devices(), platform.devices_per_node, device_text(platform), platform.links.size())
          : fmt::format("  nodes as needed, {} device each ({})\n", platform.devices_per_node, device_text(platform));
  shown.text += fmt::format("  a collective starts in {}\n", format(platform.transport.launch));
  if (const std::string& library = platform.transport.library; !library.empty()) {
    shown.text += fmt::format("  collectives by {}, unless an algorithm is named\n", library);
  }
  if (topology.mpi) {
    shown.text += mpi_text(*topology.mpi);
    shown.json["mpi"] = mpi_json(*topology.mpi);
  }
  shown.text += network_text(platform) + condition_text(topology.condition);
  shown.json["network"] = network_json(platform);
  shown.json["condition"] = condition_json(topology.condition);
  for (const Pair& pair : sample_pairs(platform)) {
    shown.text += describe_route(platform, pair.what, pair.from, pair.to);
  }
  shown.draw = [platform, summary = topology.summary, text = shown.text](std::ostream& out, bool is_html) {
    std::ostringstream picture;
    draw_with_graphviz(picture, [&](std::ostream& graph) { write_topology_picture(graph, platform); });
    if (is_html) return write_html(out, topology_page(platform, summary, picture.str(), text));
    out << picture.str();
  };
  shown.files["dot"] = [platform](std::ostream& out) { write_topology_dot(out, platform); };
  shown.files["simgrid"] = [platform](std::ostream& out) { write_topology_simgrid(out, platform); };
  return shown;
}

}  // namespace farandole
