// torchtitan's job configuration as a scenario has it: keys and defaults of torchtitan's config/job_config.py of 2025,
// and of train_configs/*.toml before, where "parallelism" was in "training" and "experimental".
#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "config/section.hpp"
#include "config/text.hpp"
#include "pasted_job.hpp"
#include "platform/launch/launch.hpp"
#include "report/record.hpp"

namespace farandole {
namespace {

constexpr int most_of_a_degree = 1 << 20;

using Pointers = std::initializer_list<const char*>;

/// A table of torchtitan's, nested ones by their names with dots, and its keys of all releases.
struct TitanTable {
  std::string_view name;
  std::string_view keys;
};
constexpr std::array titan_tables{
    TitanTable{"job",
               "config_file dump_folder description use_for_integration_test print_args print_config save_config_file "
               "custom_config_module"},
    TitanTable{"profiling",
               "enable_profiling save_traces_folder profile_freq profiler_active profiler_warmup "
               "enable_memory_snapshot save_memory_snapshot_folder"},
    TitanTable{"metrics",
               "log_freq enable_tensorboard enable_color_printing disable_color_printing save_tb_folder "
               "save_for_all_ranks rank_0_only enable_wandb"},
    TitanTable{"model",
               "name flavor norm_type hf_assets_path tokenizer_path tokenizer_name converters print_after_conversion"},
    TitanTable{"optimizer", "name lr beta1 beta2 eps weight_decay implementation fused foreach early_step_in_backward"},
    TitanTable{"lr_scheduler", "warmup_steps total_steps decay_ratio decay_type lr_min min_lr_factor"},
    TitanTable{"training",
               "dataset dataset_path batch_size local_batch_size global_batch_size seq_len max_norm steps warmup_steps "
               "enable_cpu_offload dtype mixed_precision_param mixed_precision_reduce compile gc_freq gc_debug seed "
               "deterministic data_parallel_degree data_parallel_replicate_degree data_parallel_shard_degree "
               "tensor_parallel_degree enable_loss_parallel enable_float8_linear"},
    TitanTable{"training.dataloader", "num_workers persistent_workers pin_memory prefetch_factor"},
    TitanTable{"parallelism",
               "data_parallel_replicate_degree data_parallel_shard_degree fsdp_reshard_after_forward "
               "enable_compiled_autograd tensor_parallel_degree disable_loss_parallel enable_async_tensor_parallel "
               "pipeline_parallel_degree pipeline_parallel_split_points module_fqns_per_model_part "
               "pipeline_parallel_first_stage_less_layers pipeline_parallel_last_stage_less_layers "
               "pipeline_parallel_layers_per_stage pipeline_parallel_schedule pipeline_parallel_schedule_csv "
               "pipeline_parallel_microbatch_size pipeline_parallel_expert_parallel_overlap context_parallel_degree "
               "context_parallel_load_balancer context_parallel_rotate_method expert_parallel_degree "
               "expert_tensor_parallel_degree expert_parallel_comm_backend"},
    TitanTable{"experimental",
               "custom_import custom_args_module custom_model_path context_parallel_degree "
               "context_parallel_rotate_method enable_async_tensor_parallel enable_compiled_autograd "
               "pipeline_parallel_degree pipeline_parallel_split_points pipeline_parallel_schedule "
               "pipeline_parallel_schedule_csv pipeline_parallel_microbatches"},
    TitanTable{
        "checkpoint",
        "enable enable_checkpoint enable_ft_dataloader_checkpoints folder interval interval_type "
        "initial_load_path initial_load_model_only initial_load_in_hf initial_load_in_hf_quantized "
        "model_weights_only last_save_model_only last_save_in_hf export_dtype async_mode keep_latest_k load_step "
        "exclude_from_loading enable_first_step_checkpoint create_seed_checkpoint load_only"},
    TitanTable{"activation_checkpoint",
               "mode selective_ac_option per_op_sac_force_recompute_mm_shapes_by_fqns early_stop memory_budget "
               "visualize_memory_budget_pareto preserve_rng_state determinism_check debug"},
    TitanTable{"compile", "enable components backend"},
    TitanTable{"float8",
               "enable_float8_linear enable_fsdp_float8_all_gather precompute_float8_dynamic_scale_for_fsdp "
               "force_recompute_fp8_weight_in_bwd recipe_name filter_fqns emulate moe_fqns_prototype "
               "scaling_type_input scaling_type_weight scaling_type_grad_output"},
    TitanTable{"mx", "mxfp8_dim1_cast_kernel_choice recipe_name filter_fqns moe_fqns_prototype"},
    TitanTable{"quantize.linear.float8",
               "enable_fsdp_float8_all_gather precompute_float8_dynamic_scale_for_fsdp recipe_name filter_fqns "
               "emulate"},
    TitanTable{"quantize.linear.mx", "mxfp8_dim1_cast_kernel_choice recipe_name filter_fqns"},
    TitanTable{"quantize.grouped_mm.float8", "fqns"},
    TitanTable{"quantize.grouped_mm.mx", "recipe_name fqns"},
    TitanTable{"comm",
               "init_timeout_seconds train_timeout_seconds trace_buf_size save_traces_folder save_traces_file_prefix "
               "mode"},
    TitanTable{"memory_estimation", "enable enabled disable_fake_mode"},
    TitanTable{"fault_tolerance",
               "enable process_group process_group_timeout_ms replica_id group_size min_replica_size semi_sync_method "
               "sync_steps should_quantize fragment_sync_delay fragment_update_alpha module_fqns_per_model_fragment "
               "num_fragments"},
    TitanTable{"liger_kernel", "enable_fused_linear_cross_entropy"},
    TitanTable{"validation", "enable enabled dataset dataset_path local_batch_size seq_len freq steps"},
    TitanTable{"validation.dataloader", "num_workers persistent_workers pin_memory prefetch_factor"},
    TitanTable{"debug", "seed deterministic deterministic_warn_only moe_force_load_balance"},
};

/// Whatever takes no time that is simulated: whole tables, and keys of others.
constexpr std::string_view titan_without_time =
    "job profiling metrics lr_scheduler comm memory_estimation debug training.dataloader validation.dataloader "
    "/model/print_after_conversion /model/tokenizer_path /model/hf_assets_path /model/tokenizer_name /optimizer/lr "
    "/optimizer/eps /optimizer/beta1 /optimizer/beta2 /optimizer/weight_decay /optimizer/implementation "
    "/optimizer/fused /training/dataset /training/dataset_path /training/steps /training/max_norm /training/seed "
    "/training/gc_freq /training/gc_debug /training/warmup_steps /training/deterministic /compile/components "
    "/compile/backend /float8/filter_fqns /float8/recipe_name /float8/precompute_float8_dynamic_scale_for_fsdp "
    "/float8/force_recompute_fp8_weight_in_bwd /parallelism/context_parallel_rotate_method "
    "/parallelism/context_parallel_load_balancer /parallelism/expert_parallel_comm_backend "
    "/activation_checkpoint/per_op_sac_force_recompute_mm_shapes_by_fqns /model/norm_type "
    "/quantize/linear/float8/filter_fqns /quantize/linear/float8/recipe_name "
    "/quantize/linear/float8/precompute_float8_dynamic_scale_for_fsdp";
/// Of these tables everything depends on one key.
constexpr std::string_view titan_with_a_switch = "checkpoint validation fault_tolerance";

/// A key that is no table itself, and the one that it is in.
struct TitanKey {
  std::string table;
  std::string key;
  Value value;
};

/// What a table may have, or, with no name, the file.
std::vector<std::string> known_of_titan(const std::string& table) {
  std::vector<std::string> known;
  for (const TitanTable& row : titan_tables) {
    std::string_view words = row.name == table ? row.keys : "";
    while (!words.empty()) known.emplace_back(launch::take_until(words, ' '));
    const bool is_below = table.empty() || row.name.starts_with(table + ".");
    if (!is_below) continue;
    std::string_view rest = row.name.substr(table.empty() ? 0 : table.size() + 1);
    const std::string next(launch::take_until(rest, '.'));
    if (std::ranges::find(known, next) == known.end()) known.push_back(next);
  }
  return known;
}

std::vector<TitanKey> titan_keys(const Value& object, const std::string& table = "") {
  std::vector<TitanKey> all;
  for (const auto& [key, value] : object.members()) {
    const std::string name = table.empty() ? key : table + "." + key;
    if (value.is_object() && !known_of_titan(name).empty()) {
      std::ranges::move(titan_keys(value, name), std::back_inserter(all));
    } else {
      all.push_back({table, key, value});
    }
  }
  return all;
}

/// A configuration of which it is remembered what was asked for.
class TitanFile {
 public:
  explicit TitanFile(const Document& file) : file_(file) {}

