#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/traces/traces.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

using Json = nlohmann::ordered_json;

/// To a tenth of a nanosecond, which is finer than any trace.
std::string time_text(Seconds time) {
  return fmt::format("{:.10g} ms", std::round(time.si() * 1e10) / 1e7);
}

Json elements(double count) {
  return Json::array({static_cast<std::int64_t>(std::max(1.0, count))});
}

Json layer_json(const Layer& layer) {
  Json result{{"name", layer.name}, {"type", layer.type}};
  if (layer.macs > 0) result["macs"] = static_cast<std::int64_t>(layer.macs);
  result["input"] = elements(layer.input_elements);
  result["output"] = elements(layer.output_elements);
  const auto as_json = [](const Tensor& tensor) -> Json { return {{"name", tensor.name}, {"shape", tensor.shape}}; };
  if (!layer.tensors.empty()) result["tensors"] = mapped(layer.tensors, as_json);
  return result;
}

Json profile(const TracedWorkload& workload) {
  Json times = Json::object();
  for (const TracedLayer& layer : workload.layers) {
    times[layer.name] = {time_text(layer.forward), time_text(layer.backward)};
  }
  return {{"batch", workload.batch},
          {"source", workload.source},
          {"update", time_text(workload.update)},
          {"layers", times}};
}

}  // namespace

std::string model_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    name += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '_';
  }
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0) name = "traced_" + name;
  return name;
}

Document workload_file(const TracedWorkload& workload, const std::string& schema) {
  Model model;
  model.layers.assign(workload.layers.begin(), workload.layers.end());
  const Json variant{{"name", "traced"},
                     {"summary", "Layer times as they were traced."},
                     {"source", workload.source},
                     {"input", elements(workload.layers.front().input_elements)},
                     {"parameters", model.parameters()},
                     {"tensors", model.tensors()},
                     {"macs", static_cast<std::int64_t>(model.macs())},
                     {"layers", mapped(workload.layers, layer_json)},
                     {"profiles", Json::array({profile(workload)})}};
  const Json file{{"$schema", schema},
                  {"name", workload.name},
                  {"summary", "A workload from a trace."},
                  {"variants", Json::array({variant})}};
  return Document::parse(file.dump(2), workload.name + ".json");
}

}}  // namespace farandole::calibration
