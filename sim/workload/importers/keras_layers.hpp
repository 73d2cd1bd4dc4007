// What tensors and how much work a row of Keras's table stands for.
//
// Called by keras_summary. The table gives a layer's class, its output and its number of parameters; with the input
// known from the rows before, the class says what the parameters are: a convolution of c channels to f filters has k c
// f + f of them, so k is known, the extents of its kernel only as their product. A class that is not known here may
// have no parameters.
#pragma once

#include <string>
#include <vector>

#include "workload/importers/imported_model.hpp"
#include "workload/importers/keras_table.hpp"

namespace farandole {

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

}  // namespace farandole
