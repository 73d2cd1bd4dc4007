// The topology kind "graph": hosts, switches and cables listed one by one, in the file itself or in a Graphviz file; or
// the links and ways of a SimGrid file.
//
// Host i is node i; its NIC stands before its cables. Ways have as few cables as can be; among such, at every step the
// cable listed first that leads nearer. Reading is topologies/graph.cpp, Graphviz files topologies/read_dot.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

struct GraphPlan {
  struct Vertex {
    std::string name;
    int ports = 0;
  };
  struct Edge {
    int from = 0;  // vertices: first the hosts, then the switches
    int to = 0;
    Topology::LinkRate there;
    Topology::LinkRate back;
    int cables = 1;
  };
  std::vector<Vertex> vertices;
  int hosts = 0;
  std::vector<Edge> edges;

  /// A way from any host to any other; fails at `where` with two that have none.
  void check_joined(const Value& where) const;
};

/// The table of ways takes as many numbers as hosts x vertices.
inline constexpr std::size_t most_vertices = 8192;

NetworkPlan plan_of(GraphPlan graph);

NetworkPlan read_graph(Section& file, const Topology& topology, const TextReader& text);

/// An undirected Graphviz graph: `kind=host|switch` and `ports` of vertices, `rate`, `latency` and `cables` of edges,
/// with defaults from `node [...]` and `edge [...]`; all else is for the eye. A vertex of no kind is a host if it has
/// one edge. Edges that do not say their rate have `usual`'s. `source` is the file's name, for errors.
GraphPlan parse_dot(std::string_view text, const std::string& source, const std::optional<Topology::LinkRate>& usual);

// A network of which nothing is known but the way of every pair of hosts: what a SimGrid platform file lists.
//
// Made by topologies/read_simgrid.cpp. Host i is node i. A link stands for itself: where a file says that both
// directions of a cable share it, the ways there and back name the same one.

struct RouteTable {
  std::vector<std::string> hosts;
  std::vector<Link> links;
  std::vector<Path> ways;  // [from * hosts + to]; links by their place above

  [[nodiscard]] Path& way(std::size_t from, std::size_t to) { return ways[from * hosts.size() + to]; }
};

NetworkPlan plan_of(RouteTable table);

/// A platform file of SimGrid (https://simgrid.org/doc/latest/XML_reference.html) with one zone of hosts, routers,
/// links and routes; `routing` Full, where every pair has its own, or Floyd, Dijkstra and DijkstraCache, where routes
/// are the edges of a graph and ways have the fewest links. Links of the policies SHARED and SPLITDUPLEX. All else is
/// refused, with its line. `source` is the file's name, for errors.
RouteTable parse_simgrid(std::string_view text, const std::string& source);

}}  // namespace farandole::platform
