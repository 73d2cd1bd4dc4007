// Reads the models and devices of this repository, for tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "config/section.hpp"
#include "support/source_folder.hpp"
#include "workload/device.hpp"
#include "workload/model.hpp"

namespace farandole::test {

inline std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline ModelSummary model_file(const std::string& name) {
  const auto file = source_folder() / "models" / (name + ".json");
  const auto document = Document::read(file);
  return read_model(document.root(), file);
}

inline Model model(const std::string& name, const std::string& variant = "torchvision") {
  for (const Model& candidate : model_file(name).variants) {
    if (candidate.variant == variant) return candidate;
  }
  throw std::runtime_error("no variant " + variant + " of " + name);
}

inline Document fitted_kernels() {
  return Document::read(source_folder() / "topologies" / "devices" / "kernels" / "fitted.json");
}

/// With the kernels of its generation, and how good estimates of it are.
inline Device device(const std::string& name) {
  const auto file = source_folder() / "topologies" / "devices" / (name + ".json");
  const auto document = Document::read(file);
  Device device = read_device(document.root(), file);
  const Document fitted = fitted_kernels();
  if (!device.generation.empty()) device.kernels = read_kernel_rates(fitted.root(), device.generation);
  device.bands = read_estimate_bands(Section(fitted.root()).child("bands"));
  return device;
}

}  // namespace farandole::test
