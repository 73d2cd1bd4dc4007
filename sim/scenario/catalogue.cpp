#include "scenario/catalogue.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace farandole {
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

}  // namespace

Catalogue::Catalogue() : root_(FARANDOLE_DATA_DIR) {
  if (const char* data = std::getenv("FARANDOLE_DATA"); data != nullptr) root_ = data;
}

std::filesystem::path Catalogue::find(const char* folder, const std::string& name, std::string_view what,
                                      const Value& where) const {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) {
    if (std::filesystem::exists(name)) return name;
    where.fail(fmt::format("{}", what), quoted(name), "; there is no such file");
  }
  const auto known = json_files_in(root_ / folder);
  if (std::ranges::find(known, name) == known.end()) where.fail_unknown(what, known);
  return root_ / folder / (name + ".json");
}

ModelSummary Catalogue::model(const std::string& name, const Value& where) const {
  const auto file = find("models", name, "a model", where);
  const Document document = Document::read(file);
  return read_model(document.root(), file);
}

Topology Catalogue::topology(const std::string& name, const Value& where, const std::optional<Value>& overrides) const {
  const auto file = find("topologies", name, "a topology", where);
  Document document = Document::read(file);
  if (overrides) {
    for (const auto& [pointer, value] : overrides->members()) document.set(pointer, value.node());
  }
  return read_topology(document.root(), file);
}

Device Catalogue::device(const std::string& name, const Value& where) const {
  const auto file = find("topologies/devices", name, "a device", where);
  const Document document = Document::read(file);
  return read_device(document.root(), file);
}

std::vector<std::string> Catalogue::models() const {
  return json_files_in(root_ / "models");
}
std::vector<std::string> Catalogue::topologies() const {
  return json_files_in(root_ / "topologies");
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

}  // namespace farandole
