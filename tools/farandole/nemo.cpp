// NeMo's configuration of a Megatron model as arguments of Megatron-LM that say the same: keys and defaults of
// NeMo 1.x, examples/nlp/language_modeling/conf/megatron_gpt_config.yaml and megatron_llama_config.yaml, and of
// nlp/models/language_modeling/megatron_base_model.py (optimizers, buckets). Of NeMo 2 what NeMo-Run writes of a recipe
// as YAML: arguments of nemo/lightning/pytorch/strategies/megatron_strategy.py and of Megatron core's configurations.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "config/section.hpp"
#include "config/text.hpp"
#include "job_options.hpp"
#include "pasted_job.hpp"
#include "platform/launch/launch.hpp"

namespace farandole {
namespace {

/// A key and the argument of Megatron-LM that says the same.
struct NemoKey {
  const char* pointer;
  const char* argument;
};
constexpr std::array nemo_keys{
    NemoKey{"/model/micro_batch_size", "micro-batch-size"},
    NemoKey{"/model/global_batch_size", "global-batch-size"},
    NemoKey{"/model/tensor_model_parallel_size", "tensor-model-parallel-size"},
    NemoKey{"/model/pipeline_model_parallel_size", "pipeline-model-parallel-size"},
    NemoKey{"/model/context_parallel_size", "context-parallel-size"},
    NemoKey{"/model/expert_model_parallel_size", "expert-model-parallel-size"},
    NemoKey{"/model/sequence_parallel", "sequence-parallel"},
    NemoKey{"/model/encoder_seq_length", "seq-length"},
    NemoKey{"/model/max_position_embeddings", "max-position-embeddings"},
    NemoKey{"/model/num_layers", "num-layers"},
    NemoKey{"/model/hidden_size", "hidden-size"},
    NemoKey{"/model/ffn_hidden_size", "ffn-hidden-size"},
    NemoKey{"/model/num_attention_heads", "num-attention-heads"},
    NemoKey{"/model/num_query_groups", "num-query-groups"},
    NemoKey{"/model/kv_channels", "kv-channels"},
    NemoKey{"/model/normalization", "normalization"},
    NemoKey{"/model/position_embedding_type", "position-embedding-type"},
    NemoKey{"/model/override_vocab_size", "padded-vocab-size"},
    NemoKey{"/model/tokenizer/vocab_size", "vocab-size"},
    NemoKey{"/model/num_moe_experts", "num-experts"},
    NemoKey{"/model/activations_checkpoint_granularity", "recompute-granularity"},
    NemoKey{"/model/activations_checkpoint_method", "recompute-method"},
    NemoKey{"/model/activations_checkpoint_num_layers", "recompute-num-layers"},
    NemoKey{"/model/fp8", "fp8-format"},
};
/// Keys that become others, and what they are called where the path of Megatron-LM misses or refuses their arguments.
constexpr std::array other_nemo_keys{
    NemoKey{"/model/activation", "swiglu"},
    NemoKey{"/model/virtual_pipeline_model_parallel_size", "num-layers-per-virtual-pipeline-stage"},
    NemoKey{"/model/override_vocab_size", "vocab-size"},
};

/// Used here, in other ways than those above, or without any effect on time.
constexpr std::string_view nemo_model_keys =
    "activation virtual_pipeline_model_parallel_size share_embeddings_and_output_weights megatron_amp_O2 "
    "grad_allreduce_chunk_size_mb tokenizer data optim nsys_profile mcore_gpt resume_from_checkpoint init_method_std "
    "use_scaled_init_method hidden_dropout attention_dropout ffn_dropout apply_query_key_layer_scaling "
    "layernorm_epsilon do_layer_norm_weight_decay make_vocab_size_divisible_by pre_process post_process "
    "persist_layer_norm bias headscale transformer_block_type openai_gelu normalize_attention_scores rotary_percentage "
    "rotary_base attention_type overlap_p2p_comm batch_p2p_comm native_amp_init_scale native_amp_growth_interval "
    "hysteresis fp32_residual_connection fp16_lm_cross_entropy grad_div_ar_fusion gradient_accumulation_fusion "
    "bias_activation_fusion bias_dropout_add_fusion masked_softmax_fusion get_attention_mask_from_fusion "
    "apply_rope_fusion cross_entropy_loss_fusion seed use_cpu_initialization onnx_safe apex_transformer_log_level "
    "gradient_as_bucket_view sync_batch_comm transformer_engine fp8_e4m3 fp8_hybrid fp8_margin fp8_interval "
    "fp8_amax_history_len fp8_amax_compute_algo fp8_params reduce_amax use_emha use_flash_attention precision "
    "num_micro_batches_with_partial_activation_checkpoints activations_checkpoint_layers_per_pipeline target "
    "restore_from_path name gc_interval nccl_communicator_config_path seq_len_interpolation_factor init_global_step";
constexpr std::string_view nemo_trainer_keys =
    "devices num_nodes precision accelerator logger enable_checkpointing replace_sampler_ddp use_distributed_sampler "
    "max_epochs max_steps max_time log_every_n_steps val_check_interval limit_val_batches limit_test_batches "
    "limit_train_batches accumulate_grad_batches gradient_clip_val benchmark enable_model_summary "
    "num_sanity_val_steps check_val_every_n_epoch strategy enable_progress_bar";
constexpr std::string_view nemo_optim_keys =
    "name lr weight_decay betas eps sched bucket_cap_mb overlap_grad_sync overlap_param_sync contiguous_grad_buffer "
    "contiguous_param_buffer grad_sync_dtype param_sync_dtype ddp_bucket_size store_params store_param_remainders "
    "capturable master_weights";

constexpr int most_of_nemo = 1 << 20;
constexpr int deepest_of_nemo = 8;  // values that name others

/// "model.num_layers".
std::string dotted(std::string pointer) {
  std::ranges::replace(pointer, '/', '.');
  return pointer.substr(1);
}

class NemoFile {
 public:
  explicit NemoFile(const Document& file) : file_(file) {}

