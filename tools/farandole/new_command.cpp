// farandole new: a scenario of one's own, from options or from a few questions, that fits into memory and runs.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "command.hpp"
#include "config/text.hpp"
#include "machine_network.hpp"
#include "pasted_job.hpp"
#include "platform/graph_file.hpp"
#include "report/output_file.hpp"
#include "report/record.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/sweep.hpp"
#include "targets.hpp"

namespace farandole {
namespace {

struct NewArguments {
  std::string file = "scenario.json";
  std::string model;
  std::string topology;
  std::string launch;
  std::string ranks;
  std::string batch;
  std::string strategy;
  std::string fabric;
  std::string oversubscription;
  std::string rails;
  std::string nic;
  bool asks = false;
};

/// What a scenario says of a job, of which all that nobody said is a default.
struct Draft {
  std::string name;
  std::string model;
  std::string topology;
  std::vector<int> ranks;
  std::string placement;            // JSON, where the launch line says one
  nlohmann::ordered_json override;  // of the topology, by pointers
  int batch = 1;
  int sequence_length = 0;  // as the model has it
  std::string precision;
  std::string optimizer;
  std::string strategy;
  std::vector<std::pair<std::string, std::string>> settings;  // of the strategy, as JSON
  std::string recompute = "none";
  std::string why_recompute;                              // where nobody said so
  std::vector<std::pair<std::string, std::string>> more;  // of the workload, as JSON
};

constexpr double most_oversubscription = 1000;

/// "1,8,64", each once and from few to many.
std::vector<int> rank_counts(const std::string& text) {
  std::set<int> counts;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    counts.insert(whole_number("--ranks", part, 1));
  }
  if (counts.empty()) refuse_option("--ranks", "numbers of ranks such as 1,8,64", text);
  return {counts.begin(), counts.end()};
}

/// One device, one node, and twice as many up to 16 nodes, as far as the machine goes.
std::vector<int> usual_ranks(const Topology& topology) {
  const int nodes = std::min(16, topology.nodes.value_or(16));
  std::vector<int> counts{1};
  for (int used = 1; used <= nodes; used *= 2) {
    if (const int ranks = used * topology.devices_per_node; ranks > 1) counts.push_back(ranks);
  }
  return counts;
}

/// Images by 64, tokens by some thousand.
int usual_batch(const Model& model) {
  return model.sequence_length == 0 ? 64 : std::max(1, 4096 / model.sequence_length);
}

/// What frameworks train in on such a device: bf16 where it has it, fp16 from the first tensor cores on.
std::string usual_precision(const Device& device) {
  if (device.peak.contains(Precision::bf16)) return "bf16";
  return device.compute_capability >= 70 ? "fp16" : "fp32";
}

std::string workload_text(const Draft& draft) {
  std::string more;
  for (const auto& [key, value] : draft.more) more += fmt::format(",\n    \"{}\": {}", key, value);
  return fmt::format(
      "  \"workload\": {{\n"
      "    \"comment\": \"What is trained: `farandole show models`, or a file of your own (`farandole import`). The "
      "batch is one rank's.\",\n"
      "    \"model\": {},\n"
      "    \"batch_per_rank\": {},\n"
      "{}"
      "    \"precision\": \"{}\",\n"
      "    \"optimizer\": \"{}\",\n"
      "    \"recompute\": \"{}\"{}\n"
      "  }},\n",
      json_text(draft.model), draft.batch,
      draft.sequence_length == 0 ? "" : fmt::format("    \"sequence_length\": {},\n", draft.sequence_length),
      draft.precision, draft.optimizer, draft.recompute, more);
}

std::string platform_text(const Draft& draft) {
  return fmt::format(
      "  \"platform\": {{\n"
      "    \"comment\": \"On which machine: `farandole show topologies`, or a file of your own (`farandole calibrate` "
      "fits one to measurements). A rank is a device.\",\n"
      "    \"topology\": {},\n"
      "{}"
      "    {}\n"
      "  }},\n",
      json_text(draft.topology),
      draft.override.empty() ? "" : fmt::format("    \"override\": {},\n", draft.override.dump()),
      draft.placement.starts_with("\"launch\"") ? draft.placement
                                                : fmt::format("\"ranks\": {}{}", draft.ranks.front(), draft.placement));
}

std::string strategy_text(const Draft& draft) {
  std::string settings;
  for (const auto& [key, value] : draft.settings) settings += fmt::format(",\n    \"{}\": {}", key, value);
  return fmt::format(
      "  \"strategy\": {{\n"
      "    \"comment\": \"How gradients travel: `farandole show strategy {0}` lists its settings.\",\n"
      "    \"kind\": \"{0}\"{1}\n"
      "  }},\n",
      draft.strategy, settings);
}

std::string sweep_text(const Draft& draft) {
  if (draft.ranks.size() < 2) return "\n";
  return fmt::format(
      ",\n"
      "  \"sweep\": {{\n"
      "    \"comment\": \"Values of anything in this file, by its JSON pointer; all combinations are run.\",\n"
      "    \"/platform/ranks\": [{}]\n"
      "  }}\n",
      fmt::join(draft.ranks, ", "));
}

std::string draft_text(const Draft& draft) {
  const std::string summary =
      fmt::format("{} on {}, {} ranks, {}", draft.model, draft.topology, fmt::join(draft.ranks, ", "), draft.strategy);
  return fmt::format(
      "{{\n"
      "  \"$schema\": \"urn:farandole:schema:0.1:scenario\",\n"
      "  \"name\": {},\n"
      "  \"summary\": {},\n"
      "{}{}{}"
      "  \"measure\": {{\n"
      "    \"comment\": \"fidelity: analytic is quick, flow shares links as they are shared, message sends every "
      "message.\",\n"
      "    \"iterations\": 10,\n"
      "    \"warmup\": 2,\n"
      "    \"seed\": 1,\n"
      "    \"fidelity\": \"flow\"\n"
      "  }}{}"
      "}}\n",
      json_text(draft.name), json_text(summary), workload_text(draft), platform_text(draft), strategy_text(draft),
      sweep_text(draft));
}

/// The message without a file that nobody has written: what made the part of it that is wrong is named instead.
/// `prefix`: of that file's pointers among the origins.
std::string of_origins(const std::string& message, const PastedJob& job, const std::string& file,
                       const std::string& prefix = "") {
  const auto begin = message.find(": /", file.size());
  const auto end = begin == std::string::npos ? begin : message.find(": ", begin + 2);
  if (file.empty() || !message.starts_with(file + ":") || end == std::string::npos) return message;
  const std::string pointer = message.substr(begin + 2, end - begin - 2);
  auto origin = job.origins.find(prefix + pointer);
  // A job that does not fit is a batch's fault, or the model's.
  for (const char* member : {"/model", "/batch_per_rank"}) {
    const auto found = job.origins.find(pointer + member);
    if (prefix.empty() && pointer == "/workload" && found != job.origins.end()) origin = found;
  }
  for (std::string known = pointer; origin == job.origins.end() && !known.empty();) {
    known.erase(known.rfind('/'));
    origin = job.origins.find(prefix + known);
  }
  if (origin == job.origins.end()) return message;
  const bool is_inside = std::ranges::count(pointer, '/') > 2;
  const auto member = pointer.find('/', pointer.find('/', 1) + 1);  // behind "/strategy/deepspeed"
  return origin->second + (is_inside ? ": " + pointer.substr(member) : "") + message.substr(end);
}

/// Reads it as `run` would, for each number of ranks.
void check_draft(const Draft& draft, const std::string& file, const Catalogue& catalogue) {
  const Document document = Document::parse(draft_text(draft), file);
  for (const Configuration& configuration : expand_sweep(document)) read_scenario(configuration.root(), catalogue);
}

/// The numbers of ranks for which it fits into memory.
std::vector<int> ranks_that_fit(Draft draft, const std::string& file, const Catalogue& catalogue) {
  std::vector<int> fitting;
  for (const int ranks : std::exchange(draft.ranks, {})) {
    draft.ranks = {ranks};
    try {
      check_draft(draft, file, catalogue);
      fitting.push_back(ranks);
    } catch (const DoesNotFit&) {
    }
  }
  return fitting;
}

/// The first way to train, from the simplest on, that fits the most of the numbers of ranks. Of those that nobody asked
/// for, the ones it does not fit are left out.
Draft choose_way(Draft draft, const NewArguments& said, const PastedJob& job, const Catalogue& catalogue) {
  std::vector<std::string> strategies{said.strategy};
  if (said.strategy.empty()) strategies = {"ddp", "fsdp"};
  std::vector<std::string> recomputes{job.recompute};
  if (job.recompute.empty()) recomputes = {"none", "selective", "full"};
  Draft best = draft;
  std::vector<int> most;
  std::size_t without = 0;  // how many fit without recomputation
  for (const std::string& recompute : recomputes) {
    for (const std::string& strategy : strategies) {
      draft.strategy = strategy;
      draft.recompute = recompute;
      const std::vector<int> fitting = ranks_that_fit(draft, said.file, catalogue);
      if (fitting.size() <= most.size()) continue;
      best = draft;
      most = fitting;
    }
    if (most.size() == draft.ranks.size()) break;
    if (recompute == "none") without = most.size();
  }
  if (job.recompute.empty() && best.recompute != "none") {
    best.why_recompute = without == 0 ? ", without which it does not fit" : ", without which it fits on fewer of these";
  }
  if (most.empty()) {
    best.strategy = strategies.back();
    best.recompute = recomputes.front();
  }
  if (said.ranks.empty() && !most.empty()) best.ranks = most;
  check_draft(best, said.file, catalogue);
  return best;
}

/// A question and the answer to it; an empty answer, and where nobody is asked, takes the default.
class Questions {
 public:
  explicit Questions(const NewArguments& said) : asks_(said.asks || is_terminal()) {}

