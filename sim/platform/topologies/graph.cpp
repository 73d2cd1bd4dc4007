#include "platform/topologies/graph.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {
namespace {

/// Of every vertex its edges, in the order they are listed.
std::vector<std::vector<int>> edges_of(const GraphPlan& graph) {
  std::vector<std::vector<int>> edges(graph.vertices.size());
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    edges[static_cast<std::size_t>(graph.edges[i].from)].push_back(static_cast<int>(i));
    edges[static_cast<std::size_t>(graph.edges[i].to)].push_back(static_cast<int>(i));
  }
  return edges;
}

/// The link that every vertex takes towards one host, -1 where there is none: twice its edge's number, one more against
/// the edge's direction.
std::vector<int> links_towards(const GraphPlan& graph, const std::vector<std::vector<int>>& edges, int host) {
  std::vector<int> distance(graph.vertices.size(), -1);
  std::vector<int> link(graph.vertices.size(), -1);
  std::vector<int> queue{host};
  distance[static_cast<std::size_t>(host)] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const int here = queue[next];
    for (const int number : edges[static_cast<std::size_t>(here)]) {
      const GraphPlan::Edge& edge = graph.edges[static_cast<std::size_t>(number)];
      const int other = edge.from == here ? edge.to : edge.from;
      const auto there = static_cast<std::size_t>(other);
      if (distance[there] < 0) {
        distance[there] = distance[static_cast<std::size_t>(here)] + 1;
        queue.push_back(other);
      }
      const bool nearer = distance[there] == distance[static_cast<std::size_t>(here)] + 1;
      const int own = 2 * number + (edge.from == other ? 0 : 1);
      if (nearer && (link[there] < 0 || own / 2 < link[there] / 2)) link[there] = own;
    }
  }
  return link;
}

struct GraphWays {
  GraphPlan graph;
  int nics = 1;
  int first_link = 0;
  std::vector<std::vector<int>> towards;  // by host

  [[nodiscard]] Paths paths(int from_nic, int to_nic) const {
    Path path;
    const int to = to_nic / nics;
    for (int at = from_nic / nics; at != to;) {
      const int link = towards[static_cast<std::size_t>(to)][static_cast<std::size_t>(at)];
      path.push_back(first_link + link);
      const GraphPlan::Edge& edge = graph.edges[static_cast<std::size_t>(link / 2)];
      at = link % 2 == 0 ? edge.to : edge.from;
    }
    return {path};
  }
};

void add_edge(Platform& platform, const GraphPlan& graph, std::size_t number) {
  const GraphPlan::Edge& edge = graph.edges[number];
  const std::string name = fmt::format("{}-{}.{}", graph.vertices[static_cast<std::size_t>(edge.from)].name,
                                       graph.vertices[static_cast<std::size_t>(edge.to)].name, number);
  add_cable(platform, edge.from, edge.to, name, edge.there, edge.cables);
  Link& back = platform.links.back();
  back.capacity = edge.back.effective() * edge.cables;
  back.wire = edge.back.wire * edge.cables;
  back.latency = edge.back.latency;
}

}  // namespace

void GraphPlan::check_joined(const Value& where) const {
  if (hosts == 0) return;
  const auto link = links_towards(*this, edges_of(*this), 0);
  for (int host = 1; host < hosts; ++host) {
    if (link[static_cast<std::size_t>(host)] >= 0) continue;
    where.fail("a way between all hosts",
               fmt::format("none from {} to {}", vertices[static_cast<std::size_t>(host)].name, vertices.front().name));
  }
}

NetworkPlan plan_of(GraphPlan graph) {
  return [graph = std::move(graph)](Platform& platform, const Value& where) {
    if (platform.nodes > graph.hosts) {
      where.fail(fmt::format("at most the {} nodes that are hosts of the graph", graph.hosts),
                 fmt::format("{} nodes", platform.nodes));
    }
    const auto ways = std::make_shared<GraphWays>(
        GraphWays{graph, static_cast<int>(platform.node.nics.size()), static_cast<int>(platform.links.size()), {}});
    for (const GraphPlan::Vertex& vertex : graph.vertices) add_switch(platform, vertex.name, 0, vertex.ports);
    for (std::size_t i = 0; i < graph.edges.size(); ++i) add_edge(platform, graph, i);
    const auto edges = edges_of(graph);
    for (int host = 0; host < platform.nodes; ++host) {
      ways->towards.push_back(links_towards(graph, edges, host));
      platform.network.switch_of_nic.insert(platform.network.switch_of_nic.end(), platform.node.nics.size(), host);
    }
    platform.network.paths = [ways = std::shared_ptr<const GraphWays>(ways)](int from, int to) {
      return ways->paths(from, to);
    };
  };
}

}}  // namespace farandole::platform