  /// As text; nothing where it is null or not there.
  [[nodiscard]] std::optional<std::string> find(const std::string& pointer) const {
    const auto value = file_.find(pointer);
    return value ? text_of_value(*value, 0) : std::nullopt;
  }
  [[nodiscard]] bool flag(const std::string& pointer, bool otherwise = false) const {
    const auto text = find(pointer);
    return text ? *text == "True" : otherwise;
  }
  [[nodiscard]] int number(const std::string& pointer, int otherwise, int least = 1) const {
    const auto text = find(pointer);
    if (!text) return otherwise;
    const std::int64_t number = number_of(*text, *file_.find(pointer));
    if (number < least || number > most_of_nemo) {
      file_.find(pointer)->fail(fmt::format("a whole number from {} to {}", least, counted(most_of_nemo)));
    }
    return static_cast<int>(number);
  }
  [[nodiscard]] bool has(const std::string& pointer) const { return file_.find(pointer).has_value(); }
  /// What an error blames for it.
  [[nodiscard]] std::string where(const std::string& pointer) const {
    return where_of(file_.find(pointer).value_or(file_.root()));
  }
  [[nodiscard]] const Document& document() const { return file_; }

 private:
  [[nodiscard]] std::optional<std::string> text_of_value(const Value& value, int depth) const {
    const auto& node = value.node().value;
    if (const auto* flag = std::get_if<bool>(&node)) return *flag ? "True" : "False";
    if (const auto* number = std::get_if<std::int64_t>(&node)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&node)) return fmt::format("{}", *number);
    const auto* text = std::get_if<std::string>(&node);
    if (text == nullptr || *text == "null" || *text == "???") return std::nullopt;
    return text->starts_with("${") ? resolved(*text, value, depth) : *text;
  }

