// The table that Keras prints of a model (`model.summary()`), row by row.
//
// Called by keras_summary. Knows the looks of Keras 1 and 2 (columns between rules of `_` and `=`) and of Keras 3
// (boxes), cells that go on in the next line, and classes cut short by their column. InputError with the line where the
// text is no such table, or what was cut is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farandole {

struct KerasRow {
  int line = 0;      // of its first line in the file, from 1
  std::string name;  // "conv2d_1"
  std::string kind;  // "Conv2D"; cut short where the column was too narrow
  bool is_cut = false;
  std::string shape;  // "(None, 26, 26, 32)", as printed
  std::int64_t parameters = 0;
  std::vector<std::string> inputs;  // names of rows; empty: the row before
};

struct KerasTable {
  std::vector<KerasRow> rows;
  std::optional<std::int64_t> total;      // "Total params"
  std::optional<std::int64_t> trainable;  // "Trainable params"
};

/// What to do about a cell that was cut short.
inline constexpr std::string_view keras_wider = "; summary(line_length=150) prints wider columns";

KerasTable read_keras_table(std::string_view text, const std::string& file);

}  // namespace farandole
