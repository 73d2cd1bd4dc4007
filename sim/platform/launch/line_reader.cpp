#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {
namespace {

using Words = std::span<const std::string>;

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Typographic hyphens and dashes, U+2010 to U+2015 and the minus sign, which word processors put for "-".
bool is_typographic_dash(std::string_view word) {
  return (word.starts_with("\xe2\x80") && word.size() > 2 && word[2] >= '\x90' && word[2] <= '\x95') ||
         word.starts_with("\xe2\x88\x92");
}

const Option* find_option(const Launcher& launcher, std::string name) {
  std::ranges::replace(name, '_', '-');
  for (const Option& option : launcher.options) {
    if (is_among(option.names, name)) return &option;
  }
  return nullptr;
}

std::vector<std::string> option_names(const Launcher& launcher) {
  std::vector<std::string> result;
  for (const Option& option : launcher.options) {
    for (std::string_view names = option.names; !names.empty();) {
      const std::string name(take_until(names, ' '));
      result.push_back((name.size() == 1 ? "-" : "--") + name);
    }
  }
  return result;
}

/// An option word taken apart: "--num-proc=16" and, where the launcher allows it, "-n128".
struct Spelling {
  std::string dashes;
  std::string name;
  std::optional<std::string> value;
};

Spelling spell(const std::string& word, const Launcher& launcher) {
  const auto start = std::min({word.find_first_not_of('-'), std::size_t{2}, word.size()});
  const std::string dashes = word.substr(0, start);
  const std::string body = word.substr(start);
  if (const auto equals = body.find('='); equals != std::string::npos) {
    return {dashes, body.substr(0, equals), body.substr(equals + 1)};
  }
  const bool attached = launcher.attached && dashes == "-" && body.size() > 1 && is_number(body.substr(1));
  if (attached) return {dashes, body.substr(0, 1), body.substr(1)};
  return {dashes, body, std::nullopt};
}

[[noreturn]] void fail_unknown(const Reading& reading, const Launcher& launcher, const Spelling& spelling) {
  const std::string written = spelling.dashes + spelling.name;
  std::string hint;
  const auto letters = spelling.name.find_first_of("0123456789");
  const std::string head = spelling.name.substr(0, letters);
  if (letters != std::string::npos && find_option(launcher, head) != nullptr) {
    hint = "; did you mean " + quoted(spelling.dashes + head + " " + spelling.name.substr(letters)) + "?";
  } else if (spelling.name.size() > 3) {
    hint = suggestion("--" + spelling.name, option_names(launcher));
  }
  reading.where.fail("an option of " + std::string(launcher.name), quoted(written), hint);
}

/// Fills in the arguments of `given` from the words after it and returns what is left of them.
Words take_arguments(const Reading& reading, const Option& option, Given& given, Words words) {
  if (!given.arguments.empty() && option.arguments == 0) {
    reading.where.fail("no argument of " + given.name, quoted(given.arguments.front()));
  }
  while (std::ssize(given.arguments) < option.arguments) {
    if (given.arguments.size() == 1 && is_setting(given.arguments.front())) break;
    if (!words.empty() && words.front() == "\n") words = words.subspan(1);
    if (words.empty() || words.front() == ";") {
      reading.where.fail("an argument after " + given.name, "the end of the launch line");
    }
    given.arguments.push_back(words.front());
    words = words.subspan(1);
  }
  return words;
}

Words read_option(Reading& reading, const Launcher& launcher, Words words) {
  const Spelling spelling = spell(words.front(), launcher);
  const Option* option = find_option(launcher, spelling.name);
  if (option == nullptr) fail_unknown(reading, launcher, spelling);
  Given given{spelling.dashes + spelling.name, {}, option->variable};
  if (spelling.value) given.arguments.push_back(*spelling.value);
  words = take_arguments(reading, *option, given, words.subspan(1));
  option->act(reading, given);
  return words;
}

/// Variables of options that are not known, $SRUN_ARGS, leave nothing.
Words read_options(Reading& reading, const Launcher& launcher, Words words) {
  for (; !words.empty(); words = words.subspan(1)) {
    while (!words.empty() && words.front().starts_with('-') && words.front() != "-") {
      if (words.front() == "--") return words.subspan(1);
      words = read_option(reading, launcher, words);
    }
    const auto names = [&](const char* part) { return words.front().find(part) != std::string::npos; };
    if (words.empty() || !words.front().starts_with('$') || !(names("ARG") || names("OPT") || names("FLAG"))) break;
    reading.ignored.push_back(words.front());
  }
  return words;
}

Words command_of(Words words) {
  const auto end = std::ranges::find_if(words, [](const std::string& word) { return word == "\n" || word == ";"; });
  return words.first(static_cast<std::size_t>(end - words.begin()));
}

/// Prompt, settings, words of the shell and harmless commands before the launcher: how many words they are.
std::size_t prologue_of(Words command) {
  constexpr std::size_t longest_prompt = 3;
  std::size_t length = 0;
  for (std::size_t i = 0; i < std::min(longest_prompt, command.size()); ++i) {
    if (command[i].ends_with('$') && command[i].find('=') == std::string::npos) length = i + 1;
  }
  while (length < command.size() &&
         (is_setting(command[length]) || is_among("env time nohup exec sudo then do else ( { !", command[length]))) {
    ++length;
  }
  return length;
}

/// The launcher that words begin with, if any, and the words after it.
std::pair<const Launcher*, Words> launcher_at(Words words) {
  std::string_view program = std::string_view(words.front()).substr(words.front().rfind('/') + 1);
  if (program.starts_with("python")) {
    const auto module = std::ranges::find_if(
        words.subspan(1), [](const std::string& word) { return word == "-m" || !word.starts_with('-'); });
    words = words.subspan(static_cast<std::size_t>(module - words.begin()));
    if (words.size() < 2 || words.front() != "-m") return {nullptr, words};
    words = words.subspan(1);
    program = words.front();
  }
  if (program == "accelerate") {
    if (words.size() < 2 || words[1] != "launch") return {nullptr, words};
    words = words.subspan(1);
  }
  for (const Launcher& launcher : launchers()) {
    if (is_among(launcher.programs, program)) return {&launcher, words.subspan(1)};
  }
  return {nullptr, words};
}

/// The first launcher anywhere before a script of Python: behind containers, profilers, `bash -c`.
std::pair<const Launcher*, Words> launcher_among(Words words) {
  for (; !words.empty() && !words.front().ends_with(".py"); words = words.subspan(1)) {
    if (const auto found = launcher_at(words); found.first != nullptr) return found;
  }
  return {nullptr, words};
}

/// The launcher of a command, which may be behind a program that starts others.
std::pair<const Launcher*, Words> launcher_of(Words command, Words words) {
  const std::size_t start = prologue_of(command);
  if (start == command.size()) return {nullptr, words};
  const bool is_wrapped = is_among(
      "uv poetry pixi pdm conda micromamba singularity apptainer docker podman enroot shifter numactl nsys ncu stdbuf "
      "timeout taskset bash sh",
      command[start]);
  return is_wrapped ? launcher_among(command.subspan(start)) : launcher_at(words.subspan(start));
}

/// From the command on that starts the job: the first that launches Python, or else anything.
Words from_the_launch(Words script) {
  std::optional<Words> first;
  for (Words rest = script; !rest.empty();) {
    const Words command = command_of(rest);
    if (launcher_of(command, rest).first != nullptr) {
      if (!first) first = rest;
      const bool is_python = std::ranges::any_of(command, [](const std::string& word) {
        return word.find(".py") != std::string::npos || word.find("python") != std::string::npos || word == "-m";
      });
      if (is_python) return rest;
    }
    rest = rest.subspan(std::min(command.size() + 1, rest.size()));
  }
  return first.value_or(script);
}

[[noreturn]] void fail_without_launcher(const Reading& reading, Words script) {
  const Words command = command_of(script);
  const std::size_t start = prologue_of(command);
  std::string got = "no launcher";
  std::string hint;
  if (start < command.size() && command.size() + 1 >= script.size()) {
    std::vector<std::string> known{"accelerate launch"};
    for (const Launcher& launcher : launchers()) known.emplace_back(launcher.name);
    got = quoted(command[start]);
    hint = suggestion(command[start], known);
    if (!hint.starts_with("; did") || is_among("jsrun prun ibrun lrun flux", command[start])) hint.clear();
  }
  reading.where.fail(
      "a launch line of torchrun, srun, accelerate launch, deepspeed, horovodrun, mpirun, mpiexec or aprun", got, hint);
}

void check_program(const Reading& reading, Words words) {
  if (words.empty()) return;
  if (is_typographic_dash(words.front())) reading.where.fail("options that begin with \"-\"", quoted(words.front()));
  if (std::ranges::find(words, ":") != words.end()) reading.where.fail("one program", "several, separated by \":\"");
}

/// The words of what a launcher starts, once more with variables that are known by now, and those of `bash -c`.
std::vector<std::string> opened(Words program, Reading& script) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const bool is_script = i > 0 && is_among("-c -lc -ic -cl", program[i - 1]);
    if (is_script || program[i].starts_with('$')) {
      std::ranges::copy(split_words(program[i], script, 1), std::back_inserter(result));
      if (!is_script && !result.empty()) result.pop_back();  // the end of a command
    } else {
      result.push_back(program[i]);
    }
  }
  return result;
}

