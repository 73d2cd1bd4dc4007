#include <set>

#include <fmt/format.h>

#include "config/section.hpp"
#include "workload/model.hpp"
#include "workload/profile.hpp"

namespace farandole {
namespace {

// Counts up to here are exact in a double.
constexpr double largest_count = 9007199254740992.0;
// A file of 64 MiB holds fewer than 2^22 tensors, so no sum of their elements leaves an int64.
constexpr double largest_tensor = 1099511627776.0;

using Names = std::set<std::string>;

void refuse_twice(const Value& name, const std::string& text, Names& seen, std::string_view what) {
  if (!seen.insert(text).second) name.fail(fmt::format("a name that no other {} has", what));
}

std::string read_new_name(Section& section, Names& seen, std::string_view what) {
  const Value value = section.child("name");
  auto text = read<std::string>(value);
  if (text.empty()) value.fail("a name");
  refuse_twice(value, text, seen, what);
  return text;
}

std::vector<std::int64_t> read_shape(const Value& where) {
  std::vector<std::int64_t> shape;
  double elements = 1;
  for (const Value& extent : where.elements()) {
    shape.push_back(read_at_least(extent, 1));
    elements *= static_cast<double>(shape.back());
  }
  if (shape.empty()) where.fail("a shape such as [64, 3, 7, 7]");
  if (elements > largest_tensor) where.fail("a shape of at most 2^40 elements", fmt::format("{:.4g}", elements));
  return shape;
}

double elements(const std::vector<std::int64_t>& shape) {
  return static_cast<double>(Tensor{"", shape}.elements());
}

double read_count(const Value& where) {
  const auto count = static_cast<double>(read<std::int64_t>(where));
  if (count < 0 || count > largest_count) where.fail("a count from 0 to 2^53");
  return count;
}

Tensor read_tensor(const Value& where, Names& seen) {
  Section section(where);
  Tensor tensor;
  tensor.name = read_new_name(section, seen, "tensor");
  tensor.shape = read_shape(section.child("shape"));
  section.finish();
  return tensor;
}

struct Seen {
  Names layers;
  Names tensors;
};

Layer read_layer(const Value& where, Seen& seen) {
  Section section(where);
  Layer layer;
  layer.name = read_new_name(section, seen.layers, "layer");
  layer.type = section.required<std::string>("type");
  if (const auto macs = section.maybe("macs")) layer.macs = read_count(*macs);
  layer.input_shape = read_shape(section.child("input"));
  layer.output_shape = read_shape(section.child("output"));
  layer.input_elements = elements(layer.input_shape);
  layer.output_elements = elements(layer.output_shape);
  if (const auto tensors = section.maybe("tensors")) {
    for (const Value& tensor : tensors->elements()) layer.tensors.push_back(read_tensor(tensor, seen.tensors));
  }
  section.finish();
  return layer;
}

std::vector<Layer> read_layers(const Value& where) {
  Seen seen;
  std::vector<Layer> layers;
  for (const Value& layer : where.elements()) layers.push_back(read_layer(layer, seen));
  if (layers.empty()) where.fail("at least one layer");
  return layers;
}

void check_total(const Value& stated, double sum, std::string_view what) {
  if (read_count(stated) != sum) {
    stated.fail(fmt::format("the {} of all layers, {:.0f}", what, sum), stated.describe());
  }
}

void check_totals(Section& section, const Model& model) {
  check_total(section.child("parameters"), static_cast<double>(model.parameters()), "parameters");
  check_total(section.child("tensors"), model.tensors(), "tensors");
  check_total(section.child("macs"), model.macs(), "multiply-adds");
}

void check_input(const Value& stated, const Layer& first) {
  if (elements(read_shape(stated)) != first.input_elements) stated.fail("the input of the first layer", "another size");
}

Model read_variant(const Value& where, const std::string& model_name, Names& seen) {
  Section section(where);
  Model model;
  model.name = model_name;
  model.variant = read_new_name(section, seen, "variant");
  section.required<std::string>("summary");
  section.required<std::string>("source");
  model.layers = read_layers(section.child("layers"));
  check_input(section.child("input"), model.layers.front());
  check_totals(section, model);
  if (const auto profiles = section.maybe("profiles")) read_profiles(*profiles, model.layers);
  section.finish();
  return model;
}

}  // namespace

ModelSummary read_model(const Value& where, const std::filesystem::path& file) {
  Section section(where);
  ModelSummary summary;
  summary.file = file;
  summary.name = section.required<std::string>("name");
  summary.summary = section.required<std::string>("summary");
  Names seen;
  const Value variants = section.child("variants");
  for (const Value& variant : variants.elements()) {
    summary.variants.push_back(read_variant(variant, summary.name, seen));
  }
  if (summary.variants.empty()) variants.fail("at least one variant");
  section.finish();
  return summary;
}

}  // namespace farandole
