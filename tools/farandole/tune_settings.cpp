#include "tune_settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenario/parts.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

/// A value that is the same for all scenarios: pointers with what is set there, and the words. Neighbours of one name
/// are values of one setting.
struct ListedValue {
  const char* strategies;  // " ddp fsdp "; empty: of all
  const char* name;
  const char* set;
  const char* form;
  const char* text;
};

constexpr const char* ddp_call = "DistributedDataParallel(%)";
constexpr const char* fsdp_call = "fully_shard(%)";
constexpr const char* fsdp1_call = "FullyShardedDataParallel(%)";
constexpr const char* zero_key = "\"zero_optimization\": {%}";
constexpr const char* horovod_call = "hvd.DistributedOptimizer(%)";
constexpr const char* plain_form = "%";
constexpr const char* torchtitan_form = "[activation_checkpoint] %";

constexpr const char* of_servers = " parameter_server distributed_replicated ";
constexpr const char* hook_call = "register_comm_hook(%)";
constexpr const char* autocast_call = "torch.autocast(%)";

constexpr std::array listed_values{
    ListedValue{" ddp ", "gradient views", R"({"/strategy/gradient_as_bucket_view": true})", ddp_call,
                "gradient_as_bucket_view=True"},
    ListedValue{" ddp ", "unused parameters", R"({"/strategy/static_graph": true})", ddp_call, "static_graph=True"},
    ListedValue{" ddp ", "unused parameters", R"({"/strategy/find_unused_parameters": false})", ddp_call,
                "find_unused_parameters=False"},
    ListedValue{" fsdp ", "limit on allgathers", R"({"/strategy/limit_all_gathers": true})", fsdp1_call,
                "limit_all_gathers=True"},
    ListedValue{" fsdp ", "limit on allgathers", R"({"/strategy/limit_all_gathers": false})", fsdp1_call,
                "limit_all_gathers=False"},
    ListedValue{" fsdp ", "prefetching", R"({"/strategy/backward_prefetch": "BACKWARD_PRE"})", fsdp1_call,
                "backward_prefetch=BackwardPrefetch.BACKWARD_PRE"},
    ListedValue{" fsdp ", "prefetching", R"({"/strategy/backward_prefetch": "BACKWARD_POST"})", fsdp1_call,
                "backward_prefetch=BackwardPrefetch.BACKWARD_POST"},
    ListedValue{" fsdp ", "wrapping", R"({"/strategy/blocks_per_unit": 1})", fsdp_call, "each block"},
    ListedValue{" fsdp ", "wrapping", R"({"/strategy/blocks_per_unit": 2})", fsdp_call, "[2 neighbouring blocks]"},
    ListedValue{" fsdp ", "wrapping", R"({"/strategy/blocks_per_unit": 4})", fsdp_call, "[4 neighbouring blocks]"},
    ListedValue{" zero ", "overlap", R"({"/strategy/overlap_comm": true})", zero_key, "\"overlap_comm\": true"},
    ListedValue{" zero ", "overlap", R"({"/strategy/overlap_comm": false})", zero_key, "\"overlap_comm\": false"},
    ListedValue{" zero ", "reduce-scatter", R"({"/strategy/reduce_scatter": true})", zero_key,
                "\"reduce_scatter\": true"},
    ListedValue{" zero ", "reduce-scatter", R"({"/strategy/reduce_scatter": false})", zero_key,
                "\"reduce_scatter\": false"},
    ListedValue{of_servers, "variables on servers", R"({"/strategy/server_placement": "by_size"})", plain_form,
                "tf.contrib.training.GreedyLoadBalancingStrategy(load_fn=byte_size_load_fn)"},
    ListedValue{of_servers, "variables on servers", R"({"/strategy/server_placement": "split"})", plain_form,
                "tf.fixed_size_partitioner(one shard per server)"},
    ListedValue{" ddp ", "compressed gradients", R"({"/strategy/compression": "fp16"})", hook_call,
                "None, default_hooks.fp16_compress_hook"},
    ListedValue{" ddp ", "compressed gradients", R"({"/strategy/compression": "bf16"})", hook_call,
                "None, default_hooks.bf16_compress_hook"},
    ListedValue{" ddp ", "compressed gradients", R"({"/strategy/compression": {"kind": "power_sgd", "rank": 4}})",
                hook_call, "PowerSGDState(None, matrix_approximation_rank=4), powerSGD_hook"},
    ListedValue{" ddp ", "running statistics", R"({"/strategy/broadcast_buffers": false})", ddp_call,
                "broadcast_buffers=False"},
    ListedValue{" horovod ", "compressed gradients", R"({"/strategy/compression": "fp16"})", horovod_call,
                "compression=hvd.Compression.fp16"},
    ListedValue{" fsdp ", "type of sums", R"({"/strategy/reduce_dtype": "bf16"})", fsdp_call,
                "mp_policy=MixedPrecisionPolicy(reduce_dtype=torch.bfloat16)"},
    ListedValue{" zero ", "type of sums", R"({"/strategy/communication_data_type": "bf16"})", plain_form,
                "\"communication_data_type\": \"bf16\""},
    ListedValue{"", "precision", R"({"/workload/precision": "tf32"})", plain_form,
                "torch.backends.cuda.matmul.allow_tf32 = True"},
    ListedValue{"", "precision", R"({"/workload/precision": "bf16"})", autocast_call, "\"cuda\", torch.bfloat16"},
    ListedValue{"", "precision", R"({"/workload/precision": "fp16"})", autocast_call, "\"cuda\", torch.float16"},
};

