// A model that an importer made from another program's file, and how it becomes a workload file.
//
// Made by the importers, written by `farandole import`. Shapes and multiply-adds are of one sample and forward only;
// the totals of the file are summed from the layers, which must have names of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "workload/model.hpp"

namespace farandole {

using Extents = std::vector<std::int64_t>;

struct ImportedLayer {
  std::string name;
  std::string type;
  std::int64_t macs = 0;
  Extents input;
  Extents output;
  std::vector<Tensor> tensors;
};

struct ImportedModel {
  std::string name;
  std::string summary;
  std::string variant;
  std::string source;
  std::vector<ImportedLayer> layers;  // at least one, in execution order
};

/// The file as sim/config/schemas/model.schema.json describes it; `schema` is what its "$schema" says.
void write_model(const ImportedModel& model, const std::string& schema, std::ostream& out);

/// The words of a CamelCase name, in small letters, joined by underscores: global_max_pooling of GlobalMaxPooling.
std::string snake_case(const std::string& name);

}  // namespace farandole
