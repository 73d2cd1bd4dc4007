#include "workload/importers/imported_model.hpp"

#include <cctype>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "units/mapped.hpp"

namespace farandole { inline namespace workload {
namespace {

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump();
}

std::string shape_text(const Extents& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string tensor_text(const Tensor& tensor) {
  return fmt::format(R"({{"name": {}, "shape": {}}})", json_text(tensor.name), shape_text(tensor.shape));
}

/// One line, so that people can compare and edit these files.
std::string layer_text(const ImportedLayer& layer) {
  std::string text = fmt::format(R"({{"name": {}, "type": {})", json_text(layer.name), json_text(layer.type));
  if (layer.macs > 0) text += fmt::format(R"(, "macs": {})", layer.macs);
  text += fmt::format(R"(, "input": {}, "output": {})", shape_text(layer.input), shape_text(layer.output));
  if (layer.tensors.empty()) return text + "}";
  return text + fmt::format(R"(, "tensors": [{}]}})", fmt::join(mapped(layer.tensors, tensor_text), ", "));
}

bool begins_word(std::string_view name, std::size_t at) {
  const auto is = [&](std::size_t i, int (*kind)(int)) { return kind(static_cast<unsigned char>(name[i])) != 0; };
  return at > 0 && at + 1 < name.size() && is(at, std::isupper) && is(at + 1, std::islower) &&
         !is(at - 1, std::isupper);
}

}  // namespace

void write_model(const ImportedModel& model, const std::string& schema, std::ostream& out) {
  std::int64_t parameters = 0;
  std::size_t tensors = 0;
  std::int64_t macs = 0;
  for (const ImportedLayer& layer : model.layers) {
    for (const Tensor& tensor : layer.tensors) parameters += tensor.elements();
    tensors += layer.tensors.size();
    macs += layer.macs;
  }
  const auto layers = mapped(model.layers, [](const auto& layer) { return "        " + layer_text(layer); });
  fmt::print(out, R"({{
  "$schema": {},
  "name": {},
  "summary": {},
  "variants": [
    {{
      "name": {},
      "summary": "As imported.",
      "source": {},
      "input": {},
      "parameters": {},
      "tensors": {},
      "macs": {},
      "layers": [
{}
      ]
    }}
  ]
}}
)",
             json_text(schema), json_text(model.name), json_text(model.summary), json_text(model.variant),
             json_text(model.source), shape_text(model.layers.front().input), parameters, tensors, macs,
             fmt::join(layers, ",\n"));
}

std::string snake_case(const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto letter = static_cast<unsigned char>(name[i]);
    if (begins_word(name, i)) text += '_';
    if (std::isalnum(letter) != 0 || !text.empty()) {
      text += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '_';
    }
  }
  return text;
}

}}  // namespace farandole::workload