  [[nodiscard]] bool asks() const { return asks_; }

  /// `check` throws InputError for what cannot be; on a terminal the question is asked again then.
  template <class Check>
  void ask(const std::string& what, const std::string& usual, std::string& answer, const Check& check) const {
    bool is_open = asks_ && answer.empty();
    do {
      if (is_open) answer = answer_to(what + (usual.empty() ? "" : " [" + usual + "]"));
      if (answer.empty()) answer = usual;
      try {
        check(answer);
        is_open = false;
      } catch (const InputError& error) {
        if (!is_open || !is_terminal()) throw;
        std::cerr << error.what() << "\n";
      }
    } while (is_open);
  }

 private:
  static std::string answer_to(const std::string& question) {
    std::string answer;
    std::cerr << question << ": " << std::flush;
    if (std::getline(std::cin, answer)) return answer;
    throw InputError("farandole: new: expected an answer to " + quoted(question) + ", got the end of the input");
  }
  static bool is_terminal() { return isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0; }

  bool asks_;
};

double times_thinner(const std::string& text) {
  const std::string number = text.ends_with(":1") ? text.substr(0, text.size() - 2) : text;
  double times = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), times);
  if (error != std::errc{} || end != number.data() + number.size() || !(times >= 1) || times > most_oversubscription)
    refuse_option("--oversubscription",
                  fmt::format("1 to {} times the rate of NICs, such as 2 or 2:1", most_oversubscription), text);
  return times;
}

