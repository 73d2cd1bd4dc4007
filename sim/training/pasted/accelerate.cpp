// accelerate's fsdp_config, as `accelerate config` writes it, and as the Trainer of Transformers takes it (without
// "fsdp_" before the keys). Keys and defaults of accelerate 1.x, utils/dataclasses.py: FullyShardedDataParallelPlugin.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/section.hpp"
#include "training/pasted/translation.hpp"

namespace farandole { inline namespace training {
namespace {

/// torch.distributed.fsdp.ShardingStrategy, from 1 on.
constexpr std::array<const char*, 5> by_number{"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                                               "_HYBRID_SHARD_ZERO2"};

void take_strategy(const Value& value, Translation& translation) {
  const auto* number = std::get_if<std::int64_t>(&value.node().value);
  if (number == nullptr) return take_sharding_strategy(value, translation);
  if (*number < 1 || *number > static_cast<std::int64_t>(by_number.size())) value.fail("a sharding strategy, 1 to 5");
  translation.set("sharding_strategy", std::string(by_number.at(static_cast<std::size_t>(*number - 1))), value);
}

/// Of FSDP2 true or false; before it, the sharding strategy.
void take_reshard(const Value& value, Translation& translation) {
  if (value.is_string()) return take_strategy(value, translation);
  translation.set("reshard_after_forward", read<bool>(value), value);
}

void take_wrapping(const Value& value, Translation& translation) {
  const auto* policy = std::get_if<std::string>(&value.node().value);
  if (policy == nullptr || *policy != "TRANSFORMER_BASED_WRAP") {
    value.fail("TRANSFORMER_BASED_WRAP: no other way to wrap is simulated");
  }
  translation.ignore(value);
}

std::vector<PastedKey> accelerate_fsdp_keys() {
  std::vector<PastedKey> keys = common_fsdp_keys();
  keys.push_back({"sharding_strategy", take_strategy});
  keys.push_back({"reshard_after_forward", take_reshard});
  keys.push_back({"backward_prefetch_policy", take_backward_prefetch});
  keys.push_back({"auto_wrap_policy", take_wrapping});
  add_rows(keys, not_simulated, "offload_params min_num_params xla");
  add_rows(keys, free_of_charge, "version cpu_ram_efficient_loading transformer_layer_cls_to_wrap");
  const std::size_t bare = keys.size();
  for (std::size_t i = 0; i < bare; ++i) keys.push_back({"fsdp_" + keys[i].name, keys[i].take});
  return keys;
}

void take_precision(const Value& value, Translation& translation) {
  // "no" without quotes is a truth value of YAML.
  const auto* flag = std::get_if<bool>(&value.node().value);
  const auto* text = std::get_if<std::string>(&value.node().value);
  const bool is_no = (flag != nullptr && !*flag) || (text != nullptr && *text == "no");
  if (!is_no && (text == nullptr || (*text != "bf16" && *text != "fp16"))) {
    value.fail("bf16, fp16 or no: no other mixed precision is simulated here");
  }
  const std::string type = is_no ? "fp32" : *text;
  expect_precision(value, type, translation);
  translation.set_usual("param_dtype", type, value);
  translation.set_usual("reduce_dtype", type, value);
}

PastedKey agrees(std::string key, int PastedInto::*with, const char* what) {
  return {std::move(key), [with, what](const Value& value, Translation& translation) {
            const int wanted = translation.into().*with;
            if (pasted_count(value) != wanted) value.fail(fmt::format("{}, the {} of the scenario", wanted, what));
          }};
}

std::vector<PastedKey> accelerate_keys() {
  std::vector<PastedKey> keys{within("fsdp_config", accelerate_fsdp_keys()),
                              {"mixed_precision", take_precision},
                              agrees("num_processes", &PastedInto::ranks, "ranks"),
                              agrees("num_machines", &PastedInto::nodes, "nodes"),
                              sets("gradient_accumulation_steps", "accumulation")};
  keys.push_back({"distributed_type", [](const Value& value, Translation&) {
                    const auto* type = std::get_if<std::string>(&value.node().value);
                    if (type == nullptr || *type != "FSDP") value.fail("FSDP");
                  }});
  add_rows(keys, not_simulated,
           "use_cpu tpu_use_cluster megatron_lm_config deepspeed_config dynamo_config fp8_config "
           "parallelism_config mpirun_config");
  add_rows(keys, free_of_charge,
           "compute_environment debug downcast_bf16 machine_rank main_training_function main_process_ip "
           "main_process_port rdzv_backend same_network tpu_env tpu_use_sudo gpu_ids enable_cpu_affinity "
           "command_file commands tpu_name tpu_zone deepspeed_hostfile comment");
  return keys;
}

}  // namespace

void translate_accelerate(const Value& pasted, Translation& translation) {
  const auto whole = pasted.member("fsdp_config");
  translate(pasted, whole ? accelerate_keys() : accelerate_fsdp_keys(), translation);
  const bool is_second = std::ranges::any_of(whole.value_or(pasted).members(), [](const auto& member) {
    return member.first.ends_with("version") && member.second.describe() == "2";
  });
  // FSDP2 always gathers the next unit before this one's backward pass.
  translation.set_usual("backward_prefetch", std::string(is_second ? "BACKWARD_PRE" : "NO_PREFETCH"), pasted);
  if (whole) set_usual_types(translation, "fp32", "fp32", pasted);
  set_usual_group(translation, pasted);
}

}}  // namespace farandole::training
