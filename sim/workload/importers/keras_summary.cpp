#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "config/error.hpp"
#include "units/count.hpp"
#include "workload/importers/imported_model.hpp"

namespace farandole { inline namespace workload {
namespace {

[[noreturn]] void refuse_row(const std::string& file, int line, std::string_view expected, std::string_view got) {
  throw InputError(fmt::format("{}:{}: expected {}, got {}", file, line, expected, got));
}

// The table, row by row: the looks of Keras 1 and 2 (columns between rules of `_` and `=`) and of Keras 3 (boxes),
// cells that go on in the next line, and classes cut short by their column. InputError with the line where the text is
// no such table, or what was cut is needed.

struct KerasTable {
  std::vector<KerasRow> rows;
  std::optional<std::int64_t> total;      // "Total params"
  std::optional<std::int64_t> trainable;  // "Trainable params"
};

constexpr std::array<std::string_view, 4> titles{"Layer (type)", "Output Shape", "Param #", "Connected to"};
constexpr std::string_view box_header = "\u2503";  // heavy vertical line
constexpr std::string_view box_cell = "\u2502";    // light vertical line
constexpr std::string_view ellipsis = "\u2026";
constexpr std::size_t name_cell = 0;
constexpr std::size_t shape_cell = 1;
constexpr std::size_t parameters_cell = 2;
constexpr std::size_t inputs_cell = 3;

using Cells = std::array<std::string, titles.size()>;

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

/// "1,199,882": digits and commas up to the first other character; nothing where there are none.
std::optional<std::int64_t> leading_count(std::string_view text) {
  std::string digits;
  for (const char letter : trimmed(text)) {
    if (letter == ',') continue;
    if (letter < '0' || letter > '9') break;
    digits += letter;
  }
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return error == std::errc() ? std::optional(count) : std::nullopt;
}

/// How many bytes the first `letters` of a text have: Keras aligns letters, some of which are several bytes.
std::size_t bytes_of(std::string_view text, std::size_t letters) {
  const auto begins_letter = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  std::size_t bytes = 0;
  while (bytes < text.size() && (letters > 0 || !begins_letter(text[bytes]))) {
    letters -= begins_letter(text[bytes]) ? 1 : 0;
    ++bytes;
  }
  return bytes;
}

/// Where the columns are: between bars, or from the column of one title to that of the next.
class Columns {
 public:
  explicit Columns(std::string_view header) : is_boxed_(header.find(box_header) != std::string_view::npos) {
    for (const std::string_view title : titles) begins_.push_back(header.find(title));
  }

  [[nodiscard]] Cells cells_of(std::string_view line) const { return is_boxed_ ? boxed(line) : aligned(line); }

 private:
  static Cells boxed(std::string_view line) {
    Cells cells;
    const auto parts = split(line, box_cell);
    for (std::size_t i = 0; i < cells.size() && i + 2 < parts.size(); ++i) cells[i] = trimmed(parts[i + 1]);
    return cells;
  }

  [[nodiscard]] Cells aligned(std::string_view line) const {
    Cells cells;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto begin = i == 0 ? 0 : begins_[i];
      const auto end = i + 1 < begins_.size() ? begins_[i + 1] : std::string_view::npos;
      const std::string_view rest = line.substr(bytes_of(line, begin));
      cells[i] = trimmed(end == std::string_view::npos ? rest : rest.substr(0, bytes_of(rest, end - begin)));
    }
    return cells;
  }