  /// The first that is there: keys have moved from release to release.
  std::optional<Value> find(Pointers pointers) {
    for (const char* pointer : pointers) {
      taken_.insert(pointer);
      if (auto value = file_.find(pointer)) return value;
    }
    return std::nullopt;
  }
  int count(Pointers pointers, int otherwise, int least = 1) {
    const auto value = find(pointers);
    return value ? read_between(*value, least, most_of_a_degree) : otherwise;
  }
  bool flag(Pointers pointers) {
    const auto value = find(pointers);
    return value && read<bool>(*value);
  }
  /// What a word of the file is called here.
  std::string named(Pointers pointers, const std::string& otherwise, const std::map<std::string, std::string>& words,
                    const char* what) {
    const auto value = find(pointers);
    const auto word = value ? read<std::string>(*value) : otherwise;
    if (const auto found = words.find(word); found != words.end()) return found->second;
    std::vector<std::string> known;
    known.reserve(words.size());
    for (const auto& [name, meaning] : words) known.push_back(name);
    value->fail_unknown(what, known);
  }
  [[nodiscard]] Value root() const { return file_.root(); }
  /// What an error blames for what they say.
  [[nodiscard]] std::string where(Pointers pointers) const {
    for (const char* pointer : pointers) {
      if (const auto value = file_.find(pointer)) return where_of(*value);
    }
    return file_.source();
  }

