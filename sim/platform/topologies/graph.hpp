// The topology kind "graph": hosts, switches and cables listed one by one, in the file itself or in a Graphviz file; or
// the links and ways of a SimGrid file (topologies/route_table.hpp).
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

}}  // namespace farandole::platform
