// farandole bench --compute: the kernels of a model's layers, timed on the GPU of this machine.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/compute_bench.hpp"
#include "bench_training.hpp"
#include "report/heading.hpp"
#include "report/record.hpp"
#include "report/table.hpp"
#include "scenario/catalogue.hpp"
#include "units/format.hpp"
#include "workload/compute_time.hpp"

namespace farandole {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// What was asked for, as the catalogue knows it.
struct Asked {
  ModelSummary summary;
  Model model;
  ComputeRequest request;
};

std::vector<int> batches(const BenchCompute& arguments) {
  std::vector<int> sorted;
  for (const std::string& text : arguments.batches) sorted.push_back(whole_number("--batch", text, 1));
  std::ranges::sort(sorted);
  sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
  return sorted;
}

std::vector<Precision> precisions(const BenchCompute& arguments) {
  std::vector<Precision> chosen;
  for (const std::string& text : arguments.precisions) {
    const OptionValue option("--precision", text);
    const Precision precision = read_precision(option.value());
    if (!can_time(precision))
      option.value().fail("fp32, tf32, fp16 or bf16, which cuBLAS and cuDNN are asked for here");
    if (std::ranges::find(chosen, precision) == chosen.end()) chosen.push_back(precision);
  }
  return chosen;
}

Asked asked(const BenchCompute& arguments, const Catalogue& catalogue, int warmup, int repetitions) {
  const OptionValue model("--compute", arguments.model);
  const OptionValue variant("--variant", arguments.variant);
  const ModelSummary summary = catalogue.model(arguments.model, model.value());
  return {summary,
          choose_variant(summary, arguments.variant, variant.value()),
          {precisions(arguments), batches(arguments), warmup, repetitions}};
}

/// With as many multiprocessors, of the same capability, and the memory within a tenth (a driver keeps some of it).
bool is_like(const Device& device, const GpuDescription& gpu) {
  return device.compute_capability == gpu.compute_capability && device.multiprocessors == gpu.multiprocessors &&
         std::abs(device.memory / gpu.memory - 1) < 0.1;
}

std::vector<std::string> devices_like(const Catalogue& catalogue, const GpuDescription& gpu) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(catalogue.root() / "topologies/devices")) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem().string();
    const OptionValue option("--device", name);
    if (is_like(catalogue.device(name, option.value()), gpu)) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string gpu_text(const GpuDescription& gpu) {
  return fmt::format("{}, {} multiprocessors, {}, compute capability {}.{}", gpu.name, gpu.multiprocessors,
                     format(gpu.memory), gpu.compute_capability / 10, gpu.compute_capability % 10);
}

Device device_of(const BenchCompute& arguments, const Catalogue& catalogue, const GpuDescription& gpu) {
  std::string name = arguments.device;
  if (name.empty()) {
    const std::vector<std::string> like = devices_like(catalogue, gpu);
    if (like.size() != 1) {
      refuse_option("--device", fmt::format("which device of topologies/devices this one is ({})", gpu_text(gpu)),
                    like.empty() ? "nothing, and none has its numbers" : "nothing, and several have its numbers");
    }
    name = like.front();
  }
  const OptionValue option("--device", name);
  return catalogue.device(name, option.value());
}

std::string seconds(Seconds time) {
  return fmt::format("{:.9g} s", time.si());
}

OrderedJson profile_of(const TimedModel& timed, const TimedKernels& kernels, const Device& device) {
  OrderedJson layers = OrderedJson::object();
  for (const TimedLayer& layer : timed.layers) layers[layer.name] = {seconds(layer.forward), seconds(layer.backward)};
  return {{"device", device.name},
          {"precision", name(timed.precision)},
          {"batch", timed.batch},
          {"source", fmt::format("farandole bench --compute, {}, {}", kernels.gpu.name, kernels.gpu.libraries)},
          {"update", seconds(timed.update)},
          {"layers", std::move(layers)}};
}

OrderedJson measurement_of(const TimedModel& timed, const TimedKernels& kernels, const Model& model) {
  return {{"set", "bench-compute"},
          {"model", model.name},
          {"variant", model.variant},
          {"precision", name(timed.precision)},
          {"batch", timed.batch},
          {"samples_per_second", timed.batch / timed.step().si()},
          {"system", kernels.gpu.name},
          {"software", kernels.gpu.libraries},
          {"source", "farandole bench --compute"},
          {"confidence", "sum of kernels, each timed alone"}};
}

