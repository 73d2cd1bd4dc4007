#include <fmt/format.h>

#include "config/section.hpp"
#include "workload/model.hpp"
#include "workload/profile.hpp"
#include "workload/read_layers.hpp"

namespace farandole { inline namespace workload {
namespace {

void check_total(const Value& stated, double sum, std::string_view what) {
  if (read_count(stated) != sum) {
    stated.fail(fmt::format("the {} of all layers, {:.0f}", what, sum), stated.describe());
  }
}

void check_input(const Value& stated, const Model& model) {
  const auto elements = static_cast<double>(Tensor{"", read_shape(stated, model.sequence_length)}.elements());
  if (elements != model.layers.front().input_elements) stated.fail("the input of the first layer", "another size");
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
