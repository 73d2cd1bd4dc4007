// A model that an importer made from another program's file, and how it becomes a workload file.
//
// Made by the importers, written by `farandole import`. Shapes and multiply-adds are of one sample and forward only;
// the totals of the file are summed from the layers, which must have names of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "workload/model.hpp"

namespace farandole { inline namespace workload {

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

// A row of the table that Keras prints of a model (`model.summary()`).

struct KerasRow {
  int line = 0;      // of its first line in the file, from 1
  std::string name;  // "conv2d_1"
  std::string kind;  // "Conv2D"; cut short where the column was too narrow
  bool is_cut = false;
  std::string shape;  // "(None, 26, 26, 32)", as printed
  std::int64_t parameters = 0;
  std::vector<std::string> inputs;  // names of rows; empty: the row before
};

/// What to do about a cell that was cut short.
inline constexpr std::string_view keras_wider = "; summary(line_length=150) prints wider columns";

// What tensors and how much work a row of Keras's table stands for.
//
// Called by keras_summary. The table gives a layer's class, its output and its number of parameters; with the input
// known from the rows before, the class says what the parameters are: a convolution of c channels to f filters has k c
// f + f of them, so k is known, the extents of its kernel only as their product. A class that is not known here may
// have no parameters.

/// A row whose shapes are read: channels last, without the batch.
struct KerasSite {
  const KerasRow* row = nullptr;
  std::string file;
  Extents input;  // of the first of its inputs, the one it multiplies
  Extents output;
};

struct KerasParts {
  std::string type;  // as in models/: "conv2d", "linear", "batch_norm2d", ...
  std::vector<Tensor> tensors;
  std::int64_t macs = 0;
};

/// InputError with the row's line where its parameters are not what its class would have.
KerasParts parts_of(const KerasSite& site);

/// Rows that compute nothing: the input itself, and what only gives a tensor another shape.
bool moves_nothing(const KerasRow& row);

// The table that Keras prints of a model becomes a workload.
//
// Called by `farandole import keras_summary`. Shapes are channels last, as Keras has them; a layer's input is the
// output of the rows it is connected to, or of the row before. The table's own totals of parameters are held against
// the sums of the layers. What it cannot say (groups of a convolution, extents of a kernel that is no square) does not
// change sizes.

/// `file` is for messages and the name of the model; `input` is the shape of one sample, for tables that do not begin
/// with it; empty: as the table says. Throws InputError with the line.
ImportedModel read_keras_summary(std::string_view text, const std::filesystem::path& file, const Extents& input);

}}  // namespace farandole::workload