OrderedJson model_file(const Asked& asked, const TimedKernels& kernels, const Device& device) {
  OrderedJson file = Document::read(asked.summary.file).to_ordered_json();
  for (OrderedJson& variant : file["variants"]) {
    if (variant["name"] != asked.model.variant) continue;
    for (const TimedModel& timed : kernels.models) variant["profiles"].push_back(profile_of(timed, kernels, device));
  }
  return file;
}

/// What was measured here stands first, so that it is used unless a topology names another set.
OrderedJson device_file(const Asked& asked, const TimedKernels& kernels, const Device& device) {
  OrderedJson file = Document::read(device.file).to_ordered_json();
  OrderedJson rows = OrderedJson::array();
  for (const TimedModel& timed : kernels.models) rows.push_back(measurement_of(timed, kernels, asked.model));
  for (OrderedJson& row : file["measurements"]) {
    if (row["set"] != "bench-compute") rows.push_back(std::move(row));
  }
  file["measurements"] = std::move(rows);
  return file;
}

Record record_of(const TimedModel& timed, const Asked& asked, const Device& device) {
  Record layers = Record::array();
  for (const TimedLayer& layer : timed.layers) {
    layers.push_back(
        {{"layer", layer.name}, {"by", layer.by}, {"forward", layer.forward.si()}, {"backward", layer.backward.si()}});
  }
  return {{"model", asked.model.name},
          {"variant", asked.model.variant},
          {"device", device.name},
          {"precision", name(timed.precision)},
          {"batch_per_rank", timed.batch},
          {"forward", timed.forward().si()},
          {"backward", timed.backward().si()},
          {"update", timed.update.si()},
          {"samples_per_second", timed.batch / timed.step().si()},
          {"layers", std::move(layers)}};
}

