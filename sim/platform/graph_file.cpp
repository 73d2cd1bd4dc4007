#include "platform/graph_file.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "platform/topologies/graph.hpp"
#include "platform/topologies/route_table.hpp"

namespace farandole {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw InputError({file.string(), 0, ""}, "a file that can be read", "none");
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

bool is_graph_file(const std::filesystem::path& file) {
  const auto extension = file.extension();
  return extension == ".dot" || extension == ".gv" || extension == ".xml";
}

Document topology_of_graph_file(const std::filesystem::path& file) {
  const bool simgrid = file.extension() == ".xml";
  const std::string text = text_of(file);
  const auto hosts = simgrid ? parse_simgrid(text, file.string()).hosts.size()
                             : static_cast<std::size_t>(parse_dot(text, file.string(), std::nullopt).hosts);
  if (hosts == 0) throw InputError({file.string(), 1, ""}, "at least one host", "none");
  return Document::parse(
      fmt::format(R"({{"name": {}, "summary": "{}", "kind": "graph", "nodes": {}, "node": {{"device": ""}},
                      "network": {{"file": {}}}}})",
                  quoted(file.stem().string()), simgrid ? "a SimGrid platform" : "a Graphviz graph", hosts,
                  quoted(file.filename().string())),
      file.string());
}

}  // namespace farandole
