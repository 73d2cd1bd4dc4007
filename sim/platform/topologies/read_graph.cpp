// Reader of "network" for the kind graph.
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "platform/sections.hpp"
#include "platform/topologies/graph.hpp"

namespace farandole {
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
    edge.cables = read_positive(section, "cables", 1);
    section.finish();
    graph_.edges.push_back(edge);
  }

  GraphPlan graph_;
  std::map<std::string, int> numbers_;
};

GraphPlan read_file(const Value& name, const Topology& topology, const std::optional<Topology::LinkRate>& usual) {
  const auto path = topology.file.parent_path() / read<std::string>(name);
  std::ifstream file(path);
  if (!file) name.fail("a file that can be read", path.string());
  return parse_dot(std::string{std::istreambuf_iterator<char>(file), {}}, path.string(), usual);
}

}  // namespace

NetworkPlan read_graph(Section& file, const Topology& topology) {
  const Value network = file.child("network");
  Section section = sourced(network);
  GraphPlan graph;
  if (const auto name = section.maybe("file")) {
    const auto usual = section.maybe("link");
    graph = read_file(*name, topology, usual ? std::optional(read_link(*usual)) : std::nullopt);
  } else {
    graph = Reader().read(section);
  }
  section.finish();
  if (graph.vertices.size() > most_vertices) {
    network.fail(fmt::format("at most {} hosts and switches", most_vertices), fmt::format("{}", graph.vertices.size()));
  }
  graph.check_joined(network);
  if (topology.nodes && *topology.nodes > graph.hosts) {
    network.fail(fmt::format("a host for each of {} nodes", *topology.nodes), fmt::format("{} hosts", graph.hosts));
  }
  return plan_of(std::move(graph));
}

}  // namespace farandole