/// What the options say of the machine's network.
nlohmann::ordered_json network_override(const NewArguments& said, const Topology& machine, int nodes) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  if (said.fabric.empty() && said.oversubscription.empty() && said.rails.empty() && said.nic.empty()) return all;
  const OptionValue name("--topology", said.topology);
  if (is_graph_file(machine.file.string())) name.value().fail("a topology file, whose nodes have NICs");
  Document file = Document::read(machine.file);
  if (!said.nic.empty()) {
    const MachineNetwork own(file, name.value());
    own.scale(all, rate_option("--nic", said.nic) / own.nic());
    for (const auto& [pointer, value] : all.items()) file.set(pointer, value.dump());
  }
  const MachineNetwork network(std::move(file), name.value());
  if (!said.oversubscription.empty()) network.thin(all, 1 / times_thinner(said.oversubscription), nodes);
  if (!said.rails.empty()) {
    const int rails = whole_number("--rails", said.rails, 1);
    if (std::cmp_greater(rails, network.nics()))
      refuse_option("--rails", fmt::format("1 to {} NICs of a node of {}", network.nics(), said.topology), said.rails);
    if (network.nics() > 1) network.keep_nics(all, static_cast<std::size_t>(rails));
  }
  const std::map<std::string, std::string> protocols{{"infiniband", "infiniband"}, {"roce", "roce_v2"}};
  if (said.fabric.empty()) return all;
  const auto protocol = protocols.find(said.fabric);
  if (protocol == protocols.end())
    OptionValue("--fabric", said.fabric).value().fail_unknown("a fabric", {"infiniband", "roce"});
  network.speak(all, protocol->second);
  return all;
}

void refuse_unknown_strategy(const std::string& name) {
  std::vector<std::string> known;
  for (const StrategyRow& row : strategies()) known.push_back(row.name);
  if (name.empty() || std::ranges::find(known, name) != known.end()) return;
  OptionValue("--strategy", name).value().fail_unknown("a strategy", known);
}

