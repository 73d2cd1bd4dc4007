// What tests of platforms share: a topology from a text, and the message a wrong one is refused with.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "platform/topology.hpp"
#include "support/source_folder.hpp"

namespace farandole {

inline Document sample(std::string_view text) {
  return Document::parse(text, "sample.json");
}

/// A value to blame.
inline const Value& anywhere() {
  static const Document document = sample("\"here\"");
  static const Value root = document.root();
  return root;
}

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

inline Topology topology_of(std::string_view text) {
  return read_topology(sample(text).root(), "sample.json");
}

/// A star whose "node" is the given text.
inline std::string star(std::string_view node, std::string_view more = "") {
  return R"({"name": "sample", "summary": "s", "kind": "star", "nodes": "as needed", "node": )" + std::string(node) +
         std::string(more) + "}";
}

inline Platform platform_of(std::string_view text, int nodes) {
  return build(topology_of(text), nodes, anywhere());
}

/// The names of a route's links, in order.
inline std::vector<std::string> names_of(const Platform& platform, const Route& route) {
  std::vector<std::string> names;
  for (const int link : route.links) names.push_back(platform.links[static_cast<std::size_t>(link)].name);
  return names;
}

/// Every file of topologies/, by name.
inline std::vector<std::filesystem::path> topology_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() / "topologies")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

inline Topology topology_named(const std::string& name) {
  const auto file = test::source_folder() / "topologies" / (name + ".json");
  return read_topology(Document::read(file).root(), file);
}

}  // namespace farandole
