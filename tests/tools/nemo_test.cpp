// farandole new --strategy config.yaml: NeMo's configuration of a Megatron model is what the same arguments of
// Megatron-LM are, or is refused where it asks for what is not simulated.
#include <algorithm>
#include <array>
#include <filesystem>

#include <gmock/gmock.h>

#include "tools/process.hpp"

namespace farandole::nemo_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The form of NeMo's conf/megatron_llama_config.yaml, with what people leave in it: Llama 3 8B.
constexpr const char* llama_yaml = R"(defaults:
  - _self_
name: megatron_gpt
restore_from_path: null # used when starting from a .nemo file

trainer:
  devices: 8
  num_nodes: 2
  accelerator: gpu
  precision: bf16-mixed
  logger: False # logger provided by exp_manager
  max_epochs: -1 # PTL default. In practice, max_steps will be reached first.
  accumulate_grad_batches: 1 # do not modify, grad acc is automatic for training megatron models

exp_manager:
  explicit_log_dir: null
  checkpoint_callback_params:
    filename: 'megatron_gpt--{val_loss:.2f}-{step}-{consumed_samples}'
    model_parallel_size: ${multiply:${model.tensor_model_parallel_size}, ${model.pipeline_model_parallel_size}}

model:
  mcore_gpt: True
  micro_batch_size: 1 # limited by GPU memory
  global_batch_size: 128 # will use more micro batches to reach global batch size
  tensor_model_parallel_size: 2 # intra-layer model parallelism
  pipeline_model_parallel_size: 1 # inter-layer model parallelism
  virtual_pipeline_model_parallel_size: null # interleaved pipeline

  encoder_seq_length: 8192
  max_position_embeddings: ${.encoder_seq_length}
  num_layers: 32
  hidden_size: 4096
  ffn_hidden_size: 14336 # Transformer FFN hidden size. Usually 4 * hidden_size.
  num_attention_heads: 32
  num_query_groups: 8
  kv_channels: null # Projection weights dimension in multi-head attention.
  normalization: 'rmsnorm' # Normalization layer to use. Options are 'layernorm', 'rmsnorm'
  activation: 'fast-swiglu' # Options ['gelu', 'geglu', 'swiglu']
  position_embedding_type: 'rope'
  share_embeddings_and_output_weights: False
  override_vocab_size: 128256

  tokenizer:
    library: 'sentencepiece'
    model: ??? # /path/to/tokenizer.model
    type: null

  megatron_amp_O2: True
  grad_allreduce_chunk_size_mb: 125
  activations_checkpoint_granularity: null
  activations_checkpoint_method: null
  activations_checkpoint_num_layers: null
  sequence_parallel: True
  fp8: False # enables fp8 in TransformerLayer forward

  data:
    data_prefix: ???
    seq_length: ${model.encoder_seq_length}
    splits_string: 900,50,50
  nsys_profile:
    enabled: False
    ranks: [0] # Global rank IDs to profile
  optim:
    name: distributed_fused_adam
    lr: 2e-4
    betas:
    - 0.9
    - 0.98
    bucket_cap_mb: 200
    overlap_param_sync: True
    sched:
      name: CosineAnnealing
      warmup_steps: 500
)";

/// The configuration with one text in place of another.
std::string nemo_with(const std::string& text, const std::string& other) {
  std::string yaml = llama_yaml;
  const auto place = yaml.find(text);
  return place == std::string::npos ? "not there: " + text : yaml.replace(place, text.size(), other);
}

struct Made {
  std::string said;  // or what was refused
  std::string scenario;
  std::string model;
};

Made made_of(const std::string& yaml, const std::string& arguments = "") {
  const test::Workplace place;
  place.write("nemo.yaml", yaml);
  const test::Finished made =
      place.farandole("new new.json --strategy nemo.yaml --machine hgx-h100 " + arguments + " </dev/null");
  const bool has_model = std::filesystem::exists(place.folder() / "new-model.json");
  if (made.status != 0) {
    EXPECT_FALSE(has_model);
    return {made.err, "", ""};
  }
  EXPECT_EQ(place.farandole("check new.json").out, "new.json: scenario, ok\n");
  return {made.out, test::contents(place.folder() / "new.json"),
          has_model ? test::contents(place.folder() / "new-model.json") : ""};
}

/// Of a line with arguments of Megatron-LM.
Made made_of_line(const std::string& options) {
  const test::Workplace place;
  const test::Finished line = place.farandole("new new.json --machine hgx-h100 " + options);
  EXPECT_EQ(line.status, 0) << line.err;
  const bool has_model = std::filesystem::exists(place.folder() / "new-model.json");
  return {line.out, test::contents(place.folder() / "new.json"),
          has_model ? test::contents(place.folder() / "new-model.json") : ""};
}

