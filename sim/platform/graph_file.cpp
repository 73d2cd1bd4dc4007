#include "platform/graph_file.hpp"

#include <memory>
#include <utility>
#include <variant>

#include "platform/topologies/graph.hpp"

namespace farandole { inline namespace platform {
namespace {

/// Filled in as a tree: the file's name may hold whatever names hold, also what JSON text cannot.
constexpr std::string_view form = R"({"name": "", "summary": "", "kind": "graph", "nodes": 1, "node": {"device": ""},
                                      "network": {"file": ""}})";

Node node_of(std::variant<std::int64_t, std::string> value, const std::filesystem::path& file) {
  Node node;
  std::visit([&](auto& held) { node.value = std::move(held); }, value);
  node.line = 1;
  node.source = std::make_shared<const std::string>(file.string());
  return node;
}

}  // namespace

bool is_graph_file(const std::filesystem::path& file) {
  const auto extension = file.extension();
  return extension == ".dot" || extension == ".gv" || extension == ".xml";
}

Document topology_of_graph_file(const std::filesystem::path& file, const TextReader& read_file) {
  const bool simgrid = file.extension() == ".xml";
  const std::string text = read_file(file);
  const auto hosts = simgrid ? parse_simgrid(text, file.string()).hosts.size()
                             : static_cast<std::size_t>(parse_dot(text, file.string(), std::nullopt).hosts);
  if (hosts == 0) throw InputError({file.string(), 1, ""}, "at least one host", "none");
  constexpr std::size_t longest_name = 255;
  Document document = Document::parse(form, file.string());
  document.set("/name", node_of(one_line(file.stem().string(), longest_name), file));
  document.set("/summary", node_of(simgrid ? "a SimGrid platform" : "a Graphviz graph", file));
  document.set("/nodes", node_of(static_cast<std::int64_t>(hosts), file));
  document.set("/network/file", node_of(file.filename().string(), file));
  return document;
}

}}  // namespace farandole::platform
