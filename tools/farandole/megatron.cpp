// Arguments of Megatron-LM's pretrain_gpt.py as a scenario has them: names and defaults of
// megatron/training/arguments.py of core 0.12 and before, buckets of core/distributed/distributed_data_parallel.py.
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "job_options.hpp"
#include "pasted_job.hpp"
#include "report/record.hpp"

namespace farandole {
namespace {

constexpr int most_of_megatron = 1 << 20;

int megatron_number(JobOptions& options, const char* name, int otherwise) {
  return options.take_number({name}, otherwise, 1, most_of_megatron);
}

void refuse_of_megatron(JobOptions& options) {
  for (const char* name : {"context-parallel-size", "expert-model-parallel-size"}) {
    const int degree = megatron_number(options, name, 1);
    if (degree > 1) options.refuse({name}, "1: no more is simulated", std::to_string(degree));
  }
  for (const char* name : {"num-layers-per-virtual-pipeline-stage", "use-megatron-fsdp"}) {
    const auto value = options.take({name});
    if (!value) continue;
    options.refuse({name}, fmt::format("no {}, which is not simulated", options.spelled(name)),
                   value->empty() ? "it" : *value);
  }
}

/// As Megatron pads it: to what 128 rows on each of a tensor group divide; GPT-2's where pretrain_gpt.py is told
/// nothing. 0: not known.
int megatron_vocabulary(JobOptions& options, int tensor) {
  static const std::map<std::string, int> known{{"GPT2BPETokenizer", 50257}, {"Llama2Tokenizer", 32000}};
  const int padded = megatron_number(options, "padded-vocab-size", 0);
  const auto tokenizer = known.find(options.take({"tokenizer-type"}).value_or("GPT2BPETokenizer"));
  const int words = megatron_number(options, "vocab-size", tokenizer == known.end() ? 0 : tokenizer->second);
  const int rows = 128 * tensor;
  return padded > 0 ? padded : (words + rows - 1) / rows * rows;
}

/// The configuration of the model that the arguments lay, in the words of Hugging Face, or what it takes to know it.
void take_megatron_model(PastedJob& job, JobOptions& options, int tensor) {
  const int words = megatron_vocabulary(options, tensor);
  const int layers = megatron_number(options, "num-layers", 0);
  const int hidden = megatron_number(options, "hidden-size", 0);
  const int heads = megatron_number(options, "num-attention-heads", 0);
  const bool is_gated = options.take_flag("swiglu");
  const int inner = megatron_number(options, "ffn-hidden-size",
                                    is_gated ? hidden * 8 / 3 / 64 * 64 : std::min(hidden, most_of_megatron / 4) * 4);
  const bool is_grouped = options.take_flag("group-query-attention");
  const int groups = megatron_number(options, "num-query-groups", is_grouped ? 1 : heads);
  const int width = megatron_number(options, "kv-channels", heads == 0 ? 0 : hidden / heads);
  const int positions = megatron_number(options, "max-position-embeddings", 4096);
  const bool is_tied = !options.take_flag("untie-embeddings-and-output-weights");
  const bool is_rotary = options.take({"position-embedding-type"}).value_or("learned_absolute") != "learned_absolute";
  options.take({"normalization"});
  const auto named = [&](const char* name) { return options.spelled(name); };
  job.origins[of_model_file] = options.where({});
  job.model_lacks = layers == 0                    ? named("num-layers")
                    : hidden == 0                  ? named("hidden-size")
                    : heads == 0                   ? named("num-attention-heads")
                    : words == 0                   ? named("vocab-size")
                    : options.has("num-experts")   ? "a model without " + named("num-experts")
                    : !is_gated && groups != heads ? named("swiglu") + " beside " + named("num-query-groups")
                                                   : "";
  if (!job.model_lacks.empty()) return;
  nlohmann::ordered_json model{{"model_type", is_gated ? "llama" : is_rotary || !is_tied ? "gpt_neox" : "gpt2"}};
  if (model["model_type"] == "gpt2") {
    model.update(
        {{"n_layer", layers}, {"n_embd", hidden}, {"n_head", heads}, {"n_inner", inner}, {"n_positions", positions}});
  } else {
    model.update({{"num_hidden_layers", layers},
                  {"hidden_size", hidden},
                  {"num_attention_heads", heads},
                  {"intermediate_size", inner},
                  {"max_position_embeddings", positions},
                  {"tie_word_embeddings", is_tied}});
  }
  if (is_gated) model.update({{"num_key_value_heads", groups}, {"head_dim", width}});
  model["vocab_size"] = words;
  const auto blame = [&](const char* key, std::initializer_list<const char*> names) {
    job.origins[std::string(of_model_file) + key] = options.where(names);
  };
  for (const char* key : {"/num_attention_heads", "/n_head"}) blame(key, {"num-attention-heads"});
  for (const char* key : {"/hidden_size", "/n_embd"}) blame(key, {"hidden-size"});
  blame("/num_key_value_heads", {"num-query-groups", "num-attention-heads"});
  blame("/vocab_size", {"padded-vocab-size", "vocab-size"});
  job.model_file = model.dump(2) + "\n";
}

void take_megatron_recomputation(PastedJob& job, JobOptions& options) {
  const bool is_selective = options.take_flag("recompute-activations");
  const std::string granularity = options.take({"recompute-granularity"}).value_or(is_selective ? "selective" : "none");
  if (granularity == "full" && options.take({"recompute-method"}).value_or("uniform") != "uniform") {
    options.refuse({"recompute-method"}, "uniform: recomputation of some blocks is not simulated", "block");
  }
  if (granularity == "full" && megatron_number(options, "recompute-num-layers", 1) != 1) {
    options.refuse({"recompute-num-layers"}, "1: units of more layers are not simulated", "more");
  }
  if (granularity != "none") job.recompute = granularity == "selective" ? "attention" : granularity;
}

/// Of gradients that are shorter than fp32, or empty: with --bf16 they are fp32 unless they are to be reduced in bf16,
/// with --fp16 they are fp16 unless they are to be accumulated in fp32.
std::string short_gradients(JobOptions& options) {
  const bool is_bf16 = options.take_flag("grad-reduce-in-bf16");
  const bool is_fp32 = options.take_flag("accumulate-allreduce-grads-in-fp32");
  if (options.has("fp16")) return is_fp32 ? "" : "fp16";
  return is_bf16 ? "bf16" : "";
}

/// Buckets hold 40 million numbers, or a million for each rank of a data-parallel group.
void take_megatron_strategy(PastedJob& job, JobOptions& options, int replicas, bool is_staged) {
  constexpr int million = 1000 * 1000;
  const auto add_flag = [&](const char* key, bool is_on) { add_setting(job, key, is_on ? "true" : "false"); };
  const int usual = std::min(std::max(40, replicas), std::numeric_limits<int>::max() / million) * million;
  const std::int64_t bucket = options.take_number({"ddp-bucket-size"}, usual);
  const std::string short_type = short_gradients(options);
  const bool overlaps = options.take_flag("overlap-grad-reduce");
  const bool gathers_beside = options.take_flag("overlap-param-gather");
  if (!short_type.empty()) job.workload.emplace_back("gradient_type", json_text(short_type));
  if (options.take_flag("use-torch-fsdp2")) {
    job.strategy = "fsdp";
  } else if (options.take_flag("use-distributed-optimizer")) {
    job.strategy = "zero";
    add_setting(job, "stage", "1");
    add_flag("overlap_comm", overlaps);
    if (!is_staged) add_flag("overlap_params", gathers_beside);
    add_setting(job, "reduce_bucket_size", std::to_string(bucket));
    add_setting(job, "communication_data_type", json_text(short_type.empty() ? "fp32" : short_type));
  } else {
    job.strategy = "ddp";
    add_flag("overlap", overlaps);
    for (const char* key : {"first_bucket", "bucket_cap"}) {
      const std::int64_t bytes = bucket * (short_type.empty() ? 4 : 2);
      const bool is_round = bytes % million == 0;
      add_setting(job, key, json_text(fmt::format("{} {}", is_round ? bytes / million : bytes, is_round ? "MB" : "B")));
    }
  }
}

}  // namespace

void take_megatron(PastedJob& job, JobOptions& options) {
  refuse_of_megatron(options);
  const int tensor = megatron_number(options, "tensor-model-parallel-size", 1);
  const int stages = megatron_number(options, "pipeline-model-parallel-size", 1);
  const bool shares_tokens = options.take_flag("sequence-parallel");
  take_megatron_model(job, options, tensor);
  if (options.take({"fp8-format"})) job.precision = "fp8";
  const std::string optimizer = options.take({"optimizer"}).value_or("adam");
  if (optimizer != "adam" && optimizer != "sgd") options.refuse({"optimizer"}, "adam or sgd", optimizer);
  job.optimizer = optimizer;
  take_megatron_recomputation(job, options);
  const std::int64_t replica = std::int64_t{tensor} * stages;
  if (job.ranks % replica != 0) {
    options.refuse({}, fmt::format("a multiple of the {} x {} ranks of a replica", tensor, stages),
                   std::to_string(job.ranks) + " ranks");
  }
  const int replicas = static_cast<int>(job.ranks / replica);
  const std::int64_t samples = std::int64_t{job.batch} * replicas;  // of a pass
  if (job.batch == 0)
    options.refuse({}, options.spelled("micro-batch-size") + " beside the arguments of Megatron-LM", "none");
  const int all = megatron_number(options, "global-batch-size",
                                  static_cast<int>(std::min<std::int64_t>(samples, most_of_megatron)));
  if (all % samples != 0) {
    options.refuse({"global-batch-size"}, fmt::format("a multiple of the {} samples of a pass", samples),
                   std::to_string(all));
  }
  const auto add_count = [&](const char* key, std::int64_t count, const char* name) {
    if (count > 1) add_setting(job, key, std::to_string(count), options.where({name}));
  };
  add_count("accumulation", all / samples, "global-batch-size");
  // With DeepSpeed beside it the file of that says the rest.
  if (!options.has("deepspeed") && !options.has("deepspeed-config")) {
    take_megatron_strategy(job, options, replicas, stages > 1);
  }
  add_count("tensor_parallel", tensor, "tensor-model-parallel-size");
  if (tensor > 1 && shares_tokens) add_setting(job, "sequence_parallel", "true");
  add_count("pipeline", stages, "pipeline-model-parallel-size");
}

}  // namespace farandole