/// Both go the same way; a bucket of 200 MiB has 52,428,800 gradients of fp32.
TEST(NemoConfiguration, IsWhatTheSameArgumentsOfMegatronAre) {
  const Made line = made_of_line(
      "--launch 'torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers "
      "32 "
      "--hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention --num-query-groups "
      "8 "
      "--kv-channels 128 --seq-length 8192 --max-position-embeddings 8192 --position-embedding-type rope --swiglu "
      "--untie-embeddings-and-output-weights --padded-vocab-size 128256 --micro-batch-size 1 --global-batch-size 128 "
      "--bf16 --tensor-model-parallel-size 2 --sequence-parallel --use-distributed-optimizer --overlap-grad-reduce "
      "--overlap-param-gather'");
  std::string scenario = line.scenario;
  const std::string usual = "\"reduce_bucket_size\": 40000000";
  ASSERT_THAT(scenario, HasSubstr(usual));
  scenario.replace(scenario.find(usual), usual.size(), "\"reduce_bucket_size\": 52428800");
  const Made made = made_of(llama_yaml);
  EXPECT_EQ(made.scenario, scenario);
  EXPECT_FALSE(made.model.empty());
  EXPECT_EQ(made.model, line.model);
  EXPECT_THAT(made.said, AllOf(HasSubstr("new-model.json on hgx-h100, 16 ranks, zero in bf16, 1 sample a rank"),
                               Not(HasSubstr("Not used"))));
}

TEST(NemoConfiguration, IsAScenarioThatRuns) {
  const test::Workplace place;
  place.write("nemo.yaml", llama_yaml);
  EXPECT_EQ(place.farandole("new new.json --machine hgx-h100 --strategy nemo.yaml").status, 0);
  const test::Finished ran = place.farandole("run new.json --fidelity analytic --format csv --quiet");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(place.farandole("import nemo.yaml").err,
              HasSubstr("a configuration of NeMo: farandole new --strategy nemo.yaml"));
}

/// Values may name others of the file, and be products of them, as in those of NeMo's launcher.
TEST(NemoConfiguration, ResolvesWhatNamesOtherValues) {
  EXPECT_THAT(made_of(nemo_with("14336", "${multiply:4, ${.hidden_size}}")).model,
              HasSubstr("\"intermediate_size\": 16384"));
  EXPECT_THAT(made_of(nemo_with("micro_batch_size: 1 ", "micro_batch_size: ${trainer.num_nodes} ")).said,
              HasSubstr("2 samples a rank"));
  for (const char* other :
       {"${.nothing}", "${.num_layers}", "${oc.env:LAYERS}", "${multiply:4, many}", "${multiply:4"}) {
    EXPECT_THAT(made_of(nemo_with("num_layers: 32", std::string("num_layers: ") + other)).said,
                HasSubstr("nemo.yaml:31: /model/num_layers: expected a"))
        << other;
  }
}

TEST(NemoConfiguration, HasItsOwnOptimizersTypesAndRecomputation) {
  EXPECT_THAT(made_of(nemo_with("distributed_fused_adam", "fused_adam"), "--model llama3_2_1b").scenario,
              AllOf(HasSubstr("\"kind\": \"ddp\""), HasSubstr("\"overlap\": false"),
                    HasSubstr("\"bucket_cap\": \"131072000 B\"")));
  EXPECT_THAT(made_of(nemo_with("bucket_cap_mb: 200", "grad_sync_dtype: bf16")).scenario,
              AllOf(HasSubstr("\"communication_data_type\": \"bf16\""), HasSubstr("\"reduce_bucket_size\": 52428800")));
  EXPECT_THAT(made_of(nemo_with("granularity: null", "granularity: selective")).scenario,
              HasSubstr("\"recompute\": \"attention\""));
  EXPECT_THAT(made_of(nemo_with("  activations_checkpoint_granularity: null\n  activations_checkpoint_method: null\n"
                                "  activations_checkpoint_num_layers: null\n",
                                "  activations_checkpoint_method: uniform\n  activations_checkpoint_num_layers: 1\n"))
                  .scenario,
              HasSubstr("\"recompute\": \"full\""));
  EXPECT_THAT(made_of(nemo_with("fp8: False", "fp8: True")).said, HasSubstr("zero in fp8"));
  EXPECT_THAT(made_of(nemo_with("bf16-mixed", "32")).said, HasSubstr("zero in fp32"));
  EXPECT_THAT(made_of(nemo_with("  pipeline_model_parallel_size: 1", "  pipeline_model_parallel_size: 4")).scenario,
              AllOf(HasSubstr("\"pipeline\": 4"), HasSubstr("\"accumulation\": 64")));
}