/// A launcher that another one starts: once on each node, and on as many nodes as it counts.
void check_nested(const Reading& outer, const Reading& inner, const Launcher& launcher) {
  const std::string name(launcher.name);
  if (outer.ranks_per_node.value_or(1) > 1) {
    outer.where.fail("one " + name + " on a node", std::to_string(*outer.ranks_per_node));
  }
  std::optional<int> started = outer.ranks;
  if (!outer.hosts.empty() && !started) started = static_cast<int>(outer.hosts.size());
  if (!started || !inner.nodes || *inner.nodes == *started) return;
  outer.where.fail(name + " for the " + std::to_string(*started) + " nodes that it is started on",
                   std::to_string(*inner.nodes));
}

/// Options of the program itself that say what is trained, and how, as Transformers, DeepSpeed, Megatron-LM and
/// torchtitan ("--training.seq_len") call them.
void read_program(Reading& reading, Words program) {
  static constexpr std::string_view known =
      "fsdp fsdp-config deepspeed deepspeed-config bf16 fp16 fp8-format gradient-checkpointing batch-size "
      "gradient-accumulation-steps per-device-train-batch-size micro-batch-size global-batch-size max-seq-length "
      "seq-length block-size max-position-embeddings tensor-model-parallel-size pipeline-model-parallel-size "
      "context-parallel-size expert-model-parallel-size num-layers-per-virtual-pipeline-stage num-layers hidden-size "
      "ffn-hidden-size num-attention-heads group-query-attention num-query-groups kv-channels swiglu normalization "
      "position-embedding-type untie-embeddings-and-output-weights vocab-size padded-vocab-size tokenizer-type "
      "num-experts sequence-parallel use-distributed-optimizer overlap-grad-reduce overlap-param-gather "
      "grad-reduce-in-bf16 accumulate-allreduce-grads-in-fp32 use-torch-fsdp2 use-megatron-fsdp recompute-activations "
      "recompute-granularity recompute-method recompute-num-layers optimizer max-length model-max-length cutoff-len";
  static constexpr std::string_view tables =
      "job model optimizer training parallelism activation-checkpoint compile float8";
  for (; !program.empty(); program = program.subspan(1)) {
    const auto [dashes, written, value] = spell(program.front(), srun());
    std::string name = written;
    std::ranges::replace(name, '_', '-');
    const auto dot = name.find('.');
    const bool is_known = dot == std::string::npos ? is_among(known, name) : is_among(tables, name.substr(0, dot));
    if (dashes.empty() || !is_known) continue;
    const bool is_next = !value && program.size() > 1 && !program[1].starts_with('-');
    reading.job.emplace_back(dashes + written, value ? *value : is_next ? program[1] : "");
  }
}