  /// "${.hidden_size}", "${model.encoder_seq_length}", "${multiply:4, ${.hidden_size}}".
  [[nodiscard]] std::string resolved(std::string_view text, const Value& value, int depth) const {
    constexpr std::string_view product = "${multiply:";
    const auto refuse = [&]() { value.fail("a value, or ${...} of one in this file"); };
    if (!text.ends_with('}') || depth == deepest_of_nemo) refuse();
    if (text.starts_with(product)) {
      std::string_view factors = text.substr(product.size(), text.size() - product.size() - 1);
      std::int64_t all = 1;
      while (!factors.empty()) {
        std::string_view factor = launch::take_until(factors, ',');
        factor.remove_prefix(std::min(factor.find_first_not_of(' '), factor.size()));
        const auto written = factor.starts_with("${") ? resolved(factor, value, depth + 1) : std::string(factor);
        const std::int64_t one = number_of(written, value);
        if (one < 0 || one > most_of_nemo || all * one > most_of_nemo) refuse();
        all *= one;
      }
      return std::to_string(all);
    }
    std::string name(text.substr(2, text.size() - 3));
    std::ranges::replace(name, '.', '/');
    const bool is_beside = name.starts_with('/');
    const auto other =
        file_.find(is_beside ? value.pointer().substr(0, value.pointer().rfind('/')) + name : "/" + name);
    const auto found = other ? text_of_value(*other, depth + 1) : std::nullopt;
    if (!found) refuse();
    return *found;
  }

  static std::int64_t number_of(const std::string& text, const Value& value) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) value.fail("a whole number");
    return number;
  }

  const Document& file_;
};

std::vector<std::string> known_of_nemo(std::span<const NemoKey> keys, std::string_view list, const std::string& table) {
  std::vector<std::string> known;
  while (!list.empty()) known.emplace_back(launch::take_until(list, ' '));
  for (const NemoKey& key : keys) {
    const std::string_view pointer = key.pointer;
    const auto end = pointer.rfind('/');
    if (pointer.substr(0, end) == table) known.emplace_back(pointer.substr(end + 1));
  }
  return known;
}

bool is_off_in_nemo(const Value& value) {
  const auto& node = value.node().value;
  const auto* flag = std::get_if<bool>(&node);
  const auto* text = std::get_if<std::string>(&node);
  return std::holds_alternative<std::nullptr_t>(node) || (flag != nullptr && !*flag) ||
         (text != nullptr && (*text == "null" || *text == "???"));
}

/// What is nearly a key that is known is refused; what is none, and on, is named.
void take_unknown_of_nemo(PastedJob& job, const Document& file) {
  for (const auto& [table, list] : {std::pair{"/trainer", nemo_trainer_keys}, std::pair{"/model", nemo_model_keys},
                                    std::pair{"/model/optim", nemo_optim_keys}}) {
    const auto members = file.find(table);
    if (!members) continue;
    const auto known = known_of_nemo(nemo_keys, list, table);
    for (const auto& [key, value] : members->members()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      const std::string hint = suggestion(key, known);
      if (hint.starts_with("; did")) value.fail(fmt::format("a key of NeMo's {}", dotted(table)), quoted(key), hint);
      if (is_off_in_nemo(value)) continue;
      job.unused.push_back(fmt::format("{} {} of {}", dotted(value.pointer()), value.describe(), file.source()));
    }
  }
}

void add_precision(PastedJob& job, const NemoFile& file, const std::string& pointer, JobOptions& options) {
  static const std::map<std::string, std::string> types{{"bf16", "bf16"}, {"bf16-mixed", "bf16"},
                                                        {"16", "fp16"},   {"16-mixed", "fp16"},
                                                        {"32", "fp32"},   {"32-true", "fp32"}};
  const auto text = file.find(pointer);
  const auto type = types.find(text.value_or("32"));
  if (type == types.end()) file.document().find(pointer)->fail("bf16, bf16-mixed, 16, 16-mixed or 32");
  if (type->second != "fp32") return options.add(type->second, "", file.where(pointer));
  take_first<std::string>(job, job.precision, "fp32", "/workload/precision", file.where(pointer));
}

