#include "scenario/catalogue.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "collective/files/read_schedule.hpp"
#include "config/data_folder.hpp"
#include "config/section.hpp"
#include "platform/graph_file.hpp"
#include "platform/mpi_transport.hpp"
#include "scenario/library_choice.hpp"

namespace farandole { inline namespace scenario {
namespace {

std::vector<std::string> json_files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string protocol_between_nodes(const Document& topology) {
  const auto name = topology.find("/node/nic/protocol/name");
  return name && name->is_string() ? read<std::string>(*name) : std::string();
}

/// The protocol of a NIC says how large its packets are. What goes with another one, the software's latencies and costs
/// and what libraries were measured to take, is the transport's: left as it was, next to nothing would change.
void refuse_protocol_alone(const Document& file, const Document& changed, const Value& overrides) {
  const std::string before = protocol_between_nodes(file);
  const std::string after = protocol_between_nodes(changed);
  if (before.empty() || before == after) return;
  for (const auto& [pointer, value] : overrides.members()) {
    if (pointer.starts_with("/transport")) return;
  }
  for (const auto& [pointer, value] : overrides.members()) {
    if (!pointer.starts_with("/node/nic")) continue;
    value.fail(fmt::format("\"/transport\" beside it, whose latencies, costs and measured times are those of {}",
                           quoted(before)),
               quoted(after) + " alone", "; or a topology that has it");
  }
}

}  // namespace

struct Catalogue::Memory {
  std::map<std::filesystem::path, Document> documents;
  std::map<std::filesystem::path, ModelSummary> models;
  std::map<std::filesystem::path, Device> devices;
  std::map<std::filesystem::path, std::string> texts;
};

Catalogue::Catalogue() : Catalogue(data_folder()) {}

Catalogue::Catalogue(std::filesystem::path root) : root_(std::move(root)), memory_(std::make_shared<Memory>()) {}

const std::string& Catalogue::text(const std::filesystem::path& file) const {
  const auto found = memory_->texts.find(file);
  return found != memory_->texts.end() ? found->second : memory_->texts.emplace(file, read_text(file)).first->second;
}

const std::map<std::filesystem::path, std::string>& Catalogue::texts() const {
  return memory_->texts;
}

const Document& Catalogue::document(const std::filesystem::path& file) const {
  const auto found = memory_->documents.find(file);
  if (found != memory_->documents.end()) return found->second;
  Document read =
      is_graph_file(file) ? topology_of_graph_file(file, reader()) : Document::parse(text(file), file.string());
  if (is_huggingface_config(read)) read = model_of_huggingface_config(read);
  return memory_->documents.emplace(file, std::move(read)).first->second;
}

void Catalogue::account_for(const Library* library) const {
  if (library != nullptr) memory_->texts.insert(library->texts.begin(), library->texts.end());
}

const Document* Catalogue::find_read(const std::filesystem::path& file) const {
  const auto found = memory_->documents.find(file);
  return found == memory_->documents.end() ? nullptr : &found->second;
}

Algorithm Catalogue::algorithm(const std::string& file) const {
  return algorithm_from_file(file, reader());
}

std::filesystem::path Catalogue::find(const char* folder, const std::string& name, std::string_view what,
                                      const Value& where) const {
  if (name.find('/') != std::string::npos || name.ends_with(".json") || is_graph_file(name)) {
    std::error_code none;
    if (std::filesystem::exists(name, none)) return name;
    where.fail(fmt::format("{}", what), quoted(name), "; there is no such file");
  }
  auto file = root_ / folder / (name + ".json");
  if (memory_->documents.contains(file)) return file;  // a study asks for every point
  const auto known = json_files_in(root_ / folder);
  if (std::ranges::find(known, name) == known.end()) where.fail(what, quoted(name), suggestion(name, known));
  return file;
}

ModelSummary Catalogue::model(const std::string& name, const Value& where) const {
  const auto file = find("models", name, "a model", where);
  const auto found = memory_->models.find(file);
  if (found != memory_->models.end()) return found->second;
  return memory_->models.emplace(file, read_model(document(file).root(), file)).first->second;
}

Model Catalogue::model_at(const ModelSummary& model, const Model& variant, int length) const {
  return read_model_at(document(model.file).root(), variant.variant, length);
}

std::vector<Profile> Catalogue::profiles(const ModelSummary& model, const Model& variant) const {
  return profiles_of(document(model.file).root(), variant);
}

Topology Catalogue::topology(const std::string& name, const Value& where, const std::optional<Value>& overrides) const {
  const auto file = find("topologies", name, "a topology", where);
  Document changed = document(file);
  if (overrides) {
    for (const auto& [pointer, value] : overrides->members()) changed.set(pointer, value.node());
  }
  Topology topology = read_topology(changed.root(), file, reader());
  if (overrides) refuse_protocol_alone(document(file), changed, *overrides);
  refuse_unknown_library(changed);
  for (const std::string& library : {topology.transport.library, topology.mpi ? topology.mpi->library : ""}) {
    if (library_name(library) != library) account_for(find_library(library));
  }
  return topology;
}

Device Catalogue::device(const std::string& name, const Value& where) const {
  if (name.empty()) {
    where.fail("a topology that says which device its nodes have", "one that does not",
               "; a scenario adds it with \"override\": {\"/node/device\": \"v100\"}");
  }
  const auto file = find("topologies/devices", name, "a device", where);
  if (const auto found = memory_->devices.find(file); found != memory_->devices.end()) return found->second;
  Device device = read_device(document(file).root(), file);
  const Value fitted = document(root_ / "topologies/devices/kernels/fitted.json").root();
  if (!device.generation.empty()) device.kernels = read_kernel_rates(fitted, device.generation);
  device.bands = read_estimate_bands(Section(fitted).child("bands"));
  const auto errors = root_ / "topologies/errors/training.json";  // what bands rest on (scenario/model_error.hpp)
  if (std::filesystem::exists(errors)) static_cast<void>(document(errors));
  return memory_->devices.emplace(file, std::move(device)).first->second;
}

OfferFile Catalogue::offer(const std::string& name, const Value& where, const std::optional<Value>& overrides) const {
  Document changed = document(find("topologies/offers", name, "an offer", where));
  if (overrides) {
    for (const auto& [pointer, value] : overrides->members()) changed.set(pointer, value.node());
  }
  const Offer offer = read_offer(changed.root());
  return {std::move(changed), offer};
}

std::vector<std::string> Catalogue::models() const {
  return json_files_in(root_ / "models");
}
std::vector<std::string> Catalogue::topologies() const {
  return json_files_in(root_ / "topologies");
}
std::vector<std::string> Catalogue::devices() const {
  return json_files_in(root_ / "topologies/devices");
}
std::vector<std::string> Catalogue::offers() const {
  return json_files_in(root_ / "topologies/offers");
}

const Model& choose_variant(const ModelSummary& model, const std::string& variant, const Value& where) {
  if (variant.empty()) return model.variants.front();
  std::vector<std::string> known;
  for (const Model& candidate : model.variants) {
    if (candidate.variant == variant) return candidate;
    known.push_back(candidate.variant);
  }
  where.fail_unknown(fmt::format("a variant of {}", model.name), known);
}

}}  // namespace farandole::scenario
