#include <ostream>

#include <fmt/format.h>

#include "report/html.hpp"
#include "report/pages.hpp"

namespace farandole { inline namespace report {
namespace {

const Link& link_at(const Platform& platform, int index) {
  return platform.links[static_cast<std::size_t>(index)];
}

std::string link_attributes(const Link& link, int count) {
  return fmt::format("rate=\"{} B/s\", latency=\"{} s\", cables={}", link.capacity.si() / count, link.latency.si(),
                     count);
}

}  // namespace

void write_topology_dot(std::ostream& out, const Platform& platform) {
  const Network& network = platform.network;
  out << fmt::format("graph {} {{\n", dot_string(platform.name));
  for (int node = 0; node < platform.nodes; ++node) out << fmt::format("  \"node{}\" [kind=host, shape=box];\n", node);
  for (const Switch& part : network.switches) {
    out << fmt::format("  {} [kind=switch, ports={}];\n", dot_string(part.name), part.ports);
  }
  const auto nics = static_cast<int>(platform.node.nics.size());
  for (int nic = 0; nic < platform.nodes * nics; ++nic) {
    const int up = platform.node.nics[static_cast<std::size_t>(nic % nics)].up;
    const int plugged_in = network.switch_of_nic[static_cast<std::size_t>(nic)];
    out << fmt::format("  \"node{}\" -- {}", nic / nics,
                       dot_string(network.switches[static_cast<std::size_t>(plugged_in)].name));
    if (up >= 0) out << fmt::format(" [{}]", link_attributes(link_at(platform, platform.link_of(nic / nics, up)), 1));
    out << ";\n";
  }
  for (const Cable& cable : network.cables) {
    out << fmt::format("  {} -- {} [{}];\n", dot_string(network.switches[static_cast<std::size_t>(cable.from)].name),
                       dot_string(network.switches[static_cast<std::size_t>(cable.to)].name),
                       link_attributes(link_at(platform, cable.there), cable.count));
  }
  out << "}\n";
}

void write_topology_simgrid(std::ostream& out, const Platform& platform) {
  out << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      << "<platform version=\"4.1\">\n"
      << fmt::format("  <zone id=\"{}\" routing=\"Full\">\n", xml_attribute(platform.name));
  for (int device = 0; device < platform.devices(); ++device) {
    out << fmt::format("    <host id=\"device{}\" speed=\"1Gf\"/>\n", device);
  }
  for (const Link& link : platform.links) {
    out << fmt::format("    <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\" sharing_policy=\"SHARED\"/>\n",
                       xml_attribute(link.name), link.capacity.si(), link.latency.si());
  }
  Platform fixed = platform;  // each pair by the first of its ways
  fixed.network.choice = nullptr;
  fixed.network.paths = [&](int from, int to) { return Paths{platform.network.paths(from, to).front()}; };
  for (int from = 0; from < platform.devices(); ++from) {
    for (int to = 0; to < platform.devices(); ++to) {
      if (from == to) continue;
      const Route route = fixed.route(from, to);
      const std::size_t first_path = route.links.size() / static_cast<std::size_t>(route.paths);
      out << fmt::format("    <route src=\"device{}\" dst=\"device{}\" symmetrical=\"NO\">", from, to);
      for (std::size_t i = 0; i < first_path; ++i) {
        out << fmt::format("<link_ctn id=\"{}\"/>", xml_attribute(link_at(platform, route.links[i]).name));
      }
      out << "</route>\n";
    }
  }
  out << "  </zone>\n</platform>\n";
}

}}  // namespace farandole::report
