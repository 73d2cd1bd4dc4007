// Reads the variants of a model file.
//
// Where a sample is a sequence, an extent may be "sequence", its length, and multiply-adds may be given by the power of
// the length that they grow with: {"sequence": 589824, "sequence^2": 768}. Layers that repeat stand once, in a block:
// {"block": "layers.{}", "times": 12, "layers": [...]}, their names behind that of the block.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "config/section.hpp"
#include "workload/model.hpp"
#include "workload/profile.hpp"

namespace farandole { inline namespace workload {
namespace {

// Counts up to here are exact in a double.
constexpr double largest_count = 9007199254740992.0;
// A file of 64 MiB holds fewer than 2^22 tensors, so no sum of their elements leaves an int64.
// What is read holds no more layers and tensors than the largest file without blocks could.
constexpr int most_repetitions = 1000;
constexpr std::size_t most_layers = 1 << 20;
/// No model has positions for more.
constexpr int longest_length = 1 << 24;

using Names = std::set<std::string>;

/// A whole number from 0 to 2^53.
double read_count(const Value& where) {
  const auto count = static_cast<double>(read<std::int64_t>(where));
  if (count < 0 || count > largest_count) where.fail("a count from 0 to 2^53");
  return count;
}

std::int64_t read_extent(const Value& where, std::int64_t length) {
  if (!where.is_string()) return read_at_least(where, 1);
  if (read<std::string>(where) != "sequence") where.fail("a whole number or \"sequence\"");
  if (length == 0) where.fail("a whole number in a variant without a \"sequence_length\"");
  return length;
}

/// At least one extent, each at least 1.
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

/// The "name" of a section, which nothing has that was `seen`; `what` is what it names.
std::string read_new_name(Section& section, Names& seen, std::string_view what, const std::string& prefix = "") {
  const Value value = section.child("name");
  auto text = read<std::string>(value);
  if (text.empty()) value.fail("a name");
  text = prefix + text;
  if (!seen.insert(text).second) value.fail(fmt::format("a name that no other {} has", what), quoted(text));
  return text;
}

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

/// `length` is that of a sequence, 0 where a sample is none.
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

void check_total(const Value& stated, double sum, std::string_view what) {
  if (read_count(stated) != sum) {
    stated.fail(fmt::format("the {} of all layers, {:.0f}", what, sum), stated.describe());
  }
}

void check_input(const Value& stated, const Model& model) {
  if (elements(read_shape(stated, model.sequence_length)) == model.layers.front().input_elements) return;
  stated.fail("the input of the first layer", "another size");
}

void read_lengths(Section& section, Model& model) {
  if (const auto length = section.maybe("sequence_length")) {
    model.sequence_length = read_between(*length, 1, longest_length);
  }
  const auto longest = section.maybe("longest_sequence");
  if (!longest) return;
  if (model.sequence_length == 0) longest->fail("a variant with a \"sequence_length\"", "one without");
  model.longest_sequence = read_between(*longest, model.sequence_length, longest_length);
}

Model read_variant(const Value& where, const std::string& model_name, Names& seen) {
  Section section(where);
  Model model;
  model.name = model_name;
  model.variant = read_new_name(section, seen, "variant");
  section.required<Text>("summary");
  section.required<Text>("source");
  read_lengths(section, model);
  model.layers = read_layers(section.child("layers"), model.sequence_length);
  check_input(section.child("input"), model);
  check_total(section.child("parameters"), static_cast<double>(model.parameters()), "parameters");
  check_total(section.child("tensors"), model.tensors(), "tensors");
  check_total(section.child("macs"), model.macs(), "multiply-adds");
  if (const auto profiles = section.maybe("profiles")) read_profiles(*profiles, model.layers);
  section.finish();
  return model;
}

std::string name_at(const Model& stated, int length) {
  const bool by_length = stated.variant == fmt::format("seq{}", stated.sequence_length);
  return fmt::format("{}seq{}", by_length ? "" : stated.variant + "_", length);
}

}  // namespace

ModelSummary read_model(const Value& where, const std::filesystem::path& file) {
  Section section(where);
  ModelSummary summary;
  summary.file = file;
  summary.name = section.required<Name>("name").value;
  summary.summary = section.required<Text>("summary").value;
  Names seen;
  const Value variants = section.child("variants");
  for (const Value& variant : variants.elements()) {
    summary.variants.push_back(read_variant(variant, summary.name, seen));
  }
  if (summary.variants.empty()) variants.fail("at least one variant");
  section.finish();
  return summary;
}

Model read_model_at(const Value& where, const std::string& variant, int length) {
  for (const Value& candidate : Section(where).child("variants").elements()) {
    Section section(candidate);
    if (section.required<std::string>("name") != variant) continue;
    Model model{Section(where).required<std::string>("name"), variant, {}};
    read_lengths(section, model);
    model.layers = read_layers(section.child("layers"), length);
    model.variant = name_at(model, length);
    model.sequence_length = length;
    return model;
  }
  where.fail(fmt::format("a variant {}", quoted(variant)));
}

}}  // namespace farandole::workload