/// Buckets of apex's and of Megatron-LM's optimizer are numbers of what is summed, NeMo's are MiB.
void add_optimizer(const NemoFile& file, JobOptions& options) {
  constexpr const char* pointer = "/model/optim/name";
  static const std::vector<std::string> known{
      "distributed_fused_adam", "mcore_distributed_optim", "fused_adam", "megatron_fused_adam", "adam", "adamw", "sgd"};
  const std::string name = file.find(pointer).value_or("fused_adam");
  if (std::ranges::find(known, name) == known.end()) file.document().find(pointer)->fail_unknown("an optimizer", known);
  options.add("optimizer", name == "sgd" ? name : "adam", file.where(pointer));
  const bool is_apex = name == known[0];
  const bool is_sharded = is_apex || name == known[1];
  const bool is_early = file.flag("/model/megatron_amp_O2") && !file.flag("/model/sequence_parallel") &&
                        file.number("/model/pipeline_model_parallel_size", 1) == 1;
  const auto add_flag = [&](const char* argument, const char* key, bool is_on) {
    if (is_on) options.add(argument, "", file.where(key));
  };
  add_flag("use-distributed-optimizer", pointer, is_sharded);
  constexpr const char* overlap = "/model/optim/overlap_grad_sync";
  add_flag("overlap-grad-reduce", overlap, is_sharded ? file.flag(overlap, is_apex) : is_early);
  constexpr const char* gather = "/model/optim/overlap_param_sync";
  add_flag("overlap-param-gather", gather, is_sharded && file.flag(gather));
  constexpr const char* type = "/model/optim/grad_sync_dtype";
  const bool is_short = file.find(type).value_or("") == "bf16";
  add_flag("grad-reduce-in-bf16", type, is_short);
  add_flag("accumulate-allreduce-grads-in-fp32", type, !is_short);
  constexpr std::int64_t mebi = 1 << 20;
  const char* cap = is_sharded ? "/model/optim/bucket_cap_mb" : "/model/grad_allreduce_chunk_size_mb";
  constexpr int usual_of_apex = 100;
  constexpr int most_mebibytes = 2048;
  const int size = std::min(most_mebibytes, file.number(cap, is_apex ? usual_of_apex : 0));
  if (size > 0) options.add("ddp-bucket-size", std::to_string(size * mebi / (is_short ? 2 : 4)), file.where(cap));
}

/// Without "activations_checkpoint_granularity", which the first releases had not, a method means whole layers.
void add_recomputation(const NemoFile& file, JobOptions& options) {
  const std::string start = "/model/activations_checkpoint_";
  const bool is_old = !file.has(start + "granularity") && file.find(start + "method").has_value();
  if (is_old && file.number(start + "num_layers", 0, 0) > 0) {
    options.add("recompute-granularity", "full", file.where(start + "method"));
  }
  for (const char* key : {"/model/num_micro_batches_with_partial_activation_checkpoints",
                          "/model/activations_checkpoint_layers_per_pipeline"}) {
    if (file.find(key)) file.document().find(key)->fail("null: recomputation of some micro-batches is not simulated");
  }
}

/// What `--launch` or `--ranks` says goes before it.
void take_nemo_ranks(PastedJob& job, const NemoFile& file) {
  constexpr const char* devices = "/trainer/devices";
  const std::string text = file.find(devices).value_or("1");
  const int nodes = file.number("/trainer/num_nodes", 1);
  if (text == "auto" || text == "-1") {
    if (job.ranks == 0) file.document().find(devices)->fail("a number of devices of a node, or --ranks");
    return;
  }
  const int on_a_node = file.number(devices, 1);
  const std::int64_t all = std::int64_t{on_a_node} * nodes;
  if (all > most_of_nemo) file.document().find(devices)->fail("fewer devices, together");
  if (job.ranks > 0 && job.ranks != all) {
    job.unused.push_back(
        fmt::format("trainer.devices {} on {} nodes of {}", on_a_node, nodes, file.document().source()));
  }
  if (job.ranks > 0) return;
  take_first(job, job.ranks, static_cast<int>(all), "/platform/ranks", file.where(devices));
  job.ranks_per_node = on_a_node;
}

/// What the keys say; `names` of others.
JobOptions options_of_keys(const NemoFile& file, std::span<const NemoKey> keys,
                           std::map<std::string, std::string> names) {
  for (const NemoKey& key : keys) names.emplace(key.argument, dotted(key.pointer));
  JobOptions options(file.document().source(), std::move(names));
  for (const NemoKey& key : keys) {
    const auto text = file.find(key.pointer);
    if (text && *text != "False") options.add(key.argument, *text == "True" ? "" : *text, file.where(key.pointer));
  }
  return options;
}

// ---- NeMo 2

