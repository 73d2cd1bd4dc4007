// DeepSpeed's configuration: keys and defaults of DeepSpeed 0.14, runtime/config.py, runtime/zero/config.py and
// runtime/zero/offload_config.py.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "config/section.hpp"
#include "training/pasted/translation.hpp"

namespace farandole { inline namespace training {
namespace {

/// Stage 0 is what ddp does.
PastedKey stage() {
  return {"stage", [](const Value& value, Translation& translation) {
            const std::int64_t stage = pasted_count(value);
            if (stage < 1 || stage > 3) value.fail("1, 2 or 3 (stage 0 is no ZeRO: the strategy ddp)");
            translation.set("stage", value);
          }};
}

/// Of stage 3 every unit is reduced by itself.
PastedKey reduce_bucket_size() {
  return {"reduce_bucket_size", [](const Value& value, Translation& translation) {
            translation.set("reduce_bucket_size", pasted_count(value), value);
          }};
}

/// MiCS: parameters are sharded in groups of so many, and summed between them.
PastedKey mics_shard_size() {
  return {"mics_shard_size", [](const Value& value, Translation& translation) {
            const auto* number = std::get_if<std::int64_t>(&value.node().value);
            if (number == nullptr || *number != -1) translation.set("shard_group", value);
          }};
}

/// Unless it is as DeepSpeed has it by default, it is not simulated.
PastedKey only(const std::string& key, std::int64_t usual) {
  return {key, [key, usual](const Value& value, Translation&) {
            const auto* flag = std::get_if<bool>(&value.node().value);
            const std::int64_t given = flag != nullptr ? static_cast<std::int64_t>(*flag) : pasted_count(value);
            if (given == usual) return;
            value.fail(fmt::format("{} as by default, {}: no other is simulated", key, usual));
          }};
}

/// Any but 0, without which nothing is gathered ahead.
PastedKey prefetch_bucket_size() {
  return {"stage3_prefetch_bucket_size", [](const Value& value, Translation& translation) {
            if (pasted_count(value) == 0) value.fail("a bucket: stage 3 without prefetching is not simulated");
            translation.ignore(value);
          }};
}

/// To the hosts' memory, which update all of it.
PastedKey offload_optimizer() {
  return {"offload_optimizer", [](const Value& value, Translation& translation) {
            Section section(value);
            const Value device = section.child("device");
            const auto name = read<std::string>(device);
            if (name != "cpu" && name != "none") device.fail("cpu or none: no other is simulated");
            if (const auto ratio = section.maybe("ratio"); ratio && read<double>(*ratio) != 1)
              ratio->fail("1: an update of which devices do a part is not simulated");
            for (const char* key :
                 {"nvme_path", "pin_memory", "buffer_count", "fast_init", "pipeline_read", "pipeline_write"}) {
              if (const auto other = section.maybe(key)) translation.ignore(*other);
            }
            section.finish();
            if (name == "cpu") translation.set("offload_optimizer", true, device);
          }};
}

std::vector<PastedKey> zero_keys() {
  std::vector<PastedKey> keys{stage(),
                              sets("overlap_comm", "overlap_comm"),
                              sets("reduce_scatter", "reduce_scatter"),
                              reduce_bucket_size(),
                              mics_shard_size(),
                              prefetch_bucket_size(),
                              only("allgather_partitions", 1),
                              only("zero_hpz_partition_size", 1),
                              offload_optimizer()};
  add_rows(keys, not_simulated,
           "offload_param cpu_offload cpu_offload_params zero_quantized_weights "
           "zero_quantized_nontrainable_weights zero_quantized_gradients zeropp_loco_param "
           "mics_hierarchical_params_gather stage3_use_all_reduce_for_fetch_params legacy_stage1");
  add_rows(keys, free_of_charge,
           "allgather_bucket_size contiguous_gradients use_multi_rank_bucket_allreduce sub_group_size "
           "stage3_max_live_parameters stage3_max_reuse_distance stage3_param_persistence_threshold "
           "stage3_model_persistence_threshold stage3_module_granularity_threshold "
           "stage3_gather_16bit_weights_on_model_save stage3_gather_fp16_weights_on_model_save "
           "ignore_unused_parameters round_robin_gradients load_from_fp32_weights elastic_checkpoint "
           "cpu_offload_use_pin_memory memory_efficient_linear pipeline_loading_checkpoint override_module_apply "
           "log_trace_cache_warnings");
  return keys;
}

/// {"enabled": true, ...}: the rest is about the scale of the loss.
PastedKey half_precision(const char* name) {
  return {name, [name](const Value& value, Translation& translation) {
            Section section(value);
            const Value enabled = section.child("enabled");
            const bool is_open = enabled.is_string() && read<std::string>(enabled) == "auto";
            if (is_open ? translation.into().precision != name : !read<bool>(enabled)) return;
            expect_precision(enabled, name, translation);
            translation.set_usual("communication_data_type", std::string(name), enabled);
          }};
}

PastedKey optimizer() {
  static const std::map<std::string, std::string> known{
      {"Adam", "adam"}, {"AdamW", "adam"}, {"FusedAdam", "adam"}, {"SGD", "sgd"}, {"Lamb", "lamb"}};
  return {"optimizer", [](const Value& value, Translation& translation) {
            const Value type = Section(value).child("type");
            const auto name = read<std::string>(type);
            const auto row = known.find(name);
            if (row == known.end()) {
              std::vector<std::string> names;
              for (const auto& each : known) names.push_back(each.first);
              type.fail_unknown("an optimizer that is simulated", names);
            }
            // SGD with a momentum is "momentum" there.
            const bool is_same = translation.into().optimizer.starts_with(row->second) ||
                                 (name == "SGD" && translation.into().optimizer == "momentum");
            if (!is_same) type.fail(fmt::format("{}, the \"optimizer\" of the workload", translation.into().optimizer));
          }};
}

/// Of all ranks that have batches of their own, and all passes.
PastedKey train_batch_size() {
  return {"train_batch_size", [](const Value& value, Translation& translation) {
            const PastedInto& into = translation.into();
            const auto given = [&](const char* key) {
              const Node* node = translation.find(key);
              return node != nullptr ? std::max(std::int64_t{1}, pasted_count(Value(*node, ""))) : 1;
            };
            const std::int64_t count = given("accumulation");
            const std::int64_t ranks = into.ranks / given("tensor_parallel") / given("pipeline");
            const std::int64_t all = into.global_batch > 0 ? into.global_batch : into.batch_per_rank * count * ranks;
            if (pasted_count(value) == all) return;
            value.fail(fmt::format("{}, the samples of a step: {} ranks x {} passes x {}", all, ranks, count,
                                   into.batch_per_rank));
          }};
}

std::vector<PastedKey> deepspeed_keys() {
  std::vector<PastedKey> keys{
      within("zero_optimization", zero_keys()),
      {"train_micro_batch_size_per_gpu", expect_batch},
      sets("gradient_accumulation_steps", "accumulation"),
      sets("communication_data_type", "communication_data_type"),
      half_precision("bf16"),
      half_precision("fp16"),
      optimizer(),
      train_batch_size(),
      within("activation_checkpointing",
             {not_simulated("partition_activations"), not_simulated("cpu_checkpointing"),
              free_of_charge("contiguous_memory_optimization"), free_of_charge("number_checkpoints"),
              free_of_charge("synchronize_checkpoint_boundary"), free_of_charge("profile")}),
  };
  add_rows(keys, not_simulated,
           "amp sparse_gradients sparse_attention compression_training curriculum_learning data_efficiency "
           "elasticity autotuning tensor_parallel pipeline compile torch_autocast hybrid_engine data_types");
  add_rows(keys, free_of_charge,
           "scheduler prescale_gradients gradient_predivide_factor gradient_clipping steps_per_print "
           "wall_clock_breakdown memory_breakdown dump_state flops_profiler tensorboard wandb csv_monitor comet "
           "comms_logger checkpoint aio zero_allow_untested_optimizer zero_force_ds_cpu_optimizer seed "
           "dataloader_drop_last");
  return keys;
}

}  // namespace

void refuse_unknown_of_deepspeed(const Value& pasted) {
  refuse_unknown(pasted, deepspeed_keys());
  if (const auto zero = pasted.member("zero_optimization")) refuse_unknown(*zero, zero_keys());
}

void translate_deepspeed(const Value& pasted, Translation& translation) {
  Section section(pasted);
  const Value zero = section.child("zero_optimization");
  // What depends on other keys comes after them, wherever it stands.
  std::vector<PastedKey> keys = deepspeed_keys();
  Node first = pasted.node();
  Node last = first;
  const auto is_last = [](const Node::Member& member) {
    return member.key == "train_batch_size" || member.key == "bf16" || member.key == "fp16";
  };
  std::erase_if(std::get<Node::Object>(first.value), is_last);
  std::erase_if(std::get<Node::Object>(last.value), [&](const Node::Member& member) { return !is_last(member); });
  translate(Value(first, pasted.pointer()), keys, translation);
  if (translation.find("stage") == nullptr) zero.fail("a \"stage\" of 1, 2 or 3: without one DeepSpeed shards nothing");
  translate(Value(last, pasted.pointer()), keys, translation);
  if (translation.find("communication_data_type") == nullptr) {
    pasted.fail("\"bf16\" or \"fp16\" with \"enabled\": true (ZeRO on single precision is not simulated)");
  }
  const bool gathers_ahead = pasted_count(Value(*translation.find("stage"), "")) == 3;
  translation.set_usual("overlap_comm", gathers_ahead, zero);
}

}}  // namespace farandole::training