  /// Unless it names a module that has keys of its own.
  void refuse_unknown() const {
    if (is_extended()) return;
    for (const auto& [table, key, value] : titan_keys(file_.root())) {
      const auto known = known_of_titan(table);
      const bool is_known = std::ranges::find(known, key) != known.end();
      if (is_known && !table.empty()) continue;
      value.fail(table.empty() ? "a table of torchtitan's job configuration" : "a key of torchtitan's [" + table + "]",
                 is_known ? value.describe() : quoted(key), is_known ? "" : suggestion(key, known));
    }
  }

  /// What was not asked for, takes time and is not off.
  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> texts;
    for (const auto& [table, key, value] : titan_keys(file_.root())) {
      if (launch::is_among(titan_without_time, table)) continue;
      if (launch::is_among(titan_with_a_switch, table) && !key.starts_with("enable")) continue;
      const bool is_known = taken_.contains(value.pointer()) || launch::is_among(titan_without_time, value.pointer());
      if (is_known || is_as_usual(value)) continue;
      const std::string name = table.empty() ? key : table + "." + key;
      texts.push_back(fmt::format("{} {} of {}", name, value.describe(), file_.source()));
    }
    return texts;
  }

 private:
  static bool is_as_usual(const Value& value) {
    const auto& node = value.node().value;
    if (const auto* flag = std::get_if<bool>(&node)) return !*flag;
    if (const auto* number = std::get_if<std::int64_t>(&node)) return *number <= 1;
    if (const auto* text = std::get_if<std::string>(&node)) return text->empty() || *text == "disabled";
    return value.is_array() && value.elements().empty();
  }

  [[nodiscard]] bool is_extended() const {
    return std::ranges::any_of(std::array{"/job/custom_config_module", "/experimental/custom_args_module"},
                               [&](const char* key) {
                                 const auto value = file_.find(key);
                                 return value && value->is_string() && !read<std::string>(*value).empty();
                               });
  }