constexpr std::array<std::string_view, 4> which_change_numbers{"compressed gradients", "running statistics",
                                                               "type of sums", "precision"};
constexpr std::array<std::string_view, 3> which_decide_memory{"gradient views", "wrapping", "precision"};

SetValue set_json(const std::string& pointer, const Json& value) {
  return {pointer, value.dump()};
}

TuneValue value_of(const ListedValue& listed) {
  TuneValue value{{}, {listed.form, listed.text}};
  const Json given = Json::parse(listed.set);
  for (const auto& [pointer, json] : given.items()) value.set.push_back(set_json(pointer, json));
  return value;
}

bool has_key(const WhatIfBase& base, const std::string& pointer) {
  return base.source.document.find(pointer).has_value();
}

/// DeepSpeed's own keys are set where they were pasted.
bool has_deepspeed(const WhatIfBase& base) {
  const auto pasted = base.source.document.find("/strategy/deepspeed");
  return pasted && pasted->is_object();
}

struct DeepspeedKey {
  std::string_view ours;
  std::string_view theirs;
};

constexpr std::array deepspeed_keys_of{
    DeepspeedKey{"/strategy/stage", "/strategy/deepspeed/zero_optimization/stage"},
    DeepspeedKey{"/strategy/overlap_comm", "/strategy/deepspeed/zero_optimization/overlap_comm"},
    DeepspeedKey{"/strategy/reduce_scatter", "/strategy/deepspeed/zero_optimization/reduce_scatter"},
    DeepspeedKey{"/strategy/reduce_bucket_size", "/strategy/deepspeed/zero_optimization/reduce_bucket_size"},
    DeepspeedKey{"/strategy/shard_group", "/strategy/deepspeed/zero_optimization/mics_shard_size"},
    DeepspeedKey{"/strategy/communication_data_type", "/strategy/deepspeed/communication_data_type"},
    DeepspeedKey{"/strategy/accumulation", "/strategy/deepspeed/gradient_accumulation_steps"}};

void set_where_pasted(const WhatIfBase& base, TuneValue& value) {
  constexpr const char* micro_batch_key = "/strategy/deepspeed/train_micro_batch_size_per_gpu";
  std::vector<SetValue> more;
  for (SetValue& set : value.set) {
    const auto known = std::ranges::find(deepspeed_keys_of, set.pointer, &DeepspeedKey::ours);
    if (known != deepspeed_keys_of.end()) set.pointer = known->theirs;
    if (set.pointer == "/workload/batch_per_rank" && has_key(base, micro_batch_key))
      more.push_back({micro_batch_key, set.json});
  }
  value.set.insert(value.set.end(), more.begin(), more.end());
}

// ---- rows whose values depend on the scenario

TuneSetting bucket_size(const WhatIfBase& base) {
  TuneSetting setting{"bucket size"};
  const bool has_text = has_key(base, "/strategy/bucket_cap");
  for (const int mebibytes : {5, 10, 25, 50, 100, 200, 400}) {
    const SetValue set = has_text ? set_json("/strategy/bucket_cap", fmt::format("{} MiB", mebibytes))
                                  : set_json("/strategy/bucket_cap_mb", mebibytes);
    setting.values.push_back({{set}, {ddp_call, fmt::format("bucket_cap_mb={}", mebibytes)}});
  }
  return setting;
}

/// A variable of Horovod's, or the key that stands for it where the scenario has that.
TuneValue horovod_value(const WhatIfBase& base, const char* key, const Json& value, const std::string& variable,
                        const std::string& text) {
  const bool has_own = key != nullptr && has_key(base, key);
  const SetValue set = has_own ? set_json(key, value) : set_json("/strategy/settings/" + variable, text);
  return {{set}, {plain_form, variable + "=" + text}};
}