constexpr std::array nemo2_keys{
    NemoKey{"/data/micro_batch_size", "micro-batch-size"},
    NemoKey{"/data/global_batch_size", "global-batch-size"},
    NemoKey{"/data/seq_length", "seq-length"},
    NemoKey{"/trainer/strategy/tensor_model_parallel_size", "tensor-model-parallel-size"},
    NemoKey{"/trainer/strategy/pipeline_model_parallel_size", "pipeline-model-parallel-size"},
    NemoKey{"/trainer/strategy/context_parallel_size", "context-parallel-size"},
    NemoKey{"/trainer/strategy/expert_model_parallel_size", "expert-model-parallel-size"},
    NemoKey{"/trainer/strategy/sequence_parallel", "sequence-parallel"},
    NemoKey{"/trainer/strategy/ddp/overlap_grad_reduce", "overlap-grad-reduce"},
    NemoKey{"/trainer/strategy/ddp/overlap_param_gather", "overlap-param-gather"},
    NemoKey{"/trainer/strategy/ddp/bucket_size", "ddp-bucket-size"},
    NemoKey{"/model/config/recompute_granularity", "recompute-granularity"},
    NemoKey{"/model/config/recompute_method", "recompute-method"},
    NemoKey{"/model/config/recompute_num_layers", "recompute-num-layers"},
    NemoKey{"/optim/config/use_distributed_optimizer", "use-distributed-optimizer"},
    NemoKey{"/optim/config/optimizer", "optimizer"},
};
constexpr const char* nemo2_interleaved = "/trainer/strategy/virtual_pipeline_model_parallel_size";
/// Used here in other ways, or without any effect on time.
constexpr std::string_view nemo2_strategy_keys =
    "_target_ ddp virtual_pipeline_model_parallel_size pipeline_dtype gradient_as_bucket_view ckpt_async_save "
    "ckpt_parallel_load ckpt_parallel_save "
    "ckpt_load_optimizer ckpt_save_optimizer ckpt_include_optimizer ckpt_parallel_save_optim save_ckpt_format "
    "lazy_init "
    "replace_progress_bar progress_interval find_unused_parameters data_sampler restore_config setup_optimizers "
    "ckpt_assume_constant_structure ckpt_load_strictness";
constexpr std::string_view nemo2_ddp_keys =
    "_target_ grad_reduce_in_fp32 check_for_nan_in_grad average_in_collective use_distributed_optimizer "
    "align_param_gather";
constexpr std::string_view nemo2_model_keys = "_target_ seq_length fp8 bf16 params_dtype";

/// Classes of nemo/collections/llm/gpt/model and what their shapes are called here.
const std::map<std::string, std::string>& models_of_nemo2() {
  static const std::map<std::string, std::string> names{
      {"Llama2Config7B", "llama2_7b"},    {"Llama2Config13B", "llama2_13b"},     {"Llama2Config70B", "llama2_70b"},
      {"Llama3Config8B", "llama3_8b"},    {"Llama31Config8B", "llama3_8b"},      {"Llama3Config70B", "llama3_70b"},
      {"Llama31Config70B", "llama3_70b"}, {"Llama32Config1B", "llama3_2_1b"},    {"Llama32Config3B", "llama3_2_3b"},
      {"MistralConfig7B", "mistral_7b"},  {"MixtralConfig8x7B", "mixtral_8x7b"}, {"Qwen25Config7B", "qwen2_5_7b"}};
  return names;
}

bool is_nemo2(const Document& file) {
  const auto strategy = file.find("/trainer/strategy");
  return strategy && strategy->is_object();
}

/// What is known beside `list`, and named for what is on.
void take_unknown_of_nemo2(PastedJob& job, const Document& file) {
  for (const auto& [table, list] :
       {std::pair{"/trainer/strategy", nemo2_strategy_keys}, std::pair{"/trainer/strategy/ddp", nemo2_ddp_keys},
        std::pair{"/model/config", nemo2_model_keys}}) {
    const auto members = file.find(table);
    if (!members || !members->is_object()) continue;
    const auto known = known_of_nemo(nemo2_keys, list, table);
    for (const auto& [key, value] : members->members()) {
      if (std::ranges::find(known, key) != known.end() || is_off_in_nemo(value)) continue;
      job.unused.push_back(fmt::format("{} {} of {}", dotted(value.pointer()), value.describe(), file.source()));
    }
  }
  const auto callbacks = file.find("/trainer/callbacks");
  for (int place = 0; callbacks && callbacks->is_array(); ++place) {
    const auto target = file.find(fmt::format("/trainer/callbacks/{}/_target_", place));
    if (!target) break;
    const auto name = read<std::string>(*target);
    if (name.ends_with("CommOverlapCallback") || name.ends_with("CommOverlapCallbackSchedule"))
      job.unused.push_back(fmt::format("{} of {}", name.substr(name.rfind('.') + 1), file.source()));
  }
  if (const auto peft = file.find("/peft"); peft && !is_off_in_nemo(*peft))
    peft->fail("none: a scenario says it as /workload/lora, which is not made of this");
}

