#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "config/error.hpp"
#include "units/count.hpp"
#include "workload/importers/imported_model.hpp"

namespace farandole { inline namespace workload {
namespace {

[[noreturn]] void refuse_row(const std::string& file, int line, std::string_view expected, std::string_view got) {
  throw InputError(fmt::format("{}:{}: expected {}, got {}", file, line, expected, got));
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
