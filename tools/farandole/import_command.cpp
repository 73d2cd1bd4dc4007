// farandole import: another program's description or trace of a model becomes a workload file.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "calibration/read_measurements.hpp"
#include "calibration/traces/traces.hpp"
#include "command.hpp"
#include "config/section.hpp"
#include "config/text.hpp"
#include "node_matrix.hpp"
#include "output_options.hpp"
#include "page_options.hpp"
#include "pcie_links.hpp"
#include "platform/topology.hpp"
#include "report/output_file.hpp"
#include "report/record.hpp"
#include "scenario/catalogue.hpp"
#include "step_log.hpp"
#include "targets.hpp"
#include "units/format.hpp"
#include "workload/importers/imported_model.hpp"
#include "workload/model.hpp"

namespace farandole {
namespace {

struct ImportArguments {
  std::string kind;
  std::string file;
  std::string output;
  std::string name;
  std::string input;
  std::string model;
  std::string variant;
  std::string batch = "1";
  std::string topology;
  std::string nic;
  std::string ibstat;
  std::string lspci;
  std::vector<std::pair<std::string, std::string>> said;  // options on the line, with their values
};

/// The workload file, or a machine's, and a line about what was found.
struct Imported {
  std::string file;
  std::string found;
  bool is_machine = false;
};

/// "28x28x1".
Extents parse_input(const std::string& text) {
  Extents shape;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) shape.push_back(whole_number("--input", part, 1));
  return shape;
}

std::string schema_for(const ImportArguments& arguments) {
  const auto schema = Catalogue().root() / "sim/config/schemas/model.schema.json";
  const auto output = std::filesystem::absolute(arguments.output.empty() ? "-" : arguments.output);
  return std::filesystem::absolute(schema).lexically_relative(output.parent_path()).string();
}

/// As the schema has it.
void check_name(const std::string& name) {
  const auto is_small = [](char letter) { return letter >= 'a' && letter <= 'z'; };
  const auto belongs = [&](char letter) {
    return is_small(letter) || (letter >= '0' && letter <= '9') || letter == '_';
  };
  if (name.empty() || !is_small(name.front()) || !std::ranges::all_of(name, belongs)) {
    refuse_option("--name", "a name in snake_case such as my_model", name);
  }
}

Imported import_keras_summary(const std::string& text, const ImportArguments& arguments) {
  ImportedModel model = read_keras_summary(text, arguments.file, parse_input(arguments.input));
  if (!arguments.name.empty()) model.name = arguments.name;
  check_name(model.name);
  std::ostringstream file;
  write_model(model, schema_for(arguments), file);
  const Document document = Document::parse(file.str(), arguments.file);
  const Model read = read_model(document.root(), arguments.output).variants.front();
  return {file.str(), fmt::format("{}: {} parameters in {} tensors, {:.0f} multiply-adds, {} layers", model.name,
                                  read.parameters(), read.tensors(), read.macs(), read.layers.size())};
}

Seconds total(const TracedWorkload& workload, Seconds TracedLayer::*pass) {
  Seconds sum;
  for (const TracedLayer& layer : workload.layers) sum += layer.*pass;
  return sum;
}

Imported traced(TracedWorkload workload, const std::string& found, const ImportArguments& arguments) {
  workload.batch = whole_number("--batch", arguments.batch, 1);
  const std::string& named_by = arguments.output.empty() ? arguments.file : arguments.output;
  workload.name = arguments.name.empty() ? model_name(std::filesystem::path(named_by).stem().string()) : arguments.name;
  check_name(workload.name);
  return {json_text(workload_file(workload, schema_for(arguments)).to_ordered_json(), 2) + "\n",
          fmt::format("{} layers, forward {}, backward {}, update {}; {}", workload.layers.size(),
                      format(total(workload, &TracedLayer::forward)), format(total(workload, &TracedLayer::backward)),
                      format(workload.update), found)};
}

Imported import_horovod_timeline(const std::string& text, const ImportArguments& arguments) {
  const HorovodTrace trace = read_horovod_timeline(text, arguments.file);
  const std::string cycle = trace.cycle ? fmt::format(", cycle {}", format(*trace.cycle)) : "";
  return traced(trace.workload,
                fmt::format("{} iterations{}, negotiation {}", trace.iterations, cycle, format(trace.negotiation)),
                arguments);
}

Imported import_pytorch_profiler(const std::string& text, const ImportArguments& arguments) {
  const OptionValue model("--model", arguments.model);
  if (arguments.model.empty()) refuse_option("--model", "the model that was traced", "nothing");
  const ModelSummary known = Catalogue().model(arguments.model, model.value());
  const OptionValue variant("--variant", arguments.variant);
  const Model chosen = choose_variant(known, arguments.variant, variant.value());
  const ProfilerTrace trace = read_pytorch_profiler(text, arguments.file, chosen, 1);
  return traced(trace.workload,
                fmt::format("{} steps, times on the {}", trace.steps, trace.on_device ? "device" : "CPU"), arguments);
}

Imported import_huggingface_config(const std::string& text, const ImportArguments& arguments) {
  Document document = model_of_huggingface_config(Document::parse(text, arguments.file));
  if (!arguments.name.empty()) {
    check_name(arguments.name);
    document.set("/name", arguments.name);
  }
  document.set("/$schema", schema_for(arguments));
  const Model read = read_model(document.root(), arguments.file).variants.front();
  return {json_text(document.to_ordered_json(), 2) + "\n",
          fmt::format("{}: {} parameters in {} tensors; a scenario's \"model\" may name the configuration itself",
                      read.name, read.parameters(), read.tensors())};
}

Imported import_node_matrix(const std::string& text, const ImportArguments& arguments) {
  if (arguments.topology.empty()) {
    refuse_option("--topology", "the machine that the node is like: its GPUs, links and network", "nothing");
  }
  const OptionValue like("--topology", arguments.topology);
  Document document = Document::read(Catalogue().topology(arguments.topology, like.value()).file);
  if (!arguments.ibstat.empty() && !arguments.nic.empty())
    refuse_option("--nic", "either a rate or --ibstat, which says it", arguments.nic);
  std::map<std::string, RdmaPort> ports;
  if (!arguments.ibstat.empty()) ports = read_rdma_ports(read_text(arguments.ibstat), arguments.ibstat);
  std::string found = put_node_matrix(text, arguments.file, ports, document);
  const std::string& named_by = arguments.output.empty() ? arguments.file : arguments.output;
  const std::string name = arguments.name.empty() ? std::filesystem::path(named_by).stem().string() : arguments.name;
  document.set("/name", nlohmann::json(name).dump());
  if (!arguments.nic.empty()) {
    static_cast<void>(read<BytesPerSecond>(OptionValue("--nic", arguments.nic).value()));
    document.set("/node/nic/rate", nlohmann::json(arguments.nic).dump());
  }
  if (!arguments.lspci.empty()) found += ", " + put_pcie_links(read_text(arguments.lspci), arguments.lspci, document);
  document.set("/summary", nlohmann::json(fmt::format("{} with another node: {}", arguments.topology, found)).dump());
  document.set("/$schema", "urn:farandole:schema:0.1:topology");
  return {json_text(document.to_ordered_json(), 2) + "\n", name + ": " + found, true};
}

struct ImportKind {
  const char* name;
  Imported (*import)(const std::string& text, const ImportArguments& arguments);
  const char* mark;     // what a file of this kind has in it, and one of those behind it has not
  const char* options;  // that it takes beside --output and --name
};
constexpr std::array import_kinds{
    ImportKind{"keras_summary", import_keras_summary, "Layer (type)", "--input"},
    ImportKind{"pytorch_profiler", import_pytorch_profiler, "\"traceEvents\"", "--model, --variant, --batch"},
    ImportKind{"huggingface_config", import_huggingface_config, "\"model_type\"", ""},
    ImportKind{"horovod_timeline", import_horovod_timeline, "\"ph\"", "--batch"},
    ImportKind{"node_matrix", import_node_matrix, "CPU Affinity", "--topology, --nic, --ibstat, --lspci"},
};

void refuse_options_of_other_kinds(const ImportKind& kind, const ImportArguments& arguments) {
  for (const auto& [option, value] : arguments.said) {
    const std::string all = std::string("--output, --name, ") + kind.options;
    if (all.find(option) != std::string::npos) continue;
    const std::string taken = kind.options[0] == 0 ? "no option but --output and --name" : kind.options;
    refuse_option(option, fmt::format("{}, of a {}", taken, kind.name), value);
  }
}

/// A file that another command takes, by what it has in it.
struct OtherFile {
  const char* mark;
  const char* what;
  const char* command;  // {} is the file
};
constexpr const char* with_launch = "farandole new --launch {}";
constexpr const char* with_strategy = "farandole new --strategy {}";
constexpr const char* with_steps = "farandole diagnose SCENARIO --steps {}";
constexpr std::array other_files{
    OtherFile{"\"weight_map\"", "the index of a checkpoint, which has no shapes", "farandole import config.json"},
    OtherFile{":::MLLOG", "a log of MLPerf", with_steps},
    OtherFile{"(type:depth-idx)", "a table of torchinfo, which has no kernels and strides",
              "tools/export_torch.py MODULE.py:FUNCTION --input SHAPE"},
    OtherFile{"\x12\x07"
              "pytorch",
              "a model of ONNX", "tools/export_onnx.py {} --output FILE"},
    OtherFile{"\"ctrl_deps\"", "a trace of Chakra", "farandole compare {} SCENARIO"},
    OtherFile{"LnkSta:", "what lspci -vv prints", "farandole import topo.txt --topology NAME --lspci {}"},
    OtherFile{"CA type:", "what ibstat prints", "farandole import topo.txt --topology NAME --ibstat {}"},
    OtherFile{"\"zero_optimization\"", "a configuration of DeepSpeed", with_strategy},
    OtherFile{"distributed_type:", "a configuration of accelerate", with_strategy},
    OtherFile{"fsdp_config:", "a configuration of LLM Foundry", with_strategy},
    OtherFile{"[activation_checkpoint]", "a job configuration of torchtitan", with_strategy},
    OtherFile{"[parallelism]", "a job configuration of torchtitan", with_strategy},
    OtherFile{"tensor_model_parallel_size:", "a configuration of NeMo", with_strategy},
    OtherFile{"SwitchName=", "Slurm's topology.conf", "farandole place SCENARIO --topology-conf {}"},
    OtherFile{"\"workload\"", "a scenario", "farandole run {}"},
    OtherFile{"\"layers\"", "a workload file", "farandole show model {}"},
    OtherFile{"#SBATCH", "a batch script of Slurm", with_launch},
    OtherFile{"torchrun ", "a launch line", with_launch},
    OtherFile{"accelerate launch ", "a launch line", with_launch},
    OtherFile{"deepspeed ", "a launch line", with_launch},
    OtherFile{"horovodrun ", "a launch line", with_launch},
    OtherFile{"srun ", "a launch line", with_launch},
    OtherFile{"mpirun ", "a launch line", with_launch},
    OtherFile{"mpiexec ", "a launch line", with_launch},
};

/// Which command takes it; nothing where no one does.
std::string command_for(const std::string& text, const std::string& path) {
  const std::string file = shell_word(path);
  for (const MeasuredForm& form : measured_forms()) {
    if (form.recognises(text))
      return fmt::format("{}: farandole calibrate {} --topology NAME --output FILE", form.summary, file);
  }
  if (is_wandb_table(text)) return "a table of W&B: " + fmt::format(fmt::runtime(with_steps), file);
  const auto other = std::ranges::find_if(
      other_files, [&](const OtherFile& kind) { return text.find(kind.mark) != std::string::npos; });
  if (other == other_files.end()) return {};
  return fmt::format("{}: {}", other->what, fmt::format(fmt::runtime(other->command), file));
}

const ImportKind& kind_of_text(const std::string& text, const std::string& file) {
  for (const ImportKind& kind : import_kinds) {
    if (text.find(kind.mark) != std::string::npos) return kind;
  }
  const std::string command = command_for(text, file);
  throw InputError(
      "FILE: expected a Keras summary, a PyTorch or Horovod trace, a Hugging Face config.json, or what "
      "nvidia-smi topo -m prints, got " +
      (command.empty() ? quoted(file) : command));
}

const ImportKind& kind_named(const std::string& name) {
  std::vector<std::string> known;
  for (const ImportKind& kind : import_kinds) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  refuse_option("KIND", fmt::format("{}", fmt::join(known, ", ")), name, suggestion(name, known));
}

void import_file(const ImportArguments& arguments) {
  Targets targets;
  targets.reads("what is imported", arguments.file);
  if (!arguments.ibstat.empty()) targets.reads("--ibstat", arguments.ibstat);
  if (!arguments.lspci.empty()) targets.reads("--lspci", arguments.lspci);
  targets.writes("--output", arguments.output);
  targets.check();
  const ImportKind* named = arguments.kind.empty() ? nullptr : &kind_named(arguments.kind);
  const std::string text = read_text(arguments.file);
  const ImportKind& kind = named != nullptr ? *named : kind_of_text(text, arguments.file);
  refuse_options_of_other_kinds(kind, arguments);
  const Imported imported = kind.import(text, arguments);
  const std::string source =
      imported.is_machine ? arguments.topology + " with the node of " + arguments.file : arguments.file;
  const Document document = Document::parse(imported.file, source);
  if (imported.is_machine) {  // what is written can be read
    static_cast<void>(read_topology(document.root(), arguments.output));
  } else {
    static_cast<void>(read_model(document.root(), arguments.output));
  }
  const auto output = arguments.output.empty() ? std::nullopt : std::optional<std::filesystem::path>(arguments.output);
  write_output(output, std::cout, [&](std::ostream& out) { out << imported.file; });
  std::cerr << imported.found << "\n";
}

void add_machine_options(CLI::App& command, ImportArguments& arguments) {
  command.add_option("--topology", arguments.topology, "of a node's matrix: the machine it is like, with its network")
      ->type_name("NAME");
  command.add_option("--nic", arguments.nic, "of a node's matrix: what a NIC carries; else as that machine's")
      ->type_name("RATE");
  command
      .add_option("--ibstat", arguments.ibstat,
                  "of a node's matrix: what ibstat or ibstatus prints there, for the rate of NICs and which are up")
      ->type_name("FILE");
  command
      .add_option("--lspci", arguments.lspci,
                  "of a node's matrix: what lspci -vv prints there for root, for the links of GPUs and NICs to PCIe")
      ->type_name("FILE");
}

}  // namespace