/// By pointers into the draft, what options say of it and what was pasted; parts of it by what is most often changed.
std::map<std::string, std::string> origins_of(const NewArguments& said, const PastedJob& job) {
  std::map<std::string, std::string> origins = job.origins;
  const auto add = [&](bool is_said, const char* pointer, const std::string& option) {
    if (is_said) origins[pointer] = "farandole: " + option;
  };
  add(true, "/platform/topology", "--topology");
  add(!said.batch.empty(), "/workload/batch_per_rank", "--batch");
  add(!said.model.empty(), "/workload/model", "--model");
  add(!said.strategy.empty() && !is_strategy_file(said.strategy), "/strategy/kind", "--strategy");
  add(!said.ranks.empty(), "/platform/ranks", "--ranks");
  for (const auto& [text, option] : {std::pair{&said.nic, "--nic"},
                                     {&said.rails, "--rails"},
                                     {&said.oversubscription, "--oversubscription"},
                                     {&said.fabric, "--fabric"}})
    add(!text->empty(), "/platform/override", option);
  origins.try_emplace("/platform",
                      origins.contains("/platform/ranks") ? origins["/platform/ranks"] : "farandole: --topology");
  for (const char* member : {"/workload/batch_per_rank", "/workload/model"}) {
    if (origins.contains(member)) origins.try_emplace("/workload", origins[member]);
  }
  origins.try_emplace("/workload", "farandole: --model");
  origins.try_emplace("/strategy",
                      origins["/strategy/kind"].empty() ? origins["/platform"] : origins["/strategy/kind"]);
  return origins;
}

/// The launch line, in which "gpu" and "auto" are as many ranks as a node of the machine has devices, where the line
/// does not say how many it has.
std::string launch_of(const NewArguments& said, const Catalogue& catalogue) {
  if (said.launch.empty()) return "";
  const std::string text = launch_text(said.launch);
  const bool is_open = text.find("gpu") != std::string::npos || text.find("auto") != std::string::npos;
  if (!is_open || said.topology.empty()) return text;
  const OptionValue line("--launch", text);
  const auto is_clear = [&](const std::string& pasted) {
    try {
      parse_launch_line(pasted, line.value(), read_text);
      return true;
    } catch (const InputError&) {
      return false;
    }
  };
  if (is_clear(text)) return text;
  const OptionValue machine("--topology", said.topology);
  std::string devices = "CUDA_VISIBLE_DEVICES=0";
  for (int i = 1; i < catalogue.topology(said.topology, machine.value()).devices_per_node; ++i) {
    devices += fmt::format(",{}", i);
  }
  const std::string counted = devices + "\n" + text;
  return is_clear(counted) ? counted : text;
}

/// Another than that of a file which the scenario names and which is held against it.
void refuse_other_batch(const NewArguments& said, const PastedJob& job) {
  const auto origin = job.origins.find("/workload/batch_per_rank");
  const bool is_named = std::ranges::any_of(
      job.settings, [](const auto& setting) { return setting.first == "llm_foundry" || setting.first == "deepspeed"; });
  if (said.batch.empty() || !is_named || origin == job.origins.end()) return;
  if (origin->second.starts_with("farandole:") || whole_number("--batch", said.batch, 1) == job.batch) return;
  refuse_option("--batch", fmt::format("{} as {} says, or no --batch", job.batch, origin->second), said.batch);
}

/// What is pasted, in place of what was not said by options and would be asked.
PastedJob take_pasted(NewArguments& said, const Catalogue& catalogue) {
  if (!is_strategy_file(said.strategy)) refuse_unknown_strategy(said.strategy);
  const std::vector<int> ranks = said.ranks.empty() ? std::vector<int>{} : rank_counts(said.ranks);
  PastedJob job =
      pasted_job(launch_of(said, catalogue), said.strategy, ranks.size() == 1 ? ranks.front() : 0, said.model);
  refuse_other_batch(said, job);
  job.origins = origins_of(said, job);
  said.strategy = job.strategy;
  if (said.model.empty()) said.model = job.model;
  if (said.model.empty() && !job.model_lacks.empty()) {
    throw InputError(fmt::format("{}: expected {} for the model of its arguments, or --model, got \"neither\"",
                                 job.origins.at(of_model_file), job.model_lacks));
  }
  const bool is_other = !said.ranks.empty() && rank_counts(said.ranks) != std::vector<int>{job.ranks};
  if (job.line && is_other) {
    refuse_option("--ranks", fmt::format("{} as the launch line says, or no --ranks", job.ranks), said.ranks);
  }
  if (said.ranks.empty() && job.ranks > 0) said.ranks = std::to_string(job.ranks);
  if (said.batch.empty() && job.batch > 0) said.batch = std::to_string(job.batch);
  return job;
}