std::vector<TuneSetting> of_horovod(const WhatIfBase& base) {
  TuneSetting fusion{"fusion threshold"};
  for (const int mebibytes : {2, 8, 16, 32, 64, 128, 256}) {
    fusion.values.push_back(horovod_value(base, "/strategy/fusion_threshold", fmt::format("{} MiB", mebibytes),
                                          "HOROVOD_FUSION_THRESHOLD",
                                          std::to_string(std::int64_t{mebibytes} * 1024 * 1024)));
  }
  TuneSetting cycle{"cycle time"};
  for (const char* milliseconds : {"0.5", "1", "2", "5", "10", "25"}) {
    cycle.values.push_back(horovod_value(base, "/strategy/cycle_time", std::string(milliseconds) + " ms",
                                         "HOROVOD_CYCLE_TIME", milliseconds));
  }
  const auto variable = [&](const char* name, const std::string& text) {
    return horovod_value(base, nullptr, {}, name, text);
  };
  return {fusion,
          cycle,
          {"levels of the allreduce",
           false,
           false,
           {variable("HOROVOD_HIERARCHICAL_ALLREDUCE", "1"), variable("HOROVOD_HIERARCHICAL_ALLREDUCE", "0"),
            variable("HOROVOD_TORUS_ALLREDUCE", "1")}},
          {"response cache", false, false, {variable("HOROVOD_CACHE_CAPACITY", "1024")}},
          {"batched copies", false, false, {variable("HOROVOD_BATCH_D2D_MEMCOPIES", "1")}}};
}

int ranks_of_one_node(const WhatIfBase& base) {
  const PlatformSpec& platform = base.scenario.platform;
  return platform.placement.ranks_per_node(platform.platform.devices_per_node) / base.scenario.strategy.replica();
}

/// A node's, and those of a few: with HYBRID_SHARD, which keeps the resharding as it is.
TuneSetting shard_groups(const WhatIfBase& base) {
  TuneSetting setting{"shard group", false, true};
  const StrategyChoice& strategy = base.scenario.strategy;
  const int replicas = base.scenario.replicas();
  const bool is_hybrid = strategy.variant.find("HYBRID") != std::string::npos;
  const bool is_sharded_whole = strategy.variant == "FULL_SHARD" || strategy.variant == "SHARD_GRAD_OP";
  if (!is_hybrid && !is_sharded_whole) return setting;
  const int of_node = std::max(1, ranks_of_one_node(base));
  for (const int shards : {of_node, 2 * of_node, 4 * of_node, 8 * of_node, replicas}) {
    if (shards < 2 || shards > (is_hybrid ? replicas : replicas - 1) || replicas % shards != 0) continue;
    const std::string mesh =
        shards == replicas ? fmt::format("({},)", shards) : fmt::format("({}, {})", replicas / shards, shards);
    TuneValue value{{set_json("/strategy/shard_group", shards)},
                    {fsdp_call, fmt::format("mesh=init_device_mesh(\"cuda\", {})", mesh)}};
    if (!is_hybrid) {
      const char* hybrid = strategy.variant == "FULL_SHARD" ? "HYBRID_SHARD" : "_HYBRID_SHARD_ZERO2";
      value.set.insert(value.set.begin(), set_json("/strategy/sharding_strategy", hybrid));
    }
    setting.values.push_back(std::move(value));
  }
  return setting;
}

std::vector<TuneSetting> of_fsdp(const WhatIfBase& base) {
  TuneSetting kept{"resharding", false, true};
  const auto reshards = [&](const Json& value, const std::string& word) {
    kept.values.push_back(
        {{set_json("/strategy/reshard_after_forward", value)}, {fsdp_call, "reshard_after_forward=" + word}});
  };
  reshards(true, "True");
  reshards(false, "False");
  const int of_node = ranks_of_one_node(base);
  if (of_node > 1) reshards(of_node, std::to_string(of_node));
  std::vector<TuneSetting> settings{shard_groups(base), kept};
  if (base.scenario.strategy.accumulation > 1) {
    settings.push_back(
        {"reduction of passes",
         false,
         true,
         {{{set_json("/strategy/no_sync", false)}, {plain_form, "set_requires_gradient_sync(True) in every pass"}},
          {{set_json("/strategy/no_sync", true)},
           {plain_form, "set_requires_gradient_sync(False) in all passes but the last"}}}});
  }
  return settings;
}

