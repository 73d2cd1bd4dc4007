#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "report/html.hpp"
#include "report/pages.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr std::size_t most_boxes = 16;  // of a kind: their names are read on a page that is printed

struct Line {
  int cables = 0;
  BytesPerSecond wire;  // of all of them
  double load = 0;      // of the busiest link
};

/// The name as it is, its first part, or the level alone.
std::string coarser(const Switch& part, int coarseness) {
  if (coarseness == 0) return part.name;
  const auto slash = part.name.find('/');
  if (coarseness == 1 && slash != std::string::npos) return part.name.substr(0, slash);
  return fmt::format("level {}", part.level);
}

class Picture {
 public:
  Picture(const Platform& platform, std::span<const double> loads) : platform_(platform), loads_(loads) {}

  void write(std::ostream& out) {
    name_switches();
    add_nics();
    add_cables();
    const bool has_levels =
        std::ranges::any_of(platform_.network.switches, [](const Switch& s) { return s.level > 0; });
    const bool hangs = has_levels || platform_.network.switches.size() == 1;
    out << fmt::format("graph {} {{\n  graph [label=\"{}\", fontname=\"Helvetica\", layout={}, overlap=false, ",
                       dot_string(platform_.name), dot_label(platform_.name), hangs ? "dot" : "neato")
        << "splines=true, ranksep=1.2];\n"
        << "  node [fontname=\"Helvetica\", fontsize=10];\n"
        << "  edge [fontname=\"Helvetica\", fontsize=8, color=\"#777777\"];\n";
    for (const auto& [box, count] : parts_) {
      out << fmt::format("  {} [shape=ellipse, style=filled, fillcolor=\"#dce8f5\", label=\"{}", dot_string(box),
                         dot_label(box));
      out << (count > 1 ? fmt::format("\\n{} switches\"];\n", count) : "\"];\n");
    }
    for (const auto& [box, nodes] : nodes_) {
      const std::string what = nodes.size() > 1 ? fmt::format("{} nodes", nodes.size()) : box;
      out << fmt::format("  {} [shape=box, style=filled, fillcolor=\"#f4f0e0\", label=\"{}\\n{} x {}\"];\n",
                         dot_string(box), dot_label(what), platform_.devices_per_node, dot_label(platform_.device));
    }
    for (const auto& [ends, line] : lines_) {
      out << fmt::format("  {} -- {} [{}];\n", dot_string(ends.first), dot_string(ends.second), attributes(line));
    }
    out << "}\n";
  }

 private:
  void name_switches() {
    for (int coarseness = 0; coarseness <= 2; ++coarseness) {
      box_of_switch_.clear();
      for (const Switch& part : platform_.network.switches) box_of_switch_.push_back(coarser(part, coarseness));
      const std::set<std::string> boxes(box_of_switch_.begin(), box_of_switch_.end());
      if (boxes.size() <= most_boxes) break;
    }
    for (const std::string& box : box_of_switch_) ++parts_[box];
  }

  [[nodiscard]] std::string box_of_node(int node, const std::string& at) const {
    if (static_cast<std::size_t>(platform_.nodes) <= most_boxes) return fmt::format("node{}", node);
    return "nodes of " + at;
  }

  void add_nics() {
    const auto nics = static_cast<int>(platform_.node.nics.size());
    for (int nic = 0; nic < platform_.nodes * nics; ++nic) {
      const int node = nic / nics;
      const auto plugged_in = static_cast<std::size_t>(platform_.network.switch_of_nic[static_cast<std::size_t>(nic)]);
      const std::string& above = box_of_switch_[plugged_in];
      const std::string below = box_of_node(node, above);
      nodes_[below].insert(node);
      const NodeTemplate::Nic ends = platform_.node.nics[static_cast<std::size_t>(nic % nics)];
      const auto link = [&](int offset) { return offset < 0 ? -1 : platform_.link_of(node, offset); };
      add(above, below, 1, link(ends.up), link(ends.down));
    }
  }

  void add_cables() {
    for (const Cable& cable : platform_.network.cables) {
      const auto& from = box_of_switch_[static_cast<std::size_t>(cable.from)];
      const auto& to = box_of_switch_[static_cast<std::size_t>(cable.to)];
      add(to, from, cable.count, cable.there, cable.back);
    }
  }

  void add(const std::string& above, const std::string& below, int cables, int there, int back) {
    if (above == below) return;
    // Cables of a ring may be written down from either end.
    Line& line = lines_.contains({below, above}) ? lines_[{below, above}] : lines_[{above, below}];
    line.cables += cables;
    for (const int link : {there, back}) {
      if (link < 0) continue;
      const auto index = static_cast<std::size_t>(link);
      if (!loads_.empty()) line.load = std::max(line.load, loads_[index]);
      if (link == there) line.wire += platform_.links[index].wire;
    }
  }

  [[nodiscard]] std::string attributes(const Line& line) const {
    const std::string rate = line.wire > BytesPerSecond(0)
                                 ? fmt::format("{} x {}", line.cables, format(line.wire / line.cables))
                                 : fmt::format("{}", line.cables);
    const bool crowded = lines_.size() > 2 * most_boxes;
    if (loads_.empty()) return crowded ? "" : fmt::format("label=\"{}\"", rate);
    constexpr double green = 0.33;
    const double share = std::clamp(line.load, 0.0, 1.0);
    return fmt::format("color=\"{:.3f} 0.9 0.8\", penwidth={:.1f}{}", green * (1 - share), 1 + 4 * share,
                       crowded ? "" : fmt::format(", label=\"{:.0f} %\"", 100 * share));
  }

  const Platform& platform_;
  std::span<const double> loads_;
  std::vector<std::string> box_of_switch_;
  std::map<std::string, int> parts_;  // switches or nodes in a box
  std::map<std::string, std::set<int>> nodes_;
  std::map<std::pair<std::string, std::string>, Line> lines_;
};

const Link& link_at(const Platform& platform, int index) {
  return platform.links[static_cast<std::size_t>(index)];
}

std::string link_attributes(const Link& link, int count) {
  return fmt::format("rate=\"{} B/s\", latency=\"{} s\", cables={}", link.capacity.si() / count, link.latency.si(),
                     count);
}

}  // namespace

void write_topology_picture(std::ostream& out, const Platform& platform, std::span<const double> loads) {
  Picture(platform, loads).write(out);
}

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
