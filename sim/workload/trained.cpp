#include "workload/trained.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace farandole { inline namespace workload {
namespace {

bool may_have_adapter(const Layer& layer) {
  return layer.type == "linear" && layer.macs > 0 && !layer.block.empty() && layer.experts == 0 &&
         !layer.tensors.empty() && layer.tensors.front().shape.size() == 2 && !layer.input_shape.empty() &&
         !layer.output_shape.empty();
}

bool is_target(const Layer& layer, const Lora& lora) {
  return may_have_adapter(layer) && (lora.targets.empty() || std::ranges::any_of(lora.targets, [&](const auto& target) {
                                       return layer.name == target || layer.name.ends_with("." + target);
                                     }));
}

/// The layer and its adapter, in execution order.
void append_adapted(std::vector<Layer>& layers, const Layer& layer, std::int64_t rank) {
  const double places = layer.output_elements / static_cast<double>(layer.output_shape.back());
  const std::int64_t inputs = layer.input_shape.back();
  const std::int64_t outputs = layer.output_shape.back();
  std::vector<std::int64_t> between = layer.output_shape;
  between.back() = rank;
  const double narrow = places * static_cast<double>(rank);
  const auto product = [&](const char* type, const char* end, std::vector<std::int64_t> shape) {
    Layer part = layer;
    part.name += end;
    part.type = type;
    part.frozen = false;
    part.macs = places * static_cast<double>(shape[0] * shape[1]);
    part.tensors = {{part.name + ".weight", std::move(shape)}};
    return part;
  };
  Layer& a = layers.emplace_back(product("lora_a", ".lora_A", {rank, inputs}));
  a.output_elements = narrow;
  a.output_shape = between;
  Layer& b = layers.emplace_back(product("lora_b", ".lora_B", {outputs, rank}));
  b.input_elements = narrow;
  b.input_shape = between;
  layers.push_back(layer);
  Layer& sum = layers.emplace_back(layer);
  sum.name += ".lora_add";
  sum.type = "lora_add";
  sum.macs = 0;
  sum.frozen = false;
  sum.tensors.clear();
  sum.input_elements = layer.output_elements;
  sum.input_shape = layer.output_shape;
}

bool is_matrix(const Tensor& tensor) {
  return tensor.shape.size() > 1;
}

/// Products whose weights are not trained have no gradient of them; one without any of its own, but for a bias, has
/// the words of the embedding.
void mark_frozen_products(Model& model) {
  std::vector<std::int64_t> frozen_words;
  for (const Layer& layer : model.layers) {
    const bool embeds = layer.type.starts_with("embedding") && !layer.tensors.empty();
    if (embeds && !layer.tensors.front().trainable) frozen_words.push_back(layer.tensors.front().shape.front());
  }
  for (Layer& layer : model.layers) {
    if (layer.macs == 0) continue;
    const bool has_own = std::ranges::any_of(layer.tensors, is_matrix);
    const bool trains =
        std::ranges::any_of(layer.tensors, [](const Tensor& tensor) { return is_matrix(tensor) && tensor.trainable; });
    const bool has_words = layer.block.empty() && !layer.output_shape.empty() &&
                           std::ranges::find(frozen_words, layer.output_shape.back()) != frozen_words.end();
    layer.frozen = has_own ? !trains : has_words;
  }
}

}  // namespace

std::vector<std::string> lora_targets(const Model& model) {
  std::vector<std::string> names;
  for (const Layer& layer : model.layers) {
    const std::string name = layer.name.substr(layer.name.rfind('.') + 1);
    if (may_have_adapter(layer) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

Model with_lora(const Model& model, const Lora& lora) {
  Model adapted = with_frozen(model, {"*"});
  const std::vector<Layer> whole = std::move(adapted.layers);
  adapted.layers.clear();
  for (const Layer& layer : whole) {
    if (is_target(layer, lora)) {
      append_adapted(adapted.layers, layer, lora.rank);
    } else {
      adapted.layers.push_back(layer);
    }
  }
  adapted.variant = fmt::format("{} lora{}:{}", model.variant, lora.rank,
                                lora.targets.empty() ? "all-linear" : fmt::format("{}", fmt::join(lora.targets, "+")));
  return adapted;
}

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == std::string_view::npos) return name.ends_with(pattern);
    const std::size_t found = name.find(pattern.substr(0, star));  // the first leaves most for what follows
    if (found == std::string_view::npos) return false;
    name.remove_prefix(found + star);
  }
}

Model with_frozen(const Model& model, const std::vector<std::string>& patterns) {
  Model result = model;
  for (Layer& layer : result.layers) {
    for (Tensor& tensor : layer.tensors) {
      tensor.trainable =
          std::ranges::none_of(patterns, [&](const std::string& pattern) { return matches(pattern, tensor.name); });
    }
  }
  mark_frozen_products(result);
  result.variant = fmt::format("{} frozen:{}", model.variant, fmt::join(patterns, "+"));
  return result;
}

}}  // namespace farandole::workload