TEST(NemoConfiguration, TakesRanksAndAModelFromOptions) {
  EXPECT_THAT(made_of(llama_yaml, "--ranks 8 --model llama3_8b").said,
              AllOf(HasSubstr("llama3_8b on hgx-h100, 8 ranks, zero"),
                    HasSubstr("Not used: trainer.devices 8 on 2 nodes of nemo.yaml")));
  EXPECT_THAT(made_of(nemo_with("devices: 8", "devices: auto"), "--ranks 8").said, HasSubstr("8 ranks, zero"));
}

TEST(NemoConfiguration, NamesWhatItAsksForBesides) {
  EXPECT_THAT(made_of(nemo_with("  mcore_gpt: True", "  peft:\n    peft_scheme: lora\n  moe_z_loss_coeff: null")).said,
              HasSubstr("Not used: model.peft an object of nemo.yaml\n"));
}

TEST(NemoConfiguration, IsRefusedInOneLineWithItsLine) {
  for (const auto& [text, other, message] : std::initializer_list<std::array<std::string, 3>>{
           {"  mcore_gpt: True", "  context_parallel_size: 2",
            "nemo.yaml:22: /model/context_parallel_size: expected 1: no more is simulated, got \"2\"\n"},
           {"  mcore_gpt: True", "  expert_model_parallel_size: 4",
            "nemo.yaml:22: /model/expert_model_parallel_size: expected 1"},
           {"virtual_pipeline_model_parallel_size: null", "virtual_pipeline_model_parallel_size: 2",
            "nemo.yaml:27: /model/virtual_pipeline_model_parallel_size: expected no "
            "model.virtual_pipeline_model_parallel_size, which is not simulated, got \"2\"\n"},
           {"global_batch_size: 128", "global_batch_size: 100",
            "nemo.yaml:24: /model/global_batch_size: expected a multiple of the 8 samples of a pass, got \"100\"\n"},
           {"  tensor_model_parallel_size: 2", "  tensor_model_parallel_size: 3",
            "nemo.yaml: expected a multiple of the 3 x 1 ranks of a replica, got \"16 ranks\"\n"},
           {"  tensor_model_parallel_size: 2", "  tensor_model_parallel_size: 16",
            "nemo.yaml:25: /model/tensor_model_parallel_size: expected groups of neighbouring ranks"},
           {"num_query_groups: 8", "num_query_groups: 7",
            "nemo.yaml:35: /model/num_query_groups: expected a divisor of"},
           {"  override_vocab_size: 128256\n", "",
            "nemo.yaml: expected model.override_vocab_size for the model of its arguments, or --model"},
           {"num_layers: 32", "num_layer: 32",
            "nemo.yaml:31: /model/num_layer: expected a key of NeMo's model, got "
            "\"num_layer\"; did you mean \"num_layers\"?\n"},
           {"name: distributed_fused_adam", "name: adafactor", "/model/optim/name: expected an optimizer"},
           {"precision: bf16-mixed", "precision: 64",
            "nemo.yaml:10: /trainer/precision: expected bf16, bf16-mixed, 16,"},
           {"devices: 8", "devices: auto", "nemo.yaml:7: /trainer/devices: expected a number of devices of a node, or"},
           {"granularity: null", "granularity: full\n  activations_checkpoint_layers_per_pipeline: 1",
            "/model/activations_checkpoint_layers_per_pipeline: expected null"}}) {
    const std::string refused = made_of(nemo_with(text, other)).said;
    EXPECT_THAT(refused, HasSubstr(message)) << other;
    EXPECT_EQ(std::ranges::count(refused, '\n'), 1) << refused;
  }
}

/// As NeMo-Run writes a recipe of NeMo 2: llm.llama3_8b's, on 16 GPUs in tensor groups of two.
constexpr const char* recipe = R"(_partial_: true
_target_: nemo.collections.llm.api.pretrain
data:
  _target_: nemo.collections.llm.gpt.data.mock.MockDataModule
  global_batch_size: 128
  micro_batch_size: 1
  seq_length: 8192
model:
  _target_: nemo.collections.llm.gpt.model.llama.LlamaModel
  config:
    _target_: nemo.collections.llm.gpt.model.llama.Llama3Config8B
optim:
  _target_: nemo.lightning.pytorch.optim.megatron.MegatronOptimizerModule
  config:
    _target_: megatron.core.optimizer.optimizer_config.OptimizerConfig
    bf16: true
    lr: 0.0003
    optimizer: adam
    use_distributed_optimizer: true
trainer:
  _target_: nemo.lightning.pytorch.trainer.Trainer
  callbacks:
  - _target_: nemo.utils.exp_manager.TimingCallback
  devices: 8
  num_nodes: 2
  plugins:
    _target_: nemo.lightning.pytorch.plugins.mixed_precision.MegatronMixedPrecision
    grad_reduce_in_fp32: true
    precision: bf16-mixed
  strategy:
    _target_: nemo.lightning.pytorch.strategies.megatron_strategy.MegatronStrategy
    context_parallel_size: 1
    ddp:
      _target_: megatron.core.distributed.distributed_data_parallel_config.DistributedDataParallelConfig
      average_in_collective: true
      overlap_grad_reduce: true
      overlap_param_gather: true
    pipeline_model_parallel_size: 1
    sequence_parallel: true
    tensor_model_parallel_size: 2
    virtual_pipeline_model_parallel_size: null
)";