void take_model_of_nemo2(PastedJob& job, const NemoFile& file) {
  constexpr const char* where = "/model/config/_target_";
  const std::string target = file.find(where).value_or("");
  const auto known = models_of_nemo2().find(target.substr(target.rfind('.') + 1));
  if (known == models_of_nemo2().end()) return;
  for (const char* shape : {"num_layers", "hidden_size", "ffn_hidden_size", "num_attention_heads", "num_query_groups",
                            "kv_channels", "num_moe_experts", "vocab_size"}) {
    // What the class says of the others is not known here.
    if (const auto value = file.document().find(std::string("/model/config/") + shape); value && job.model.empty())
      value->fail(fmt::format("the shapes of {}, or --model of another one", known->first));
  }
  take_first(job, job.model, known->second, "/workload/model", file.where(where));
}

JobOptions nemo2_options(PastedJob& job, const Document& document) {
  const NemoFile file(document);
  take_unknown_of_nemo2(job, document);
  std::map<std::string, std::string> names{{"num-layers", "a class that is known as model.config"},
                                           {"num-layers-per-virtual-pipeline-stage", dotted(nemo2_interleaved)}};
  JobOptions options = options_of_keys(file, nemo2_keys, std::move(names));
  if (const int parts = file.number(nemo2_interleaved, 1); parts > 1)
    options.add("num-layers-per-virtual-pipeline-stage", std::to_string(parts), file.where(nemo2_interleaved));
  take_nemo_ranks(job, file);
  take_model_of_nemo2(job, file);
  const std::string plugin = file.has("/trainer/plugins/0") ? "/trainer/plugins/0" : "/trainer/plugins";
  add_precision(job, file, plugin + "/precision", options);
  if (file.find(plugin + "/fp8")) options.add("fp8-format", *file.find(plugin + "/fp8"), file.where(plugin + "/fp8"));
  // The plug-in's word on types goes before that of the strategy (update_config_with_dtype_overrides).
  const std::string type = "/grad_reduce_in_fp32";
  const std::string says = file.has(plugin + type) ? plugin : "/trainer/strategy/ddp";
  options.add(file.flag(says + type) ? "accumulate-allreduce-grads-in-fp32" : "grad-reduce-in-bf16", "",
              file.where(says + type));
  return options;
}

}  // namespace

JobOptions nemo_options(PastedJob& job, const Document& document) {
  if (is_nemo2(document)) return nemo2_options(job, document);
  const NemoFile file(document);
  take_unknown_of_nemo(job, document);
  std::map<std::string, std::string> names;
  for (const NemoKey& key : other_nemo_keys) names.emplace(key.argument, dotted(key.pointer));
  JobOptions options = options_of_keys(file, nemo_keys, std::move(names));
  take_nemo_ranks(job, file);
  add_precision(job, file, file.has("/trainer/precision") ? "/trainer/precision" : "/model/precision", options);
  add_optimizer(file, options);
  add_recomputation(file, options);
  constexpr const char* interleaved = "/model/virtual_pipeline_model_parallel_size";
  if (const int parts = file.number(interleaved, 1); parts > 1) {
    options.add("num-layers-per-virtual-pipeline-stage", std::to_string(parts), file.where(interleaved));
  }
  if (file.find("/model/activation").value_or("").ends_with("glu")) {
    options.add("swiglu", "", file.where("/model/activation"));
  }
  if (!file.flag("/model/share_embeddings_and_output_weights", true)) {
    options.add("untie-embeddings-and-output-weights", "", document.source());
  }
  const auto tokenizer = file.find("/model/tokenizer/type");
  options.add("tokenizer-type", tokenizer.value_or("none"), file.where("/model/tokenizer"));
  return options;
}

}  // namespace farandole