/// A placement where the line fills nodes otherwise than one after the other with all devices.
std::string placement_of(const PastedJob& job, const Topology& topology, const std::string& launch) {
  if (!job.line) return "";
  const std::vector<Host>& hosts = job.line->hosts;
  const bool is_uneven =
      std::ranges::any_of(hosts, [&](const Host& host) { return host.slots != hosts.front().slots; });
  if (is_uneven) return "\"launch\": " + json_text(launch_text(launch));
  int on_a_node = hosts.empty() ? job.ranks_per_node : hosts.front().slots;
  const bool fills_one = on_a_node >= job.ranks && on_a_node <= topology.devices_per_node;
  if (on_a_node == topology.devices_per_node || fills_one) on_a_node = 0;
  std::vector<std::string> members;
  if (on_a_node > 0) members.push_back(fmt::format("\"ranks_per_node\": {}", on_a_node));
  if (job.line->by_node) members.push_back("\"order\": \"by_node\"");
  if (members.empty()) return "";
  return fmt::format(",\n    \"placement\": {{ {} }}", fmt::join(members, ", "));
}

void ask_for_the_rest(NewArguments& said, const Questions& questions, const Model& model, const PastedJob& job,
                      Draft& draft) {
  const std::string which =
      fmt::format("Numbers of ranks, empty for those of {} that fit", fmt::join(draft.ranks, ","));
  questions.ask(which, "", said.ranks, [&](const std::string& text) {
    if (!text.empty()) draft.ranks = rank_counts(text);
  });
  Model trained = model;
  if (job.sequence_length > 0) trained.sequence_length = job.sequence_length;
  questions.ask("Samples of a rank's batch", std::to_string(usual_batch(trained)), said.batch,
                [&](const std::string& text) { draft.batch = whole_number("--batch", text, 1); });
  questions.ask("Strategy, empty for what fits (farandole show strategies)", "", said.strategy,
                [&](const std::string& name) { refuse_unknown_strategy(name); });
}

Draft draft_of(NewArguments& said, const PastedJob& job, const Questions& questions, const Catalogue& catalogue) {
  Draft draft;
  Model model;
  Topology topology;
  const auto required = [&](const char* option, const std::string& what, const std::string& text) {
    if (text.empty()) refuse_option(option, what + (questions.asks() ? "" : ", as nobody is there to ask"), text);
  };
  questions.ask("Model (farandole show models)", "", said.model, [&](const std::string& name) {
    required("--model", "a model", name);
    model = catalogue.model(name, OptionValue("--model", name).value()).variants.front();
  });
  questions.ask("Machine (farandole show topologies)", "", said.topology, [&](const std::string& name) {
    required("--topology", "a topology", name);
    topology = catalogue.topology(name, OptionValue("--topology", name).value());
  });
  draft.ranks = usual_ranks(topology);
  ask_for_the_rest(said, questions, model, job, draft);
  draft.override = network_override(said, topology, std::max(1, draft.ranks.back() / topology.devices_per_node));
  draft.name = std::filesystem::path(said.file).stem();
  draft.model = said.model;
  draft.topology = said.topology;
  draft.placement = placement_of(job, topology, said.launch);
  draft.sequence_length = job.sequence_length;
  draft.settings = job.settings;
  draft.more = job.workload;
  const OptionValue device("--topology", topology.device);
  draft.precision = !job.precision.empty()    ? job.precision
                    : topology.device.empty() ? "fp32"
                                              : usual_precision(catalogue.device(topology.device, device.value()));
  draft.optimizer = !job.optimizer.empty() ? job.optimizer : model.sequence_length == 0 ? "momentum" : "adam";
  return draft;
}

/// The model that a launch line lays, in a file beside the scenario; taken away where that comes to nothing.
class ModelFile {
 public:
  ModelFile(NewArguments& said, const PastedJob& job) {
    if (!said.model.empty() || job.model_file.empty()) return;
    file_ = std::filesystem::path(said.file).replace_extension().string() + "-model.json";
    require_free(
        "FILE", file_, [](const std::filesystem::path&) { return false; },
        fmt::format("; the model of {} is to be there: move it, name another FILE, or say --model", quoted(said.file)));
    write_file(file_, [&](std::ostream& out) { out << job.model_file; });
    said.model = file_;
  }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  ~ModelFile() {
    std::error_code none;
    if (!is_kept_ && !file_.empty()) std::filesystem::remove(file_, none);
  }
  void keep() { is_kept_ = true; }
  [[nodiscard]] const std::string& name() const { return file_; }