  bool is_boxed_;
  std::vector<std::size_t> begins_;
};

/// "conv2d (Conv2D)", which may lack its end.
void take_name(KerasRow& row, std::string_view cell) {
  const bool is_whole = cell.ends_with(')');
  const auto open = cell.rfind('(');
  row.name = trimmed(cell.substr(0, open));
  if (open == std::string_view::npos) return;
  const std::string_view kind = cell.substr(open + 1, cell.size() - open - (is_whole ? 2 : 1));
  row.kind = kind.substr(0, kind.find(ellipsis));
  row.is_cut = !is_whole || row.kind.size() < kind.size();
}

/// The names before "[0][0]", whatever quotes, commas and brackets are between them.
std::vector<std::string> input_names_of(std::string_view cell) {
  std::vector<std::string> names;
  for (auto end = cell.find('['); end != std::string_view::npos; end = cell.find('[', end + 1)) {
    const auto before = cell.substr(0, end);
    const auto name = before.substr(before.find_last_of("[]'\", ") + 1);  // npos + 1 is the beginning
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

struct Printed {
  int line = 0;
  Cells cells;
};

std::int64_t parameters_of(const Printed& printed, const std::string& file) {
  const std::string& cell = printed.cells[parameters_cell];
  const auto count = leading_count(cell);
  if (count && *count <= most_elements) return *count;
  refuse_row(file, printed.line, "at most 2^40 parameters", quoted(cell));
}

KerasRow keras_row_of(const Printed& printed, const std::string& file) {
  KerasRow row;
  row.line = printed.line;
  row.shape = printed.cells[shape_cell];
  row.parameters = parameters_of(printed, file);
  const std::string& inputs = printed.cells[inputs_cell];
  row.inputs = input_names_of(inputs);
  const bool has_none = inputs.empty() || inputs == "[]" || inputs == "-";
  if (inputs.find(ellipsis) != std::string::npos || (row.inputs.empty() && !has_none)) {
    refuse_row(file, printed.line, "whole names of layers such as \"conv2d[0][0]\"",
               quoted(inputs) + std::string(keras_wider));
  }
  take_name(row, printed.cells[name_cell]);
  if (row.name.empty() || row.kind.empty()) {
    refuse_row(file, printed.line, "a layer and its type such as \"conv2d (Conv2D)\"",
               quoted(printed.cells[name_cell]) + std::string(keras_wider));
  }
  return row;
}

/// A line without a cell: what is not blank is a rule of `_` or `=`, or box-drawing characters.
bool is_rule(std::string_view line) {
  constexpr unsigned char first_beyond_ascii = 0x80;
  return line.find(box_cell) == std::string_view::npos && std::ranges::all_of(line, [](unsigned char letter) {
           return letter <= ' ' || letter == '_' || letter == '=' || letter >= first_beyond_ascii;
         });
}

bool is_header(std::string_view line) {
  return std::ranges::all_of(std::span(titles).first(3),
                             [&](std::string_view title) { return line.find(title) != std::string_view::npos; });
}

/// A number opens a row; what has none goes on with the row before, whose number is whole already.
void take_line(std::vector<Printed>& printed, int line, const Cells& cells) {
  const std::string& number = cells[parameters_cell];
  if (!number.empty() && number.front() >= '0' && number.front() <= '9') {
    printed.push_back({line, cells});
  } else if (!printed.empty()) {
    for (const std::size_t i : {name_cell, shape_cell, inputs_cell}) printed.back().cells[i] += cells[i];
  }
}

std::optional<std::int64_t> count_after(std::string_view line, std::string_view label) {
  return trimmed(line).starts_with(label) ? leading_count(trimmed(line).substr(label.size())) : std::nullopt;
}

KerasTable read_keras_table(std::string_view text, const std::string& file) {
  KerasTable table;
  std::optional<Columns> columns;
  std::vector<Printed> printed;
  int number = 0;
  for (const std::string_view line : split(text, "\n")) {
    ++number;
    if (!columns) {
      if (is_header(line)) columns.emplace(line);
    } else if (const auto total = count_after(line, "Total params:")) {
      table.total = total;
    } else if (const auto trainable = count_after(line, "Trainable params:")) {
      table.trainable = trainable;
    } else if (!table.total && !is_rule(line)) {
      take_line(printed, number, columns->cells_of(line));
    }
  }
  if (printed.empty()) {
    throw InputError(
        fmt::format("{}: expected what Keras prints as model.summary(), with \"Layer (type)\", "
                    "\"Output Shape\" and \"Param #\", got none",
                    file));
  }
  for (const Printed& row : printed) table.rows.push_back(keras_row_of(row, file));
  return table;
}

bool is_too_large(const Extents& shape) {
  units::Count elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  return elements > units::Count(most_elements);
}

/// [26, 26, 32] of "(None, 26, 26, 32)"; of several shapes the first.
Extents shape_of(const KerasRow& row, const std::string& file) {
  Extents shape;
  const std::string_view text = row.shape;
  auto begin = text.find('(');
  const auto close = text.find(')', begin);
  bool is_batch = true;
  while (begin != std::string_view::npos && close != std::string_view::npos && begin < close) {
    const auto end = std::min(text.find(',', begin + 1), close);
    const auto first = std::min(text.find_first_not_of(" (,", begin), end);
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data() + first, text.data() + end, extent);
    const bool is_number = error == std::errc() && extent > 0 && stop == text.data() + end;
    if (!is_batch && first < end && !is_number) break;
    if (!is_batch && is_number) shape.push_back(extent);
    is_batch = false;
    if (end == close && is_too_large(shape))
      refuse_row(file, row.line, "a shape of at most 2^40 values", quoted(row.shape));
    if (end == close) return shape.empty() ? Extents{1} : shape;
    begin = end;
  }
  refuse_row(file, row.line, "a whole output shape such as (None, 26, 26, 32)",
             quoted(row.shape) + std::string(keras_wider));
}

using Outputs = std::map<std::string, Extents>;

/// The shapes that go into a row.
std::vector<Extents> input_shapes_of(const KerasRow& row, const Outputs& outputs, const Extents& before,
                                     const std::string& file) {
  std::vector<Extents> inputs;
  for (const std::string& name : row.inputs) {
    const auto found = outputs.find(name);
    if (found == outputs.end()) refuse_row(file, row.line, "a connection to a row above", quoted(name));
    inputs.push_back(found->second);
  }
  if (inputs.empty()) inputs.push_back(before);
  return inputs;
}

/// One shape as it is, several as the number of their elements.
Extents together(const std::vector<Extents>& shapes) {
  if (shapes.size() == 1) return shapes.front();
  std::int64_t elements = 0;
  for (const Extents& shape : shapes) {
    elements += std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  return {elements};
}

/// The input of a model of the sequential kind, which does not print it: a dense layer's follows from its parameters.
Extents input_of_first(const KerasRow& row, const Extents& output, const std::string& file) {
  if (row.kind == "InputLayer" || row.parameters == 0) return output;
  if (row.kind == "Embedding" && output.size() > 1) return {output.begin(), output.end() - 1};
  const std::int64_t with_bias = row.parameters / output.back() - 1;
  if (row.kind == "Dense" && row.parameters % output.back() == 0 && with_bias > 0) return {with_bias};
  refuse_row(file, row.line, "an InputLayer in the first row, or --input with the shape of one sample",
             quoted(row.name));
}

void check_printed_totals(const KerasTable& table, const ImportedModel& model, const std::string& file) {
  std::int64_t printed = 0;
  for (const KerasRow& row : table.rows) printed += row.parameters;
  std::int64_t trained = 0;
  for (const ImportedLayer& layer : model.layers) {
    for (const Tensor& tensor : layer.tensors) trained += tensor.elements();
  }
  if (table.total && *table.total != printed) {
    throw InputError(
        fmt::format("{}: expected rows that sum to the total of {} parameters, got {}", file, *table.total, printed));
  }
  if (table.trainable && *table.trainable != trained) {
    throw InputError(
        fmt::format("{}: expected {} trainable parameters, got layers with {}; frozen layers cannot be told", file,
                    *table.trainable, trained));
  }
}

}  // namespace

ImportedModel read_keras_summary(std::string_view text, const std::filesystem::path& path, const Extents& input) {
  const std::string file = path.string();
  const KerasTable table = read_keras_table(text, file);
  ImportedModel model{snake_case(path.stem().string()),
                      fmt::format("From {}.", path.filename().string()),
                      "keras",
                      fmt::format("{}, printed by Keras as model.summary()", path.filename().string()),
                      {}};
  if (is_too_large(input))
    throw InputError(fmt::format("{}: expected an input of at most 2^40 values, got more", file));
  Outputs outputs;
  Extents before = input;
  for (const KerasRow& row : table.rows) {
    const Extents output = shape_of(row, file);
    if (before.empty()) before = input_of_first(row, output, file);
    const auto inputs = input_shapes_of(row, outputs, before, file);
    if (!outputs.emplace(row.name, output).second)
      refuse_row(file, row.line, "a name that no other row has", quoted(row.name));
    before = output;
    if (moves_nothing(row)) continue;
    KerasParts parts = parts_of({&row, file, inputs.front(), output});
    model.layers.push_back({row.name, parts.type, parts.macs, together(inputs), output, std::move(parts.tensors)});
  }
  if (model.layers.empty()) throw InputError(fmt::format("{}: expected a layer that computes, got none", file));
  check_printed_totals(table, model, file);
  return model;
}

}}  // namespace farandole::workload