  const Document& file_;
  std::set<std::string, std::less<>> taken_;
};

void refuse_what_is_not_simulated(TitanFile& file) {
  for (const char* key : {"/parallelism/context_parallel_degree", "/experimental/context_parallel_degree",
                          "/parallelism/expert_parallel_degree", "/parallelism/expert_tensor_parallel_degree"}) {
    const auto degree = file.find({key});
    if (degree && read_between(*degree, 1, most_of_a_degree) > 1) degree->fail("1: no more is simulated of torchtitan");
  }
  for (const char* key : {"/training/enable_cpu_offload", "/fault_tolerance/enable"}) {
    const auto flag = file.find({key});
    if (flag && read<bool>(*flag)) flag->fail("false: it is not simulated of torchtitan");
  }
}

/// The name it has here, if it is in the catalogue: "llama3" and "8B".
void take_titan_model(PastedJob& job, TitanFile& file) {
  const auto name = file.find({"/model/name"});
  const auto flavor = file.find({"/model/flavor"});
  if (!name || !flavor) return;
  static const std::map<std::string, std::string> others{{"llama3_1b", "llama3_2_1b"}, {"llama3_3b", "llama3_2_3b"}};
  std::string known = read<std::string>(*name) + "_" + read<std::string>(*flavor);
  std::ranges::transform(known, known.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto other = others.find(known);
  take_first(job, job.model, other == others.end() ? known : other->second, "/workload/model",
             file.where({"/model/flavor"}));
}

/// Of products in float8, whose converter is in a text or an array of them.
bool is_titan_float8(TitanFile& file) {
  const auto converters = file.find({"/model/converters"});
  if (!converters) return file.flag({"/float8/enable_float8_linear", "/training/enable_float8_linear"});
  const auto all = converters->is_array() ? read<std::vector<std::string>>(*converters)
                                          : std::vector<std::string>{read<std::string>(*converters)};
  for (const std::string& one : all) {
    if (!one.empty() && one != "float8" && one != "quantize.linear.float8") converters->fail("float8, or no converter");
  }
  return std::ranges::any_of(all, [](const std::string& one) { return one.ends_with("float8"); });
}

/// Types of PyTorch by what they are called here.
const std::map<std::string, std::string>& torch_types() {
  static const std::map<std::string, std::string> types{{"bfloat16", "bf16"}, {"float32", "fp32"}, {"float16", "fp16"}};
  return types;
}

void take_titan_training(PastedJob& job, TitanFile& file) {
  const std::string type = file.named({"/training/mixed_precision_param"}, "bfloat16", torch_types(), "a type");
  const bool is_float8 = is_titan_float8(file);
  take_first(job, job.precision, is_float8 ? "fp8" : type, "/workload/precision",
             file.where({is_float8 ? "/model/converters" : "/training/mixed_precision_param"}));
  const std::string kept = file.named({"/training/dtype"}, "float32", torch_types(), "a type");
  for (const char* key : {"gradient_type", "parameter_type", "optimizer_state_type"}) {
    if (kept != "fp32") job.workload.emplace_back(key, json_text(kept));
  }
  if (file.flag({"/compile/enable", "/training/compile"})) job.workload.emplace_back("compile", "true");
  take_first(job, job.sequence_length, file.count({"/training/seq_len"}, 2048), "/workload/sequence_length",
             file.where({"/training/seq_len"}));
  const auto optimizer = file.find({"/optimizer/name"});
  take_first(job.optimizer, optimizer_named(optimizer ? read<std::string>(*optimizer) : "AdamW"));
  if (optimizer && job.optimizer.empty()) optimizer->fail("Adam, AdamW or SGD: no other is simulated");
  const std::string mode = file.named({"/activation_checkpoint/mode"}, "selective",
                                      {{"none", "none"}, {"selective", "selective"}, {"full", "full"}}, "a mode");
  const auto which = file.find({"/activation_checkpoint/selective_ac_option"});
  const std::string option = which ? read<std::string>(*which) : "op";
  if (mode == "selective" && option != "op" && option != "1") {
    which->fail("\"op\": that every so many layers are computed again is not simulated");
  }
  take_first<std::string>(job, job.recompute, mode == "selective" && option == "1" ? "full" : mode,
                          "/workload/recompute", file.where({"/activation_checkpoint/mode"}));
}

/// How many ranks do what; 0 shards: all that there are, where that is not known.
struct TitanDegrees {
  int replicas = 1;
  int shards = 0;
  int tensor = 1;
  int stages = 1;
};

TitanDegrees titan_degrees(PastedJob& job, TitanFile& file) {
  const auto shards = file.find({"/parallelism/data_parallel_shard_degree", "/training/data_parallel_shard_degree",
                                 "/training/data_parallel_degree"});
  TitanDegrees degrees;
  degrees.tensor = file.count({"/parallelism/tensor_parallel_degree", "/training/tensor_parallel_degree"}, 1);
  degrees.stages = file.count({"/parallelism/pipeline_parallel_degree", "/experimental/pipeline_parallel_degree"}, 1);
  degrees.replicas =
      file.count({"/parallelism/data_parallel_replicate_degree", "/training/data_parallel_replicate_degree"}, 1);
  degrees.shards = std::max(0, shards ? read_between(*shards, -1, most_of_a_degree) : 0);
  const std::int64_t others = std::int64_t{degrees.replicas} * degrees.tensor * degrees.stages;
  const std::int64_t all = others * std::max(1, degrees.shards);
  const auto refuse = [&](const std::string& expected) { (shards ? *shards : file.root()).fail(expected); };
  if (all > most_of_a_degree) refuse("degrees of fewer ranks, together");
  if (degrees.shards > 0) {
    take_first(job, job.ranks, static_cast<int>(all), "/platform/ranks", where_of(shards ? *shards : file.root()));
  }
  if (job.ranks == 0 && degrees.replicas > 1) refuse("a number of ranks, by --launch or --ranks, or of shards");
  if (job.ranks == 0) return degrees;
  if (degrees.shards == 0 ? job.ranks % others != 0 : job.ranks != all) {
    refuse(fmt::format("degrees for the {} ranks: {} replicas x {} shards x {} of a tensor group x {} stages",
                       job.ranks, degrees.replicas, degrees.shards == 0 ? "other" : std::to_string(degrees.shards),
                       degrees.tensor, degrees.stages));
  }
  degrees.shards = static_cast<int>(job.ranks / others);
  return degrees;
}

/// The micro-batches of a pipeline are passes; those of a "global_batch_size", too.
void take_titan_batch(PastedJob& job, TitanFile& file, const TitanDegrees& degrees) {
  int batch = file.count({"/training/local_batch_size", "/training/batch_size"}, 8);
  int passes = 1;
  const auto global = file.find({"/training/global_batch_size"});
  if (const int all = global ? read_between(*global, -1, most_of_a_degree) : -1; all > 0) {
    if (degrees.shards == 0) global->fail("a number of ranks beside it, by --launch or --ranks");
    const std::int64_t samples = std::int64_t{batch} * degrees.replicas * degrees.shards;
    if (all % samples != 0) global->fail(fmt::format("a multiple of the {} samples of a pass of all ranks", samples));
    passes = static_cast<int>(all / samples);
  }
  const auto schedule = file.find({"/parallelism/pipeline_parallel_schedule"});
  const int micro = file.count({"/parallelism/pipeline_parallel_microbatch_size"}, 1);
  if (degrees.stages > 1) {
    if (schedule && read<std::string>(*schedule) != "1F1B") schedule->fail("1F1B: no other schedule is simulated");
    if (passes > 1) global->fail("as many samples as all ranks have in a pass: more passes of a pipeline");
    passes = std::max(1, batch / micro);
    batch = micro;
  }
  const std::string where = file.where({"/training/local_batch_size", "/training/batch_size"});
  take_first(job, job.batch, batch, "/workload/batch_per_rank", where);
  if (passes > 1) add_setting(job, "accumulation", std::to_string(passes), global ? where_of(*global) : where);
}

void take_titan_sharding(PastedJob& job, TitanFile& file, const TitanDegrees& degrees) {
  const auto group = [&](const char* key, int size, Pointers pointers) {
    if (size > 1) add_setting(job, key, std::to_string(size), file.where(pointers));
  };
  const std::string reduce = file.named({"/training/mixed_precision_reduce"}, "float32", torch_types(), "a type");
  const std::string type = file.named({"/training/mixed_precision_param"}, "bfloat16", torch_types(), "a type");
  const std::string again = file.named({"/parallelism/fsdp_reshard_after_forward"}, "default",
                                       {{"default", ""}, {"always", "true"}, {"never", "false"}}, "a policy");
  if (degrees.shards == 1) {
    take_first<std::string>(job.strategy, "ddp");
    add_setting(job, "bucket_cap_mb", "100");
  } else {
    take_first<std::string>(job.strategy, "fsdp");
    add_setting(job, "param_dtype", json_text(type));
    add_setting(job, "reduce_dtype", json_text(reduce));
    if (degrees.replicas > 1) add_setting(job, "sharding_strategy", json_text("HYBRID_SHARD"));
    if (degrees.replicas > 1) group("shard_group", degrees.shards, {"/parallelism/data_parallel_shard_degree"});
    if (!again.empty()) add_setting(job, "reshard_after_forward", again);
  }
  group("tensor_parallel", degrees.tensor, {"/parallelism/tensor_parallel_degree", "/training/tensor_parallel_degree"});
  if (degrees.tensor > 1) add_setting(job, "sequence_parallel", "true");
  group("pipeline", degrees.stages,
        {"/parallelism/pipeline_parallel_degree", "/experimental/pipeline_parallel_degree"});
}

}  // namespace

void take_torchtitan(PastedJob& job, const Document& document) {
  TitanFile file(document);
  file.refuse_unknown();
  refuse_what_is_not_simulated(file);
  take_titan_model(job, file);
  take_titan_training(job, file);
  const TitanDegrees degrees = titan_degrees(job, file);
  take_titan_batch(job, file, degrees);
  take_titan_sharding(job, file, degrees);
  std::ranges::copy(file.left(), std::back_inserter(job.unused));
}

}  // namespace farandole