/// A row of CSV has no place for lists: a row is a layer there.
std::vector<Record> rows_of(const std::vector<Record>& points) {
  std::vector<Record> rows;
  for (const Record& point : points) {
    for (const Record& layer : point.at("layers")) {
      Record row = {{"model", point.at("model")},
                    {"variant", point.at("variant")},
                    {"device", point.at("device")},
                    {"precision", point.at("precision")},
                    {"batch_per_rank", point.at("batch_per_rank")}};
      row.update(layer);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/// What the program would say without this measurement; empty: nothing.
std::string estimate_of(const TimedModel& timed, const Asked& asked, Device device) {
  if (!device.peak.contains(timed.precision)) return "";
  device.measurements.clear();
  const Seconds estimate = compute_times(asked.model, device, {timed.precision, timed.batch, "", {}}).total();
  return fmt::format("{:.4g} ({})", estimate / 1_ms, signed_percent(estimate / timed.step() - 1, 0));
}

Seconds sum_by(const TimedModel& timed, std::string_view by) {
  Seconds sum;
  for (const TimedLayer& layer : timed.layers) {
    if (layer.by == by) sum += layer.forward + layer.backward;
  }
  return sum;
}

void write_table(std::ostream& out, const Heading& heading, const TimedKernels& kernels, const Asked& asked,
                 const Device& device) {
  const auto ms = [](Seconds time) { return fmt::format("{:.4g}", time / 1_ms); };
  write_title(out, heading);
  out << fmt::format("# {} ({}) on {} as {}; {}\n# kernels one by one, median of {}; ms\n", asked.model.name,
                     asked.model.variant, gpu_text(kernels.gpu), device.name, kernels.gpu.libraries,
                     asked.request.repetitions);
  Table table({{"precision", Align::left},
               {"batch"},
               {"forward"},
               {"backward"},
               {"update"},
               {"step"},
               {"samples/s"},
               {"cuBLAS"},
               {"cuDNN"},
               {"copies"},
               {"estimate"}});
  for (const TimedModel& timed : kernels.models) {
    table.row({name(timed.precision), std::to_string(timed.batch), ms(timed.forward()), ms(timed.backward()),
               ms(timed.update), ms(timed.step()), grouped(timed.batch / timed.step().si(), 1),
               ms(sum_by(timed, "cuBLAS")), ms(sum_by(timed, "cuDNN")), ms(sum_by(timed, "copy")),
               estimate_of(timed, asked, device)});
  }
  table.write(out);
  write_settings(out, heading);
}

void write_kernels(const OutputOptions& output, const TimedKernels& kernels, const Asked& asked, const Device& device) {
  const Settings settings{{"gpu", gpu_text(kernels.gpu)}, {"libraries", kernels.gpu.libraries}};
  const Heading heading{"bench", settings, {}, {}, output.settings};
  std::vector<Record> points;
  for (const TimedModel& timed : kernels.models) points.push_back(record_of(timed, asked, device));
  output.write([&](std::ostream& out) {
    switch (output.chosen_format()) {
      case Format::table:
        return write_table(out, heading, kernels, asked, device);
      case Format::json:
        return write_json(out, heading, points);
      case Format::csv:
        const std::vector<Record> rows = rows_of(points);
        return write_csv(out, rows.front(), rows);
    }
  });
}

/// Nothing where there is no `target`.
void write_text(const std::string& target, OrderedJson file, const std::filesystem::path& schema) {
  if (target.empty()) return;
  const auto folder = std::filesystem::absolute(target).parent_path();
  if (file.contains("$schema")) file["$schema"] = std::filesystem::absolute(schema).lexically_relative(folder).string();
  write_file(target, [&](std::ostream& out) { out << file.dump(2) << '\n'; });
}

Targets bench_targets(const BenchCompute& arguments, const Asked& asked, const OutputOptions& output) {
  Targets targets;
  targets.reads("the model", asked.summary.file);
  output.add_to(targets);
  targets.writes("--model-file", arguments.model_file);
  targets.writes("--device-file", arguments.device_file);
  return targets;
}

}  // namespace

void BenchCompute::add_to(CLI::App& command) {
  CLI::Option* compute =
      command
          .add_option(
              "--compute", model,
              "measure the kernels of this model's layers on a GPU instead of a collective, by cuBLAS and cuDNN")
          ->type_name("MODEL");
  const auto add = [&](const char* option, auto& value, const char* help, const char* type) {
    return command.add_option(option, value, help)->type_name(type)->needs(compute);
  };
  add("--variant", variant, "the variant of the model (default: its first)", "NAME");
  add("--precision", precisions, "fp32, tf32, fp16, bf16; several with commas (default: fp16)", "LIST")->delimiter(',');
  add("--batch", batches, "batch sizes; several with commas (default: 1,8,64)", "LIST")->delimiter(',');
  add("--device", device, "the device of topologies/devices that the GPU is; else the one with its numbers", "NAME");
  add("--model-file", model_file, "write the model's file with these times as profiles: a \"model\" of scenarios",
      "FILE.json");
  add("--device-file", device_file, "write the device's file with these rates among its measurements", "FILE.json");
  for (const char* other : {"--backend", "-b", "-e", "-f", "--op", "--algorithm", "--root", "--segments", "--servers",
                            "--peer", "--nap", "--nccl-id", "--training"}) {
    compute->excludes(command.get_option(other));
  }
}

void bench_compute(const BenchCompute& arguments, int warmup, int repetitions, const OutputOptions& output) {
  static_cast<void>(output.chosen_format());
  const Catalogue catalogue;
  const Asked what = asked(arguments, catalogue, warmup, repetitions);
  bench_targets(arguments, what, output).check();
  if (const std::string missing = missing_for_compute(); !missing.empty()) {
    refuse_option("--compute", "a machine with CUDA, cuBLAS and cuDNN", arguments.model, "; " + missing);
  }
  const Device device = device_of(arguments, catalogue, gpu_of_this_machine());
  const TimedKernels kernels = time_kernels(what.model, what.request);
  const auto schemas = catalogue.root() / "sim/config/schemas";
  write_text(arguments.model_file, model_file(what, kernels, device), schemas / "model.schema.json");
  write_text(arguments.device_file, device_file(what, kernels, device), schemas / "device.schema.json");
  write_kernels(output, kernels, what, device);
}

}  // namespace farandole