std::vector<TuneSetting> of_zero(const WhatIfBase& base) {
  TuneSetting bucket{"bucket size"};
  for (const int millions : {50, 100, 200, 500, 1000}) {
    bucket.values.push_back(
        {{set_json("/strategy/reduce_bucket_size", std::int64_t{millions} * 1'000'000)},
         {zero_key, fmt::format("\"reduce_bucket_size\": {}", std::int64_t{millions} * 1'000'000)}});
  }
  TuneSetting stage{"stage", false, true};
  for (const int number : {1, 2, 3})
    stage.values.push_back({{set_json("/strategy/stage", number)}, {zero_key, fmt::format("\"stage\": {}", number)}});
  const int of_node = ranks_of_one_node(base);
  for (const int shards : {of_node, 2 * of_node, 4 * of_node}) {
    const bool divides = shards > 1 && shards < base.scenario.replicas() && base.scenario.replicas() % shards == 0;
    if (!divides) continue;
    stage.values.push_back({{set_json("/strategy/stage", 3), set_json("/strategy/shard_group", shards)},
                            {zero_key, fmt::format("\"stage\": 3, \"mics_shard_size\": {}", shards)}});
  }
  return {bucket, stage};
}

/// NCCL has trees since 2.4; what it picks by itself is another value where the scenario says something else.
TuneSetting nccl_algorithm(const WhatIfBase& base) {
  TuneSetting setting{"NCCL's algorithm"};
  const Scenario& scenario = base.scenario;
  const std::string& library = scenario.platform.platform.transport.library;
  const bool is_nccl = library.starts_with("nccl") || library.starts_with("rccl");
  const bool reduces = carrier_of(scenario.strategy) == Operation::allreduce;
  if (!is_nccl || !reduces || scenario.strategy.servers || scenario.platform.ranks == 1) return setting;
  const auto add = [&](const char* algorithm, const char* words) {
    setting.values.push_back({{set_json("/collectives/allreduce", algorithm)}, {plain_form, words}});
  };
  if (!scenario.libraries.contains(Operation::allreduce)) add("library", "NCCL_ALGO unset");
  if (library == "nccl-2.3") return setting;
  add("ring", "NCCL_ALGO=Ring");
  add("node_tree", "NCCL_ALGO=Tree");
  return setting;
}

FrameworkWords micro_batch_words(const std::string& kind, int batch, int passes) {
  if (kind == "zero") {
    return {plain_form,
            fmt::format("\"train_micro_batch_size_per_gpu\": {}, \"gradient_accumulation_steps\": {}", batch, passes)};
  }
  if (kind == "horovod")
    return {plain_form, fmt::format("DataLoader(batch_size={}), backward_passes_per_step={}", batch, passes)};
  const char* others = kind == "fsdp" ? "set_requires_gradient_sync(False)" : "no_sync()";
  if (passes == 1) return {plain_form, fmt::format("DataLoader(batch_size={}), one pass a step", batch)};
  return {plain_form,
          fmt::format("DataLoader(batch_size={}), {} in {} of {} passes", batch, others, passes - 1, passes)};
}

/// As many samples a step: those divisors of a rank's samples that are nearest to the micro-batch.
TuneSetting micro_batch(const WhatIfBase& base) {
  constexpr std::size_t most = 5;
  const Scenario& scenario = base.scenario;
  const int batch = scenario.workload.batch_per_rank;
  const int samples = batch * scenario.strategy.accumulation;
  std::vector<int> batches;
  for (int divisor = 1; divisor <= samples / divisor; ++divisor) {
    if (samples % divisor != 0) continue;
    for (const int one : std::set<int>{divisor, samples / divisor}) {
      if (one != batch) batches.push_back(one);
    }
  }
  std::ranges::sort(batches, {}, [&](int one) { return std::pair(std::abs(std::log2(1.0 * one / batch)), one); });
  if (batches.size() > most) batches.resize(most);
  std::ranges::sort(batches);
  const bool normalises_batches =
      !base.scenario.workload.model.layers.empty() && job_of(scenario, times_of(scenario)).buffer_bytes() > Bytes(0);
  TuneSetting setting{"micro-batch", normalises_batches, true};
  for (const int one : batches) {
    const int passes = samples / one;
    TuneValue value{{set_json("/strategy/accumulation", passes)},
                    micro_batch_words(scenario.strategy.kind, one, passes)};
    if (scenario.workload.global_batch == 0)
      value.set.insert(value.set.begin(), set_json("/workload/batch_per_rank", one));
    setting.values.push_back(std::move(value));
  }
  return setting;
}

