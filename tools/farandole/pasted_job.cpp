#include "pasted_job.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "config/document.hpp"
#include "config/section.hpp"
#include "config/text.hpp"
#include "job_options.hpp"
#include "report/record.hpp"
#include "toml.hpp"
#include "training/pasted/pasted.hpp"

namespace farandole {
namespace {

bool is_toml_file(const std::string& file, const std::string& text) {
  return file.ends_with(".toml") || is_toml(text);
}

Document tree_of_file(const std::string& file) {
  const std::string text = read_text(file);
  if (file.ends_with(".json")) return Document::parse(text, file);
  Document document = Document::parse("{}", file);
  const Node tree = is_toml_file(file, text) ? parse_toml(text, file) : parse_yaml(text, file);
  for (const auto& [key, value] : Value(tree, "").members()) document.set("/" + pointer_token(key), value.node());
  return document;
}

std::string word_at(const Document& file, const std::string& pointer) {
  const auto value = file.find(pointer);
  if (!value) return {};
  const auto* text = std::get_if<std::string>(&value->node().value);
  const auto* flag = std::get_if<bool>(&value->node().value);
  return text != nullptr ? *text : flag != nullptr ? (*flag ? "true" : "no") : "";
}

int count_at(const Document& file, const std::string& pointer) {
  const auto value = file.find(pointer);
  const auto* number = value ? std::get_if<std::int64_t>(&value->node().value) : nullptr;
  if (number == nullptr) return 0;
  return read_at_least(*value, 1);
}

std::string where_at(const Document& file, const std::string& pointer) {
  return where_of(file.find(pointer).value_or(file.root()));
}

/// 0: not said.
void add_passes(PastedJob& job, int passes, const std::string& where) {
  if (passes > 0) add_setting(job, "accumulation", std::to_string(passes), where);
}

/// accelerate's "no" is single precision.
std::string precision_of(const std::string& mixed) {
  return mixed == "no" ? "fp32" : mixed;
}

/// Of ZeRO, where accelerate is told none.
constexpr int usual_stage = 2;

void take_strategy_file(PastedJob& job, const std::string& file);

/// As it stands in the scenario, below a key of the strategy.
std::string inlined(const nlohmann::ordered_json& object) {
  std::string text;
  for (const char c : object.dump(2)) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text;
}

/// A stage 0 or none is what ddp does.
void take_deepspeed_file(PastedJob& job, const Document& file) {
  const auto stage = file.find("/zero_optimization/stage");
  if (stage && stage->is_string()) stage->fail("0, 1, 2 or 3");
  const int passes = std::max(1, count_at(file, "/gradient_accumulation_steps"));
  if (count_at(file, "/zero_optimization/stage") == 0) {
    refuse_unknown_of_deepspeed(file.root());
    job.strategy = "ddp";
  } else {
    job.strategy = "zero";
    add_setting(job, "deepspeed", json_text(file.source()));
  }
  for (const char* type : {"bf16", "fp16"}) {
    const std::string key = fmt::format("/{}/enabled", type);
    if (word_at(file, key) != "true") continue;
    take_first<std::string>(job, job.precision, type, "/workload/precision", where_at(file, key));
  }
  take_first(job.optimizer, optimizer_named(word_at(file, "/optimizer/type")));
  if (count_at(file, "/gradient_accumulation_steps") > 0) {
    std::erase_if(job.settings, [](const auto& setting) { return setting.first == "accumulation"; });
    if (job.strategy == "ddp") add_passes(job, passes, where_at(file, "/gradient_accumulation_steps"));
  }
  const auto take_batch = [&](int samples, const char* key) {
    take_first(job, job.batch, samples, "/workload/batch_per_rank", where_at(file, key));
  };
  take_batch(count_at(file, "/train_micro_batch_size_per_gpu"), "/train_micro_batch_size_per_gpu");
  if (const int all = count_at(file, "/train_batch_size"); all > 0 && job.ranks > 0) {
    take_batch(std::max(1, all / job.ranks / passes), "/train_batch_size");
  }
}

/// "deepspeed_config" of accelerate, or what its command line says of it.
void take_zero(PastedJob& job, int stage, const std::string& optimizer_device, const std::string& parameter_device) {
  if (stage == 0) return take_first<std::string>(job.strategy, "ddp");
  job.strategy = "zero";
  nlohmann::ordered_json zero{{"stage", stage}};
  if (!optimizer_device.empty()) zero["offload_optimizer"]["device"] = optimizer_device;
  if (!parameter_device.empty()) zero["offload_param"]["device"] = parameter_device;
  const nlohmann::ordered_json half{{"enabled", "auto"}};
  add_setting(job, "deepspeed", inlined({{"zero_optimization", zero}, {"bf16", half}, {"fp16", half}}));
}

void take_deepspeed_of_accelerate(PastedJob& job, const Document& file) {
  const std::string own = "/deepspeed_config/";
  if (const std::string named = word_at(file, own + "deepspeed_config_file"); !named.empty()) {
    return take_strategy_file(job, named);
  }
  const auto stage = file.find(own + "zero_stage");
  take_zero(job, stage ? read_between(*stage, 0, 3) : usual_stage, word_at(file, own + "offload_optimizer_device"),
            word_at(file, own + "offload_param_device"));
  const std::string passes = own + "gradient_accumulation_steps";
  add_passes(job, count_at(file, passes), where_at(file, passes));
}

/// Without what the launch line says otherwise.
void take_fsdp_of_accelerate(PastedJob& job, Document file) {
  take_first<std::string>(job.strategy, "fsdp");
  for (const char* key :
       {"/fsdp_config/fsdp_activation_checkpointing", "/fsdp_activation_checkpointing", "/activation_checkpointing"}) {
    if (word_at(file, key) != "true") continue;
    take_first<std::string>(job, job.recompute, "full", "/workload/recompute", where_at(file, key));
  }
  bool is_as_it_is = true;
  const auto leave_out = [&](const char* key, bool agrees) {
    const auto value = file.find(key);
    if (!value || agrees) return;
    job.unused.push_back(fmt::format("{} {} of {}", key + 1, value->describe(), file.source()));
    file.remove(key);
    is_as_it_is = false;
  };
  const int nodes = job.ranks_per_node == 0 ? 0 : (job.ranks + job.ranks_per_node - 1) / job.ranks_per_node;
  leave_out("/num_processes", count_at(file, "/num_processes") == job.ranks);
  leave_out("/num_machines", nodes == 0 || count_at(file, "/num_machines") == nodes);
  leave_out("/mixed_precision", precision_of(word_at(file, "/mixed_precision")) == job.precision);
  add_setting(job, "accelerate", is_as_it_is ? json_text(file.source()) : inlined(file.to_ordered_json()));
}

void take_accelerate_file(PastedJob& job, const Document& file) {
  take_first(job, job.precision, precision_of(word_at(file, "/mixed_precision")), "/workload/precision",
             where_at(file, "/mixed_precision"));
  if (const int ranks = count_at(file, "/num_processes"); job.ranks == 0 && ranks > 0) {
    take_first(job, job.ranks, ranks, "/platform/ranks", where_at(file, "/num_processes"));
    job.ranks_per_node = std::max(1, ranks / std::max(1, count_at(file, "/num_machines")));
  }
  const std::string type = word_at(file, "/distributed_type");
  if (type == "DEEPSPEED") return take_deepspeed_of_accelerate(job, file);
  if (type == "FSDP" || file.find("/fsdp_config")) return take_fsdp_of_accelerate(job, file);
  if (type != "MULTI_GPU" && type != "NO" && type != "no") {
    file.find("/distributed_type")->fail("FSDP, DEEPSPEED, MULTI_GPU or NO");
  }
  take_first<std::string>(job.strategy, "ddp");
  add_passes(job, count_at(file, "/gradient_accumulation_steps"), where_at(file, "/gradient_accumulation_steps"));
}

/// What the file says, and the line must not say otherwise: the scenario names the file, which is held against it.
template <class T>
void take_agreed(PastedJob& job, T& said, const T& value, const char* pointer, const std::string& where) {
  if (said == T{} || value == T{} || said == value) return take_first(job, said, value, pointer, where);
  throw InputError(fmt::format("{}: expected {} as {} says, got {}", where, said, job.origins[pointer],
                               quoted(fmt::format("{}", value))));
}

/// The count at a pointer, or at what it names: "${variables.max_seq_len}".
int foundry_count(const Document& file, const std::string& pointer) {
  std::string name = word_at(file, pointer);
  if (!name.starts_with("${") || !name.ends_with('}')) return count_at(file, pointer);
  name = name.substr(2, name.size() - 3);
  std::ranges::replace(name, '.', '/');
  return count_at(file, "/" + name);
}

/// Of samples of all ranks, where it is known how many there are and how many samples one takes at a time.
void take_foundry_passes(PastedJob& job, const Document& file) {
  constexpr const char* key = "/global_train_batch_size";
  const int all = foundry_count(file, key);
  if (all == 0) return;
  if (job.ranks == 0 || job.batch == 0) {
    job.unused.push_back(fmt::format("{} {} of {}", key + 1, all, file.source()));
    return;
  }
  const std::int64_t samples = std::int64_t{job.batch} * job.ranks;
  if (all % samples != 0) {
    file.find(key)->fail(
        fmt::format("a multiple of the {} samples of a pass, {} on each of {} ranks", samples, job.batch, job.ranks));
  }
  if (all > samples) add_passes(job, static_cast<int>(all / samples), where_at(file, key));
}

/// The YAML of a whole run of llm-foundry, as Composer's trainer reads it.
void take_llm_foundry_file(PastedJob& job, const Document& file) {
  take_first<std::string>(job.strategy, "fsdp");
  const std::string precision = word_at(file, "/precision");
  take_agreed(job, job.precision, precision.substr(precision.starts_with("amp_") ? 4 : 0), "/workload/precision",
              where_at(file, "/precision"));
  take_agreed(job, job.batch, foundry_count(file, "/device_train_microbatch_size"), "/workload/batch_per_rank",
              where_at(file, "/device_train_microbatch_size"));
  take_agreed(job, job.sequence_length, foundry_count(file, "/max_seq_len"), "/workload/sequence_length",
              where_at(file, "/max_seq_len"));
  constexpr const char* again = "/fsdp_config/activation_checkpointing";
  if (word_at(file, again) == "true")
    take_agreed<std::string>(job, job.recompute, "full", "/workload/recompute", where_at(file, again));
  take_foundry_passes(job, file);
  add_setting(job, "llm_foundry", json_text(file.source()));
}

void take_workload(PastedJob& job, JobOptions& options) {
  constexpr const char* precision = "/workload/precision";
  for (const char* type : {"fp16", "bf16"}) {
    if (options.take_flag(type)) take_first<std::string>(job, job.precision, type, precision, options.where({type}));
  }
  if (const auto type = options.take({"mixed-precision"})) {
    job.precision = precision_of(*type);
    job.origins[precision] = options.where({"mixed-precision"});
  }
  if (options.has("gradient-checkpointing")) {
    job.recompute = options.take_flag("gradient-checkpointing") ? "full" : "none";
    job.origins["/workload/recompute"] = options.where({"gradient-checkpointing"});
  }
  const auto take_number = [&](int& number, const char* pointer, std::initializer_list<const char*> names) {
    take_first(job, number, options.take_number(names, 0), pointer, options.where(names));
  };
  take_number(job.batch, "/workload/batch_per_rank", {"per-device-train-batch-size", "micro-batch-size"});
  take_number(job.sequence_length, "/workload/sequence_length",
              {"max-seq-length", "seq-length", "block-size", "max-length", "model-max-length", "cutoff-len"});
}

/// Whose configuration it is, by the keys that only it has.
void take_strategy_file(PastedJob& job, const std::string& file) {
  Document document = tree_of_file(file);
  const auto has = [&](std::initializer_list<const char*> keys) {
    return std::ranges::any_of(keys, [&](const char* key) { return document.find(key).has_value(); });
  };
  if (has({"/zero_optimization", "/train_micro_batch_size_per_gpu", "/train_batch_size"})) {
    return take_deepspeed_file(job, document);
  }
  if (has({"/distributed_type"})) return take_accelerate_file(job, document);
  const auto members = document.root().members();
  const bool is_prefixed = std::ranges::any_of(members, [](const auto& key) { return key.first.starts_with("fsdp_"); });
  if (has({"/max_duration", "/global_train_batch_size", "/mixed_precision"}) && has({"/fsdp_config"})) {
    return take_llm_foundry_file(job, document);
  }
  if (is_prefixed || has({"/backward_prefetch", "/transformer_layer_cls_to_wrap", "/reshard_after_forward"})) {
    return take_fsdp_of_accelerate(job, document);
  }
  if (has({"/parallelism", "/activation_checkpoint", "/job"}) && has({"/training"})) {
    for (const auto& [key, text] : job.overrides) {
      document.set(key, Document::parse(text, "--launch").root().node());
    }
    return take_torchtitan(job, document);
  }
  if (has({"/model"}) && has({"/trainer"})) {
    JobOptions options = nemo_options(job, document);
    take_workload(job, options);
    return take_megatron(job, options);
  }
  document.root().fail("a configuration of accelerate, DeepSpeed, llm-foundry, torchtitan or NeMo");
}

/// "full_shard auto_wrap" of Transformers' Trainer.
void take_sharding(PastedJob& job, const std::string& words) {
  static const std::map<std::string, const char*> known{{"full_shard", "FULL_SHARD"},
                                                        {"shard_grad_op", "SHARD_GRAD_OP"},
                                                        {"hybrid_shard", "HYBRID_SHARD"},
                                                        {"hybrid_shard_zero2", "_HYBRID_SHARD_ZERO2"},
                                                        {"no_shard", "NO_SHARD"}};
  take_first<std::string>(job.strategy, "fsdp");
  for (const auto& [word, sharding] : known) {
    if ((" " + words + " ").find(" " + word + " ") != std::string::npos) {
      add_setting(job, "sharding_strategy", json_text(sharding));
    }
  }
  if (words.find("offload") != std::string::npos) job.unused.push_back("offload of --fsdp " + words);
}

/// Options of the launcher and the program; a file that they name, where `--strategy` names none.
std::string take_options(PastedJob& job, JobOptions& options) {
  take_workload(job, options);
  if (options.has("num-layers") || options.has("tensor-model-parallel-size")) take_megatron(job, options);
  const auto deepspeed = options.take({"deepspeed-config", "deepspeed-config-file"});
  const auto flag_or_file = options.take({"deepspeed"});
  if (deepspeed || (flag_or_file && !flag_or_file->empty())) {
    options.take({"use-deepspeed"});
    return deepspeed ? *deepspeed : *flag_or_file;
  }
  if (options.take_flag("use-deepspeed")) {
    take_zero(job, options.take_number({"zero-stage"}, usual_stage, 0, 3),
              options.take({"offload-optimizer-device"}).value_or(""),
              options.take({"offload-param-device"}).value_or(""));
  }
  if (options.take_flag("use-fsdp")) {
    job.strategy = "fsdp";
    if (options.take_flag("fsdp-activation-checkpointing")) job.recompute = "full";
    nlohmann::ordered_json given = options.take_all("fsdp-");
    if (!given.empty()) add_setting(job, "accelerate", inlined(given));
  } else if (const auto words = options.take({"fsdp"})) {
    take_sharding(job, *words);
    return options.take({"fsdp-config"}).value_or("");
  }
  return options.take({"config-file", "job.config-file"}).value_or("");
}

/// Passes of a step, unless the file has a number of its own.
void take_passes(PastedJob& job, JobOptions& options) {
  constexpr const char* name = "gradient-accumulation-steps";
  const int count = options.take_number({name}, 0);
  if (count == 0) return;
  for (const auto& [key, json] : job.settings) {
    if ((key != "deepspeed" && key != "accelerate") || !json.starts_with('"')) continue;
    const Document file = tree_of_file(nlohmann::json::parse(json).get<std::string>());
    if (count_at(file, "/gradient_accumulation_steps") > 0) return;
  }
  add_passes(job, count, options.where({name}));
}

bool is_of_any_strategy(const std::string& key) {
  return key == "accumulation" || key == "pipeline" || key == "tensor_parallel" || key == "sequence_parallel";
}

/// What `--strategy` says goes before what the line says of it.
void put_strategy(PastedJob& job, const std::string& kind,
                  const std::vector<std::pair<std::string, std::string>>& said) {
  if (kind == job.strategy) return;
  job.strategy = kind;
  std::erase_if(job.settings, [](const auto& setting) { return !is_of_any_strategy(setting.first); });
  for (const auto& option : said) {
    const auto is_of_it = [&](const char* part) { return option.first.find(part) != std::string::npos; };
    if (is_of_it("fsdp") || is_of_it("deepspeed") || is_of_it("zero") || is_of_it("config"))
      job.unused.push_back(text_of(option));
  }
}

void take_environment(PastedJob& job) {
  if (!job.line || job.line->environment.empty()) return;
  if (job.strategy == "horovod") return add_setting(job, "settings", inlined(job.line->environment));
  for (const auto& [name, value] : job.line->environment) job.unused.push_back(name + "=" + value);
}

}  // namespace

void add_setting(PastedJob& job, const std::string& key, const std::string& json, const std::string& where) {
  if (std::ranges::any_of(job.settings, [&](const auto& setting) { return setting.first == key; })) return;
  job.settings.emplace_back(key, json);
  if (!where.empty()) job.origins["/strategy/" + key] = where;
}

std::string where_of(const Value& value) {
  const Place place = value.place();
  return fmt::format("{}{}: {}", place.source, place.line > 0 ? fmt::format(":{}", place.line) : "", place.pointer);
}

std::string optimizer_named(const std::string& name) {
  static const std::map<std::string, std::string> optimizers{
      {"Adam", "adam"}, {"AdamW", "adam"}, {"FusedAdam", "adam"}, {"SGD", "sgd"}, {"Lamb", "adam"}};
  const auto found = optimizers.find(name);
  return found == optimizers.end() ? "" : found->second;
}

bool is_strategy_file(const std::string& strategy) {
  std::error_code none;
  return strategy.find('/') != std::string::npos || strategy.ends_with(".json") || strategy.ends_with(".yaml") ||
         strategy.ends_with(".yml") || strategy.ends_with(".toml") ||
         (!strategy.empty() && std::filesystem::is_regular_file(strategy, none));
}

PastedJob pasted_job(const std::string& launch, const std::string& strategy, int ranks, const std::string& model) {
  PastedJob job;
  job.model = model;
  job.ranks = ranks;
  std::vector<std::pair<std::string, std::string>> said;
  if (!launch.empty()) {
    const OptionValue where("--launch", launch);
    job.line = parse_launch_line(launch, where.value(), read_text);
    job.ranks = job.line->ranks;
    job.origins["/platform"] = "farandole: --launch";
    job.ranks_per_node = job.line->ranks_per_node.value_or(0);
    job.unused = job.line->ignored;
    if (job.line->launcher == "horovodrun") job.strategy = "horovod";
    said = job.line->job;
  }
  JobOptions options(said);
  std::string file = take_options(job, options);
  if (!strategy.empty()) {
    file = is_strategy_file(strategy) ? strategy : "";
    put_strategy(job, file.empty() ? strategy : "", said);
  }
  if (!file.empty()) {
    if (is_toml_file(file, read_text(file))) job.overrides = options.take_dotted();
    take_strategy_file(job, file);
  }
  take_passes(job, options);
  take_environment(job);
  const std::string source = !file.empty() ? file : launch.empty() ? "" : "farandole: --launch";
  for (const char* part : {"/strategy", "/workload"}) {
    if (!source.empty()) job.origins[part] = source;
  }
  for (const std::string& left : options.left()) {
    if (std::ranges::find(job.unused, left) == job.unused.end()) job.unused.push_back(left);
  }
  return job;
}

std::string launch_text(const std::string& said) {
  std::error_code none;
  if (std::filesystem::exists(said, none) && !std::filesystem::is_directory(said, none)) return read_text(said);
  const bool is_a_name = said.find_first_of(" \t\n") == std::string::npos && said.find('.') != std::string::npos;
  if (is_a_name)
    refuse_option("--launch", "a launch line, or the name of a file that has one", said, "; there is no such file");
  return said;
}

}  // namespace farandole