 private:
  std::string file_;
  bool is_kept_ = false;
};

Draft chosen_draft(NewArguments& said, const PastedJob& job, const Questions& questions, const ModelFile& model,
                   const Catalogue& catalogue) {
  try {
    return choose_way(draft_of(said, job, questions, catalogue), said, job, catalogue);
  } catch (const InputError& error) {
    const std::string message = of_origins(error.what(), job, said.file);
    throw InputError(of_origins(message, job, model.name(), of_model_file));
  }
}

void write_new(NewArguments said) {
  constexpr std::size_t most_shown = 2000;
  if (std::filesystem::path(said.file).extension() != ".json") {
    refuse_option("FILE", "a name that ends in .json", said.file);
  }
  require_free(
      "FILE", said.file, [](const std::filesystem::path&) { return false; }, "");
  try_file(said.file);
  const Catalogue catalogue;
  const Questions questions(said);
  const PastedJob job = take_pasted(said, catalogue);
  ModelFile model(said, job);
  const Draft draft = chosen_draft(said, job, questions, model, catalogue);
  model.keep();
  write_file(said.file, [&](std::ostream& out) { out << draft_text(draft); });
  std::cout << fmt::format(
      "{}: {} on {}, {} ranks, {} in {}, {} a rank{}\n", said.file, draft.model, draft.topology,
      fmt::join(draft.ranks, ", "), draft.strategy, draft.precision,
      draft.batch == 1 ? "1 sample" : std::to_string(draft.batch) + " samples",
      draft.recompute == "none" ? "" : ", recomputing (" + draft.recompute + ")" + draft.why_recompute);
  if (!job.unused.empty())
    std::cout << "Not used: " << one_line(fmt::format("{}", fmt::join(job.unused, "; ")), most_shown) << "\n";
  std::cout << "Next: farandole run " << said.file << " --explain\n";
}

}  // namespace

void add_new(CLI::App& app) {
  auto said = std::make_shared<NewArguments>();
  CLI::App* command = app.add_subcommand("new", "Write a scenario of your own, from options or from a few questions");
  command->add_option("file", said->file, "the file to write, which must not exist yet (default: scenario.json)")
      ->type_name("FILE");
  command->add_option("--model", said->model, "the model: a name of `show models`, or a file");
  command->add_option("--topology,--machine", said->topology, "the machine: a name of `show topologies`, or a file");
  command
      ->add_option(
          "--launch", said->launch,
          "a launch line, pasted, or the file of a script that has one: torchrun, srun, accelerate launch, "
          "deepspeed, horovodrun, mpirun, aprun; sets ranks and placement, and what its options say of the job")
      ->type_name("LINE|FILE");
  command->add_option("--ranks", said->ranks, "numbers of ranks to compare (default: one device to 16 nodes)")
      ->type_name("N,N,...");
  command->add_option("--batch", said->batch, "samples of one rank's batch (default: 64 images, or some 4,096 tokens)");
  command->add_option(
      "--strategy", said->strategy,
      "a name of `show strategies`, or a file of accelerate, DeepSpeed, llm-foundry, torchtitan or NeMo (default: "
      "what the launch line says, or ddp, or fsdp where memory asks for it)");
  command
      ->add_option("--fabric", said->fabric,
                   "what the machine's NICs and switches speak in place of what its file says: infiniband or roce")
      ->type_name("NAME");
  command
      ->add_option("--oversubscription", said->oversubscription,
                   "links between switches have so many times less rate than the machine's file says: 2 or 2:1")
      ->type_name("N");
  command->add_option("--rails", said->rails, "a node has so many of its NICs alone")->type_name("N");
  command->add_option("--nic", said->nic, "the rate of every NIC, and links between switches with it")
      ->type_name("RATE");
  command->add_flag("--ask", said->asks, "ask for missing options even where input is no terminal");
  command->footer(
      "Example:\n"
      "  farandole new mine.json --model resnet50 --topology dgx-a100\n"
      "  farandole new mine.json --model config.json --machine hgx-h100 --strategy accelerate.yaml \\\n"
      "      --fabric roce --oversubscription 2:1 --launch \"torchrun --nnodes 4 --nproc-per-node 8 train.py\"");
  command->callback([said] { write_new(*said); });
}

}  // namespace farandole
