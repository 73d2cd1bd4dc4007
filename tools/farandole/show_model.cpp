// farandole show models, farandole show model NAME.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "command.hpp"
#include "scenario/catalogue.hpp"
#include "show.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

ModelSummary load_model(const Catalogue& catalogue, const std::string& name) {
  const OptionValue option("show model", name);
  return catalogue.model(name, option.value());
}

Json profiles_json(const std::vector<Profile>& profiles) {
  Json rows = Json::array();
  for (const Profile& profile : profiles) {
    rows.push_back({{"device", profile.device},
                    {"precision", profile.precision ? name(*profile.precision) : ""},
                    {"batch", profile.batch},
                    {"seconds", profile.total().si()}});
  }
  return rows;
}

Json variants_json(const Catalogue& catalogue, const ModelSummary& model) {
  Json variants = Json::array();
  for (const Model& variant : model.variants) {
    variants.push_back({{"name", variant.variant},
                        {"parameters", variant.parameters()},
                        {"tensors", variant.tensors()},
                        {"forward_macs", variant.macs()},
                        {"profiles", profiles_json(catalogue.profiles(model, variant))}});
    if (variant.sequence_length > 0) variants.back()["sequence_length"] = variant.sequence_length;
  }
  return variants;
}

Json model_json(const Catalogue& catalogue, const ModelSummary& model) {
  const Model& standard = model.variants.front();
  return {{"name", model.name},
          {"summary", model.summary},
          {"file", model.file.string()},
          {"parameters", standard.parameters()},
          {"tensors", standard.tensors()},
          {"forward_macs", standard.macs()},
          {"variants", variants_json(catalogue, model)}};
}

/// What was measured of it, layer by layer.
std::string profiles_text(const Catalogue& catalogue, const ModelSummary& model) {
  std::string text;
  for (const Model& variant : model.variants) {
    for (const Profile& profile : catalogue.profiles(model, variant)) {
      text += fmt::format("{} profiled{}: {} for a batch of {}{} ({})\n", variant.variant,
                          profile.device.empty() ? "" : " on " + profile.device, format(profile.total()), profile.batch,
                          profile.precision ? " in " + name(*profile.precision) : "", profile.source);
    }
  }
  return text.empty() ? text : "\n" + text;
}

/// Layers with parameters, the largest first: where the bytes of the gradients are.
std::string largest_layers(const Model& model) {
  std::vector<Layer> layers = model.layers;
  std::ranges::stable_sort(layers, std::greater{}, &Layer::parameters);
  std::string text = fmt::format("\nlargest layers of {} ({})\n  {:<36} {:<14} {:>12} {:>8} {:>16}\n", model.name,
                                 model.variant, "layer", "type", "parameters", "share", "forward MACs");
  for (std::size_t i = 0; i < std::min<std::size_t>(layers.size(), 10); ++i) {
    const Layer& layer = layers[i];
    fmt::format_to(std::back_inserter(text), "  {:<36} {:<14} {:>12} {:>6.1f} % {:>16.0f}\n", layer.name, layer.type,
                   layer.parameters(),
                   100.0 * static_cast<double>(layer.parameters()) / static_cast<double>(model.parameters()),
                   layer.macs);
  }
  return text;
}

}  // namespace

Shown show_models(const ShowRequest& /*request*/) {
  const Catalogue catalogue;
  const std::vector<std::string> names = catalogue.models();
  const std::size_t width = std::ranges::max_element(names, {}, &std::string::size)->size();
  Shown shown{fmt::format("{:<{}} {:>12} {:>8} {:>15}  {}\n", "model", width, "parameters", "tensors", "forward MACs",
                          "variants"),
              Json::array()};
  for (const std::string& name : names) {
    const ModelSummary model = load_model(catalogue, name);
    shown.json.push_back(model_json(catalogue, model));
    std::string variants;
    for (const Model& variant : model.variants) variants += (variants.empty() ? "" : ", ") + variant.variant;
    fmt::format_to(std::back_inserter(shown.text), "{:<{}} {:>12} {:>8} {:>15.0f}  {}\n", name, width,
                   model.variants.front().parameters(), model.variants.front().tensors(), model.variants.front().macs(),
                   variants);
  }
  return shown;
}

Shown show_model(const ShowRequest& request) {
  const Catalogue catalogue;
  const ModelSummary model = load_model(catalogue, request.name);
  Shown shown{fmt::format("{}: {}\n\n{:<20} {:>12} {:>8} {:>8} {:>16}\n", model.name, model.summary, "variant",
                          "parameters", "tensors", "layers", "forward MACs"),
              model_json(catalogue, model)};
  for (const Model& variant : model.variants) {
    fmt::format_to(std::back_inserter(shown.text), "{:<20} {:>12} {:>8} {:>8} {:>16.0f}\n", variant.variant,
                   variant.parameters(), variant.tensors(), variant.layers.size(), variant.macs());
  }
  shown.text += profiles_text(catalogue, model);
  shown.text += largest_layers(model.variants.front());
  return shown;
}

}  // namespace farandole