void add_import(CLI::App& app) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command =
      app.add_subcommand("import", "Write a workload file, or a machine's, from what another program says of it");
  auto what = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("file", *what,
                   "the file to read, preceded by its kind where that is not evident: keras_summary (what Keras prints "
                   "as model.summary()), pytorch_profiler, huggingface_config, horovod_timeline or "
                   "node_matrix (what nvidia-smi topo -m prints)")
      ->required()
      ->expected(-1)
      ->type_name("[KIND] FILE");
  command->add_option("--output", arguments->output, "the file; else standard output")->type_name("FILE");
  command->add_option("--name", arguments->name, "of the workload, in snake_case, or of the machine; else of the file")
      ->type_name("NAME");
  command->add_option("--input", arguments->input, "of a summary: shape of one sample, where the file does not say it")
      ->type_name("28x28x1");
  command->add_option("--model", arguments->model, "of a profiler's trace: the model that was traced")
      ->type_name("NAME");
  command->add_option("--variant", arguments->variant, "of the model")->type_name("NAME");
  command->add_option("--batch", arguments->batch, "of a trace: the batch of one rank (default: 1)")->type_name("N");
  add_machine_options(*command, *arguments);
  command->footer(
      "Example:\n"
      "  farandole import topo.txt --topology hgx-h100 --ibstat ibstat.txt --output my-machine.json\n"
      "  farandole import config.json --output my_llama.json\n"
      "  farandole import keras_summary summary.txt --input 28x28x1 --output mnist.json\n"
      "  farandole import horovod_timeline timeline.json --batch 64 --output my_model.json\n"
      "  farandole import pytorch_profiler trace.json --model resnet18 --batch 32 --output my_resnet.json");
  command->callback([arguments, what, command] {
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() > 0 && !option->get_positional())
        arguments->said.emplace_back(option->get_name(), option->results().front());
    }
    if (what->size() > 2) refuse_option("FILE", "one file", fmt::format("{}", fmt::join(*what, " ")));
    arguments->file = what->back();
    if (what->size() == 2) arguments->kind = what->front();
    import_file(*arguments);
  });
}

}  // namespace farandole