/// What the script says, of a line of it.
Reading started_from(const Reading& script) {
  Reading reading{script.where, script.read_file};
  reading.environment = script.environment;
  reading.ignored = script.ignored;
  reading.devices = script.devices;
  const auto visible = script.variables.find("CUDA_VISIBLE_DEVICES");
  if (!reading.devices && visible != script.variables.end() && !visible->second.empty()) {
    reading.devices = static_cast<int>(std::ranges::count(visible->second, ',')) + 1;
  }
  return reading;
}

}  // namespace

std::pair<const Launcher*, Reading> read_line(std::string_view text, const Value& where, const TextReader& read_file) {
  Reading script{where, read_file};
  const std::vector<std::string> pasted = split_words(text, script);
  Words words = from_the_launch(pasted);
  const auto [launcher, rest] =
      words.empty() ? std::pair<const Launcher*, Words>{} : launcher_of(command_of(words), words);
  if (launcher == nullptr) fail_without_launcher(script, pasted);
  for (const std::string& word : words.first(prologue_of(command_of(words)))) {
    if (is_setting(word)) set_variable(script, {"", {word}, {}});
    if (is_among("env time nohup exec", word)) script.ignored.push_back(word);
  }
  Reading reading = started_from(script);
  words = read_options(reading, *launcher, rest);
  launcher->settle(reading, script);
  check_program(reading, command_of(words));
  if (launcher == &srun()) {
    script.nodes = reading.nodes;
    script.ranks = reading.ranks;
    script.ranks_per_node = reading.ranks_per_node;
  }
  const std::vector<std::string> started = opened(command_of(words), script);
  const auto [inner, inner_rest] = launcher_among(started);
  if (inner == nullptr) {
    read_program(reading, started);
    return {launcher, reading};
  }
  Reading step = started_from(script);
  step.environment = reading.environment;
  step.ignored = reading.ignored;
  words = command_of(read_options(step, *inner, inner_rest));
  inner->settle(step, script);
  check_nested(reading, step, *inner);
  check_program(step, words);
  read_program(step, words);
  return {inner, step};
}

void read_allocation(Words words, Reading& script) {
  const std::vector<std::string> ignored = script.ignored;
  while (!words.empty()) {
    const bool is_known =
        words.front().starts_with('-') && find_option(srun(), spell(words.front(), srun()).name) != nullptr;
    words = is_known ? read_option(script, srun(), words) : words.subspan(1);
  }
  script.ignored = ignored;
}

}}}  // namespace farandole::platform::launch
