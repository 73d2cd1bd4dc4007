#include "workload/read_layers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>


namespace farandole { inline namespace workload {
namespace {

// Counts up to here are exact in a double.
constexpr double largest_count = 9007199254740992.0;
// A file of 64 MiB holds fewer than 2^22 tensors, so no sum of their elements leaves an int64.
// What is read holds no more layers and tensors than the largest file without blocks could.
constexpr int most_repetitions = 1000;
constexpr std::size_t most_layers = 1 << 20;

std::int64_t read_extent(const Value& where, std::int64_t length) {
  if (!where.is_string()) return read_at_least(where, 1);
  if (read<std::string>(where) != "sequence") where.fail("a whole number or \"sequence\"");
  if (length == 0) where.fail("a whole number in a variant without a \"sequence_length\"");
  return length;
}

double elements(const std::vector<std::int64_t>& shape) {
  return static_cast<double>(Tensor{"", shape}.elements());
}

double read_macs(const Value& where, std::int64_t length) {
  if (!where.is_object()) return read_count(where);
  if (length == 0) where.fail("a whole number in a variant without a \"sequence_length\"");
  constexpr std::array powers{std::pair{"constant", 0}, std::pair{"sequence", 1}, std::pair{"sequence^2", 2}};
  Section section(where);
  double macs = 0;
  for (const auto& [key, power] : powers) {
    if (const auto factor = section.maybe(key)) {
      macs += read_count(*factor) * std::pow(static_cast<double>(length), power);
    }
  }
  section.finish();
  return macs;
}

/// Where one stands in the file, and what was read before.
struct Reading {
  std::int64_t length = 0;
  Names layers{};
  Names tensors{};
  std::vector<Layer> found{};
};

Tensor read_tensor(const Value& where, Reading& reading, const std::string& prefix) {
  Section section(where);
  Tensor tensor;
  tensor.name = read_new_name(section, reading.tensors, "tensor", prefix);
  tensor.shape = read_shape(section.child("shape"), reading.length);
  section.finish();
  return tensor;
}

/// What frameworks call the members of a list of modules: "layer1.0" of "layer1.0.conv1". A list whose members are
/// layers themselves ("features.3") is no list of blocks.
std::string block_by_name(const std::string& name) {
  for (std::size_t dot = name.find('.'); dot != std::string::npos;) {
    const std::size_t next = name.find('.', dot + 1);
    if (next == std::string::npos) return "";
    const auto part = std::string_view(name).substr(dot + 1, next - dot - 1);
    const bool is_number = std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_number && !part.empty()) return name.substr(0, next);
    dot = next;
  }
  return "";
}

void read_experts(Section& section, const Reading& reading, Layer& layer) {
  const auto dispatched = section.maybe("dispatched");
  const auto combined = section.maybe("combined");
  if (const auto experts = section.maybe("experts")) layer.experts = read_at_least(*experts, 2);
  for (const auto& way : {dispatched, combined}) {
    if (way && layer.experts == 0) way->fail("a layer with \"experts\"", "one without");
  }
  if (dispatched) layer.dispatched = read_macs(*dispatched, reading.length);
  if (combined) layer.combined = read_macs(*combined, reading.length);
}

Layer read_layer(Section& section, Reading& reading, const std::string& block) {
  const std::string prefix = block.empty() ? "" : block + ".";
  Layer layer;
  layer.name = read_new_name(section, reading.layers, "layer", prefix);
  layer.block = block.empty() ? block_by_name(layer.name) : block;
  layer.type = section.required<Name>("type").value;
  if (const auto macs = section.maybe("macs")) layer.macs = read_macs(*macs, reading.length);
  layer.input_shape = read_shape(section.child("input"), reading.length);
  layer.output_shape = read_shape(section.child("output"), reading.length);
  layer.input_elements = elements(layer.input_shape);
  layer.output_elements = elements(layer.output_shape);
  read_experts(section, reading, layer);
  if (const auto tensors = section.maybe("tensors")) {
    for (const Value& tensor : tensors->elements()) layer.tensors.push_back(read_tensor(tensor, reading, prefix));
  }
  section.finish();
  return layer;
}

/// "layers.{}" and 3: "layers.3".
std::string numbered(std::string name, int number) {
  const auto place = name.find("{}");
  return place == std::string::npos ? name : name.replace(place, 2, std::to_string(number));
}

void read_block(Section& section, Reading& reading) {
  const Value name = section.child("block");
  const auto text = read<std::string>(name);
  if (text.empty()) name.fail("a name");
  const auto times = section.maybe("times");
  const auto first = section.maybe("first");
  const int count = times ? read_between(*times, 1, most_repetitions) : 1;
  const int start = first ? read_between(*first, 0, most_repetitions) : 0;
  if (count > 1 && text.find("{}") == std::string::npos) name.fail("a name with {}, the place of its number");
  const auto layers = section.child("layers").elements();
  section.finish();
  if (layers.empty()) section.value().fail("at least one layer in a block", "none");
  for (int i = 0; i < count; ++i) {
    for (const Value& layer : layers) {
      Section part(layer);
      reading.found.push_back(read_layer(part, reading, numbered(text, start + i)));
      if (reading.found.size() > most_layers) name.fail(fmt::format("at most {} layers", most_layers), "more");
    }
  }
}

}  // namespace

double read_count(const Value& where) {
  const auto count = static_cast<double>(read<std::int64_t>(where));
  if (count < 0 || count > largest_count) where.fail("a count from 0 to 2^53");
  return count;
}

std::string read_new_name(Section& section, Names& seen, std::string_view what, const std::string& prefix) {
  const Value value = section.child("name");
  auto text = read<std::string>(value);
  if (text.empty()) value.fail("a name");
  text = prefix + text;
  if (!seen.insert(text).second) value.fail(fmt::format("a name that no other {} has", what), quoted(text));
  return text;
}

std::vector<std::int64_t> read_shape(const Value& where, std::int64_t length) {
  std::vector<std::int64_t> shape;
  double elements = 1;
  for (const Value& extent : where.elements()) {
    shape.push_back(read_extent(extent, length));
    elements *= static_cast<double>(shape.back());
  }
  if (shape.empty()) where.fail("a shape such as [64, 3, 7, 7]");
  if (elements > static_cast<double>(most_elements))
    where.fail("a shape of at most 2^40 elements", fmt::format("{:.4g}", elements));
  return shape;
}

std::vector<Layer> read_layers(const Value& where, std::int64_t length) {
  Reading reading{length};
  for (const Value& item : where.elements()) {
    Section section(item);
    if (item.is_object() && section.maybe("block")) {
      read_block(section, reading);
    } else {
      reading.found.push_back(read_layer(section, reading, ""));
    }
  }
  if (reading.found.empty()) where.fail("at least one layer");
  return reading.found;
}

}}  // namespace farandole::workload