Made made_of_recipe(const std::string& text, const std::string& other, const std::string& arguments = "") {
  std::string yaml = recipe;
  const auto place = yaml.find(text);
  if (place == std::string::npos) return {"not there: " + text, "", ""};
  return made_of(yaml.replace(place, text.size(), other), arguments);
}

TEST(Nemo2Recipe, IsWhatTheSameArgumentsOfMegatronAre) {
  const Made line = made_of_line(
      "--model llama3_8b --launch 'torchrun --nnodes 2 --nproc_per_node 8 "
      "pretrain_gpt.py --seq-length 8192 --micro-batch-size 1 --global-batch-size 128 --bf16 "
      "--tensor-model-parallel-size 2 --sequence-parallel --use-distributed-optimizer --overlap-grad-reduce "
      "--overlap-param-gather'");
  const Made made = made_of(recipe);
  ASSERT_FALSE(made.scenario.empty());
  EXPECT_EQ(made.scenario, line.scenario);
  EXPECT_THAT(made.said, AllOf(HasSubstr("llama3_8b on hgx-h100, 16 ranks, zero in bf16"), Not(HasSubstr("Not used"))));
}

TEST(Nemo2Recipe, HasItsOwnTypesBucketsAndOptimizers) {
  EXPECT_THAT(made_of_recipe("grad_reduce_in_fp32: true", "grad_reduce_in_fp32: false").scenario,
              HasSubstr("\"communication_data_type\": \"bf16\""));
  EXPECT_THAT(made_of_recipe("    grad_reduce_in_fp32: true\n", "    fp8: hybrid\n").said, HasSubstr("zero in fp8"));
  EXPECT_THAT(made_of_recipe("average_in_collective: true", "bucket_size: 128000000").scenario,
              HasSubstr("\"reduce_bucket_size\": 128000000"));
  EXPECT_THAT(made_of_recipe("    use_distributed_optimizer: true\n", "", "--model llama3_2_1b").scenario,
              HasSubstr("\"kind\": \"ddp\""));
  EXPECT_THAT(made_of_recipe("Llama3Config8B\n", "Llama3Config8B\n    recompute_granularity: selective\n").scenario,
              HasSubstr("\"recompute\": \"attention\""));
  EXPECT_THAT(made_of_recipe("Llama3Config8B", "Llama2Config7B").said, HasSubstr("llama2_7b on hgx-h100"));
}

TEST(Nemo2Recipe, RefusesOrNamesWhatItAsksForBesides) {
  EXPECT_THAT(made_of_recipe("context_parallel_size: 1", "context_parallel_size: 2").said,
              HasSubstr("nemo.yaml:32: /trainer/strategy/context_parallel_size: expected 1: no more is simulated"));
  EXPECT_THAT(made_of_recipe("parallel_size: null", "parallel_size: 5").said,
              HasSubstr("expected no trainer.strategy.virtual_pipeline_model_parallel_size, which is not simulated"));
  EXPECT_THAT(made_of_recipe("Llama3Config8B\n", "Llama3Config8B\n    num_layers: 16\n").said,
              HasSubstr("/model/config/num_layers: expected the shapes of Llama3Config8B, or --model of another one"));
  EXPECT_THAT(made_of_recipe("Llama3Config8B\n", "Llama3Config8B\n    num_layers: 16\n", "--model llama3_2_1b").said,
              HasSubstr("llama3_2_1b on hgx-h100"));
  EXPECT_THAT(made_of_recipe("Llama3Config8B", "Nemotron4Config15B").said,
              HasSubstr("expected a class that is known as model.config for the model of its arguments, or --model"));
  EXPECT_THAT(made_of_recipe("Llama3Config8B", "Nemotron4Config15B", "--model llama3_8b").said,
              HasSubstr("llama3_8b on hgx-h100"));
  EXPECT_THAT(made_of_recipe("_partial_: true\n", "peft:\n  _target_: nemo.collections.llm.peft.lora.LoRA\n").said,
              HasSubstr("nemo.yaml:2: /peft: expected none"));
  EXPECT_THAT(made_of_recipe("nemo.utils.exp_manager.TimingCallback",
                             "nemo.lightning.pytorch.callbacks.megatron_comm_overlap.MegatronCommOverlapCallback")
                  .said,
              HasSubstr("Not used: MegatronCommOverlapCallback of nemo.yaml"));
}

}}  // namespace farandole::nemo_test
