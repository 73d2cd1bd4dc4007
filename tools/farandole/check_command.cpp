// farandole check: is a file what it says it is? Schema and reader, without running anything.
#include <iostream>
#include <memory>

#include "calibration/published.hpp"
#include "command.hpp"
#include "config/document.hpp"
#include "platform/graph_file.hpp"
#include "platform/topology.hpp"
#include "scenario/anchor.hpp"
#include "scenario/library_choice.hpp"
#include "scenario/scenario.hpp"
#include "scenario/sweep.hpp"
#include "simulate/library/library.hpp"
#include "study/search.hpp"
#include "workload/model.hpp"

namespace farandole {
namespace {

void check_model(const Document& document, const std::filesystem::path& file) {
  read_model(document.root(), file);
}
void check_device(const Document& document, const std::filesystem::path& file) {
  read_device(document.root(), file);
}

void check_topology(const Document& document, const std::filesystem::path& file) {
  const Topology topology = read_topology(document.root(), file);
  refuse_unknown_library(document);
  build(topology, topology.nodes.value_or(2), document.root());
}

void check_scenario(const Document& document, const std::filesystem::path& /*file*/) {
  const Catalogue catalogue;
  const Document ready = anchored(document, catalogue);
  for (const Configuration& configuration : expand_sweep(ready)) read_scenario(configuration.root(), catalogue);
  read_search(document);
}

void check_published(const Document& document, const std::filesystem::path& file) {
  const Catalogue catalogue;
  for (const PublishedRow& row : read_published(document, file.stem().string(), catalogue))
    read_scenario(anchored(row.scenario, catalogue).root(), catalogue);
}

void check_library(const Document& /*document*/, const std::filesystem::path& file) {
  find_library((file.has_parent_path() ? file : "." / file).string());
}

void check_offer(const Document& document, const std::filesystem::path& /*file*/) {
  read_offer(document.root());
}

/// All that is to be known of an answer stands in its schema.
void check_answer(const Document& /*document*/, const std::filesystem::path& /*file*/) {}

struct FileKind {
  const char* name;
  void (*check)(const Document&, const std::filesystem::path&);
};

constexpr std::array file_kinds{FileKind{"scenario", check_scenario},
                                FileKind{"topology", check_topology},
                                FileKind{"model", check_model},
                                FileKind{"device", check_device},
                                FileKind{"offer", check_offer},
                                FileKind{"published", check_published},
                                FileKind{"library", check_library},
                                FileKind{"network_answer", check_answer},
                                FileKind{"place_answer", check_answer},
                                FileKind{"cost_answer", check_answer},
                                FileKind{"diagnose_answer", check_answer},
                                FileKind{"tune_answer", check_answer},
                                FileKind{"compare_answer", check_answer}};

/// A file says its kind by the schema it names, as a file or by its identifier ("$id").
const FileKind& kind_of(const Document& document) {
  for (const auto& [key, value] : document.root().members()) {
    if (key != "$schema" || !value.is_string()) continue;
    const auto& named = std::get<std::string>(value.node().value);
    for (const FileKind& kind : file_kinds) {
      const std::string name = kind.name;
      if (named.ends_with(name + ".schema.json") ||
          (named.starts_with("urn:farandole:schema:") && named.ends_with(":" + name)))
        return kind;
    }
    value.fail("the schema of a scenario, topology, model, device, library, offer, published runs or an answer");
  }
  if (document.find("/workload") || document.find("/platform")) return file_kinds.front();  // as run takes it
  document.root().fail(
      "a key \"$schema\" that says which kind of file this is, such as "
      "\"../sim/config/schemas/scenario.schema.json\"");
}

/// The whole of what such a file can say is its links and ways; there is no schema of it.
void check_graph(const std::string& file) {
  const Document document = topology_of_graph_file(file);
  check_topology(document, file);
  std::cout << file << ": topology, ok\n";
}

void check_file(const std::string& file) {
  if (is_graph_file(file)) return check_graph(file);
  Document document = Document::read(file);
  if (is_huggingface_config(document)) {
    document = model_of_huggingface_config(document);
    check_model(document, file);
    std::cout << file << ": a model's configuration, ok\n";
    return;
  }
  const FileKind& kind = kind_of(document);
  kind.check(document, file);
  check_schema(document, Catalogue().root() / "sim/config/schemas" / (std::string(kind.name) + ".schema.json"));
  std::cout << file << ": " << kind.name << ", ok\n";
}

}  // namespace

void add_check(CLI::App& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "check", "Check scenario, topology, model, device, library and offer files without running them");
  command->add_option("files", *files, "the files")->required()->type_name("FILE...");
  command->footer("Example:\n  farandole check scenarios/*.json topologies/*.json models/*.json");
  command->callback([files] {
    for (const std::string& file : *files) check_file(file);
  });
}

}  // namespace farandole
