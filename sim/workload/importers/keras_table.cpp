#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "config/error.hpp"
#include "workload/importers/imported_model.hpp"

namespace farandole { inline namespace workload {
namespace {

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
  throw InputError(fmt::format("{}:{}: expected at most 2^40 parameters, got {}", file, printed.line, quoted(cell)));
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
    throw InputError(fmt::format("{}:{}: expected whole names of layers such as \"conv2d[0][0]\", got {}{}", file,
                                 printed.line, quoted(inputs), keras_wider));
  }
  take_name(row, printed.cells[name_cell]);
  if (row.name.empty() || row.kind.empty()) {
    throw InputError(fmt::format("{}:{}: expected a layer and its type such as \"conv2d (Conv2D)\", got {}{}", file,
                                 printed.line, quoted(printed.cells[name_cell]), keras_wider));
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

}  // namespace

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

}}  // namespace farandole::workload
