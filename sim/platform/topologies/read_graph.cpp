// Reader of "network" for the kind graph.
#include <map>

#include <fmt/format.h>

#include "platform/sections.hpp"
#include "platform/topologies/graph.hpp"
#include "platform/topologies/limits.hpp"
#include "platform/topologies/route_table.hpp"

namespace farandole { inline namespace platform {
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