TuneSetting recomputation(const WhatIfBase& base) {
  TuneSetting setting{"recomputation", false, true};
  if (!has_blocks(base.scenario.workload.model)) return setting;
  const std::string& kind = base.scenario.strategy.kind;
  const bool is_torchtitan = kind == "fsdp";
  const auto add = [&](const char* which, const char* of_torchtitan, const char* of_others) {
    const FrameworkWords words =
        is_torchtitan ? FrameworkWords{torchtitan_form, of_torchtitan} : FrameworkWords{plain_form, of_others};
    setting.values.push_back({{set_json("/workload/recompute", which)}, words});
  };
  add("none", "mode = \"none\"", "gradient_checkpointing=False");
  add("selective", "mode = \"selective\", selective_ac_option = \"op\"",
      "checkpoint(block, context_fn=create_selective_checkpoint_contexts)");
  add("full", "mode = \"full\"", "gradient_checkpointing=True");
  return setting;
}

/// It takes as long here, in less memory.
TuneSetting fused_loss(const WhatIfBase& base) {
  TuneSetting setting{"loss", false, true};
  const WorkloadSpec& workload = base.scenario.workload;
  const bool is_plain = workload.loss.value_or(workload.compiled ? Loss::fused : Loss::plain) == Loss::plain;
  const bool has_words = !workload.model.layers.empty() && workload.model.layers.back().type == "cross_entropy";
  if (is_plain && has_words)
    setting.values.push_back({{set_json("/workload/loss", "fused")}, {plain_form, "torch.compile(cross_entropy)"}});
  return setting;
}

bool is_listed_for(const ListedValue& row, const std::string& kind) {
  return *row.strategies == '\0' || std::string(row.strategies).find(" " + kind + " ") != std::string::npos;
}

void add_listed(const std::string& kind, std::vector<TuneSetting>& settings) {
  const auto is_among = [](const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const ListedValue& row : listed_values) {
    if (!is_listed_for(row, kind)) continue;
    if (settings.empty() || settings.back().name != row.name) {
      settings.push_back({row.name, is_among(which_change_numbers, row.name), is_among(which_decide_memory, row.name)});
    }
    settings.back().values.push_back(value_of(row));
  }
}

}  // namespace

std::string joined(const std::vector<FrameworkWords>& words) {
  std::vector<FrameworkWords> forms;
  for (const FrameworkWords& one : words) {
    const auto same = std::ranges::find(forms, one.form, &FrameworkWords::form);
    if (same == forms.end() || one.form == plain_form) {
      forms.push_back(one);
    } else {
      const bool is_positional = one.form.ends_with("(%)") && one.text.find('=') == std::string::npos;
      same->text = is_positional ? one.text + ", " + same->text : same->text + ", " + one.text;
    }
  }
  std::string all;
  for (const FrameworkWords& one : forms) {
    std::string text = one.form;
    all += (all.empty() ? "" : "; ") + text.replace(text.find('%'), 1, one.text);
  }
  return all;
}

std::vector<TuneSetting> tune_settings(const WhatIfBase& base) {
  const std::string& kind = base.scenario.strategy.kind;
  std::vector<TuneSetting> settings;
  if (kind == "ddp") settings.push_back(bucket_size(base));
  if (kind == "horovod") std::ranges::move(of_horovod(base), std::back_inserter(settings));
  if (kind == "fsdp") std::ranges::move(of_fsdp(base), std::back_inserter(settings));
  if (kind == "zero") std::ranges::move(of_zero(base), std::back_inserter(settings));
  add_listed(kind, settings);
  settings.push_back(micro_batch(base));
  if (has_deepspeed(base)) {
    for (TuneSetting& setting : settings) {
      for (TuneValue& value : setting.values) set_where_pasted(base, value);
    }
  }
  const Precision precision = base.scenario.workload.precision;
  if (precision != Precision::fp32 && precision != Precision::tf32)
    std::erase_if(settings, [](const TuneSetting& setting) { return setting.name == "precision"; });
  settings.push_back(recomputation(base));
  settings.push_back(fused_loss(base));
  settings.push_back(nccl_algorithm(base));
  std::erase_if(settings, [](const TuneSetting& setting) { return setting.values.empty(); });
  return settings;
}

std::vector<std::string> tune_notes(const WhatIfBase& base) {
  std::vector<std::string> notes;
  const std::string& kind = base.scenario.strategy.kind;
  if (kind == "fsdp") {
    notes.emplace_back(
        "fully_shard(reshard_after_forward=False) is FullyShardedDataParallel's SHARD_GRAD_OP, a mesh of two "
        "dimensions "
        "its HYBRID_SHARD; limit_all_gathers and backward_prefetch are FullyShardedDataParallel's alone");
  }
  return notes;
}

}  // namespace farandole
