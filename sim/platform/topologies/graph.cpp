#include "platform/topologies/graph.hpp"

#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "platform/sections.hpp"
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

NetworkPlan plan_of(RouteTable table) {
  return [table = std::make_shared<RouteTable>(std::move(table))](Platform& platform, const Value& where) {
    const std::size_t hosts = table->hosts.size();
    if (static_cast<std::size_t>(platform.nodes) > hosts) {
      where.fail(fmt::format("at most the {} hosts of the file", hosts), fmt::format("{} nodes", platform.nodes));
    }
    const int first_link = static_cast<int>(platform.links.size());
    platform.links.insert(platform.links.end(), table->links.begin(), table->links.end());
    const int inside = add_switch(platform, "network");
    const std::size_t nics = platform.node.nics.size();
    platform.network.switch_of_nic.assign(static_cast<std::size_t>(platform.nodes) * nics, inside);
    platform.network.only_ways = true;
    platform.network.paths = [table, first_link, nics](int from, int to) {
      return shifted({table->way(static_cast<std::size_t>(from) / nics, static_cast<std::size_t>(to) / nics)},
                     first_link);
    };
  };
}

// Reader of "network" for the kind graph.

namespace {

class Reader {
 public:
  GraphPlan read(Section& section) {
    for (const Value& host : section.child("hosts").elements()) {
      add(host, GraphPlan::Vertex{farandole::read<std::string>(host), 0});
    }
    graph_.hosts = static_cast<int>(graph_.vertices.size());
    if (const auto switches = section.maybe("switches")) {
      for (const Value& element : switches->elements()) read_switch(element);
    }
    for (const Value& element : section.child("links").elements()) read_edge(element);
    return std::move(graph_);
  }

 private:
  void add(const Value& where, GraphPlan::Vertex vertex) {
    const int number = static_cast<int>(graph_.vertices.size());
    if (!numbers_.try_emplace(vertex.name, number).second) where.fail("a name that is not taken yet");
    graph_.vertices.push_back(std::move(vertex));
  }

  void read_switch(const Value& value) {
    Section section = sourced(value);
    const Value name = section.child("name");
    const auto ports = section.maybe("ports");
    add(name, {farandole::read<std::string>(name), ports ? read_at_least(*ports, 1) : 0});
    section.finish();
  }

  int vertex(const Value& value) {
    const auto found = numbers_.find(farandole::read<std::string>(value));
    if (found != numbers_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [name, number] : numbers_) known.push_back(name);
    value.fail_unknown("a host or a switch", known);
  }

  void read_edge(const Value& value) {
    Section section = sourced(value);
    GraphPlan::Edge edge;
    edge.from = vertex(section.child("from"));
    const Value to = section.child("to");
    edge.to = vertex(to);
    if (edge.to == edge.from) to.fail("another end than \"from\"");
    edge.there = read_link(section.child("link"));
    const auto back = section.maybe("back");
    edge.back = back ? read_link(*back) : edge.there;
    if (const auto cables = section.maybe("cables")) edge.cables = read_between(*cables, 1, most_cables_together);
    section.finish();
    graph_.edges.push_back(edge);
  }

  GraphPlan graph_;
  std::map<std::string, int> numbers_;
};

/// Whatever is wrong with the file, it is the topology that names it.
std::string text_of(const std::filesystem::path& path, const Value& name, const TextReader& read_file) {
  try {
    return read_file(path);
  } catch (const InputError& error) {
    name.fail("a file that can be read", quoted(read<std::string>(name)), fmt::format("; {}", error.what()));
  }
}

void check_hosts(std::size_t hosts, const Topology& topology, const Value& network) {
  if (!topology.nodes || static_cast<std::size_t>(*topology.nodes) <= hosts) return;
  network.fail(fmt::format("a host for each of {} nodes", *topology.nodes), fmt::format("{} hosts", hosts));
}

NetworkPlan plan_of_routes(const std::string& text, const std::filesystem::path& path, const Topology& topology,
                           const Value& network) {
  RouteTable table = parse_simgrid(text, path.string());
  check_hosts(table.hosts.size(), topology, network);
  return plan_of(std::move(table));
}

}  // namespace

NetworkPlan read_graph(Section& file, const Topology& topology, const TextReader& text) {
  const Value network = file.child("network");
  Section section = sourced(network);
  GraphPlan graph;
  if (const auto name = section.maybe("file")) {
    const auto path = topology.file.parent_path() / read<std::string>(*name);
    const std::string content = text_of(path, *name, text);
    if (path.extension() == ".xml") {
      section.finish();
      return plan_of_routes(content, path, topology, network);
    }
    const auto usual = section.maybe("link");
    graph = parse_dot(content, path.string(), usual ? std::optional(read_link(*usual)) : std::nullopt);
  } else {
    graph = Reader().read(section);
  }
  section.finish();
  if (graph.vertices.size() > most_vertices) {
    network.fail(fmt::format("at most {} hosts and switches", most_vertices), fmt::format("{}", graph.vertices.size()));
  }
  graph.check_joined(network);
  check_hosts(static_cast<std::size_t>(graph.hosts), topology, network);
  return plan_of(std::move(graph));
}

}}  // namespace farandole::platform
