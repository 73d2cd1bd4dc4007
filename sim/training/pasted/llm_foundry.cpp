// llm-foundry's fsdp_config, by itself or in the YAML of a whole run. Keys and defaults of Composer 0.23,
// utils/parallelism.py (FSDPConfig) and distributed/mosaic_parallelism.py (get_mixed_precision).
#include <algorithm>

#include <fmt/format.h>

#include "config/section.hpp"
#include "training/pasted/translation.hpp"

namespace farandole { inline namespace training {
namespace {

void take_mixed_precision(const Value& value, Translation& translation) {
  const auto name = value.is_string() ? read<std::string>(value) : "";
  const std::string& low = translation.into().precision;
  const std::vector<std::string> known{"FULL", "DEFAULT", "PURE"};
  if (std::ranges::find(known, name) == known.end()) value.fail_unknown("FULL, DEFAULT or PURE", known);
  if (name != "FULL" && low != "bf16" && low != "fp16") value.fail("\"precision\" of the workload bf16 or fp16", low);
  translation.set("param_dtype", name == "FULL" ? "fp32" : low, value);
  translation.set("reduce_dtype", name == "PURE" ? low : std::string("fp32"), value);
}

/// Ranks that keep a model together; -1: all.
void take_shard_degree(const Value& value, Translation& translation) {
  if (value.describe() == "-1") return;
  const std::int64_t degree = pasted_count(value);
  if (degree != translation.into().ranks) translation.set("shard_group", value);
}

void take_replicate_degree(const Value& value, Translation& translation) {
  const std::int64_t degree = pasted_count(value);
  const int ranks = translation.into().ranks;
  if (degree < 1 || ranks % degree != 0) value.fail(fmt::format("a divisor of the {} ranks", ranks));
  if (degree > 1) translation.set_usual("shard_group", ranks / degree, value);
}

std::vector<PastedKey> llm_foundry_fsdp_keys() {
  std::vector<PastedKey> keys = common_fsdp_keys();
  keys.push_back({"sharding_strategy", take_sharding_strategy});
  keys.push_back({"mixed_precision", take_mixed_precision});
  keys.push_back({"data_parallel_shard_degree", take_shard_degree});
  keys.push_back({"data_parallel_replicate_degree", take_replicate_degree});
  add_rows(keys, not_simulated,
           "activation_cpu_offload cpu_offload process_group device_mesh min_params keep_low_precision_grads "
           "te_shard_fp8_weight ignored_modules");
  add_rows(keys, free_of_charge,
           "activation_checkpointing_reentrant flatten_parameters load_monolith_rank0_only load_planner "
           "save_planner sharded_ckpt_prefix_dir te_checkpoint_wrapper verbose auto_wrap");
  return keys;
}

/// Of a whole run; all else in it is about the model, the data and the trainer.
std::vector<PastedKey> llm_foundry_keys(const Value& pasted) {
  std::vector<PastedKey> keys{within("fsdp_config", llm_foundry_fsdp_keys())};
  keys.push_back({"precision", [](const Value& value, Translation& translation) {
                    const auto name = read<std::string>(value);
                    expect_precision(value, name.starts_with("amp_") ? name.substr(4) : name, translation);
                  }});
  keys.push_back({"device_train_microbatch_size", expect_batch});
  for (const auto& [name, value] : pasted.members()) {
    const auto is_known = [&, &own = name](const PastedKey& key) { return key.name == own; };
    if (std::ranges::none_of(keys, is_known)) keys.push_back(free_of_charge(name));
  }
  return keys;
}

}  // namespace

void translate_llm_foundry(const Value& pasted, Translation& translation) {
  const bool is_whole = pasted.member("fsdp_config").has_value();
  translate(pasted, is_whole ? llm_foundry_keys(pasted) : llm_foundry_fsdp_keys(), translation);
  const std::string& low = translation.into().precision;
  if (low != "bf16" && low != "fp16" && translation.find("param_dtype") == nullptr) {
    pasted.fail("\"precision\" of the workload bf16 or fp16, or \"mixed_precision\": \"FULL\"", low);
  }
  set_usual_types(translation, low.c_str(), "fp32", pasted);
  translation.set_usual("backward_prefetch", std::string("BACKWARD_POST"), pasted);
  translation.set_usual("no_sync", false, pasted);  // Composer enters no_sync for DDP only
  set_usual_group(translation, pasted);
}

}}  // namespace farandole::training
