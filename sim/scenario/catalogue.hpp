// Finds models, topologies, devices and offers: by name in the data folders, or as a file.
//
// The data root is where config/data_folder.hpp says. A text with a slash or ending in
// .json, or for topologies in .dot, .gv or .xml (platform/graph_file.hpp), is a file, sought from the current folder;
// anything else is the name of a file in models/, topologies/, topologies/devices/ or topologies/offers/. Unknown names
// fail with the nearest known one. A file is read once and remembered, by copies of the catalogue too; not for several
// threads.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/algorithms.hpp"
#include "config/document.hpp"
#include "config/text.hpp"
#include "economics/offer.hpp"
#include "platform/topology.hpp"
#include "simulate/library/library.hpp"
#include "workload/device.hpp"
#include "workload/model.hpp"
#include "workload/profile.hpp"

namespace farandole { inline namespace scenario {

/// An offer and the document it was read from.
struct OfferFile {
  Document document;
  Offer offer;
};

class Catalogue {
 public:
  Catalogue();
  explicit Catalogue(std::filesystem::path root);

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

  /// `where` is the value that holds the name and is blamed for it.
  [[nodiscard]] ModelSummary model(const std::string& name, const Value& where) const;
  /// A variant of it, which has a sequence, where a sample is one of `length` tokens.
  [[nodiscard]] Model model_at(const ModelSummary& model, const Model& variant, int length) const;
  /// The layer times that the model's file has of that variant of it.
  [[nodiscard]] std::vector<Profile> profiles(const ModelSummary& model, const Model& variant) const;
  /// `overrides`: an object from JSON pointers into the topology file to the values to put there, or nothing.
  [[nodiscard]] Topology topology(const std::string& name, const Value& where,
                                  const std::optional<Value>& overrides = {}) const;
  [[nodiscard]] Device device(const std::string& name, const Value& where) const;

  /// `overrides` as of a topology.
  [[nodiscard]] OfferFile offer(const std::string& name, const Value& where,
                                const std::optional<Value>& overrides = {}) const;

  /// An algorithm of a user's own, from a file (collective/files/read_schedule.hpp).
  [[nodiscard]] Algorithm algorithm(const std::string& file) const;

  /// The one way in for every file that a scenario names, and that those name: read once, so that all points of a study
  /// have the same, and accounted for in texts().
  [[nodiscard]] const std::string& text(const std::filesystem::path& file) const;
  /// What every file read so far holds, in order of name: what results depend on besides the scenario.
  [[nodiscard]] const std::map<std::filesystem::path, std::string>& texts() const;
  /// The files of a library that results depend on, which reads them by itself (simulate/library/library.hpp); or null.
  void account_for(const Library* library) const;
  /// text() for readers of rooms below; not to outlive the catalogue.
  [[nodiscard]] TextReader reader() const {
    return [this](const std::filesystem::path& file) { return text(file); };
  }
  /// One of them that is JSON, or what stands for a graph; null where it was not read.
  [[nodiscard]] const Document* find_read(const std::filesystem::path& file) const;

  /// Names in alphabetical order.
  [[nodiscard]] std::vector<std::string> models() const;
  [[nodiscard]] std::vector<std::string> topologies() const;
  [[nodiscard]] std::vector<std::string> devices() const;
  [[nodiscard]] std::vector<std::string> offers() const;

 private:
  [[nodiscard]] std::filesystem::path find(const char* folder, const std::string& name, std::string_view what,
                                           const Value& where) const;
  [[nodiscard]] const Document& document(const std::filesystem::path& file) const;

  struct Memory;

  std::filesystem::path root_;
  std::shared_ptr<Memory> memory_;
};

/// The variant of that name, or the default one where `variant` is empty.
const Model& choose_variant(const ModelSummary& model, const std::string& variant, const Value& where);

}}  // namespace farandole::scenario
