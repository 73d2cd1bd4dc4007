// The table that Keras prints of a model becomes a workload.
//
// Called by `farandole import keras_summary`. Shapes are channels last, as Keras has them; a layer's input is the
// output of the rows it is connected to, or of the row before. The table's own totals of parameters are held against
// the sums of the layers. What it cannot say (groups of a convolution, extents of a kernel that is no square) does not
// change sizes.
#pragma once

#include <filesystem>
#include <string_view>

#include "workload/importers/imported_model.hpp"

namespace farandole {

/// `file` is for messages and the name of the model; `input` is the shape of one sample, for tables that do not begin
/// with it; empty: as the table says. Throws InputError with the line.
ImportedModel read_keras_summary(std::string_view text, const std::filesystem::path& file, const Extents& input);

}  // namespace farandole
