// libFuzzer target: a Graphviz graph is a network with a way between all hosts, or refused.
#include "fuzz/graph_platform.hpp"
#include "platform/topologies/graph.hpp"

namespace {

using namespace farandole;

void read_graph(const std::string& text, const std::optional<Topology::LinkRate>& usual) {
  static const Document anything = Document::parse("{}", "fuzz.json");
  GraphPlan graph = parse_dot(text, "fuzz.dot", usual);
  const auto vertices = static_cast<int>(graph.vertices.size());
  const int hosts = graph.hosts;
  fuzz::require(hosts >= 0 && hosts <= vertices, "hosts are vertices");
  for (const GraphPlan::Edge& edge : graph.edges) {
    fuzz::require(std::min(edge.from, edge.to) >= 0 && std::max(edge.from, edge.to) < vertices, "edges join vertices");
    fuzz::require(edge.cables >= 1, "an edge has a cable");
  }
  graph.check_joined(anything.root());
  if (hosts > 0) fuzz::build_and_cross(plan_of(std::move(graph)), static_cast<std::size_t>(hosts));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  Topology::LinkRate usual;
  usual.wire = BytesPerSecond(1e9);
  const bool says_rates = text.find("rate") != std::string::npos;
  fuzz::use_or_refuse([&] { read_graph(text, says_rates ? std::nullopt : std::optional(usual)); });
  return 0;
}
