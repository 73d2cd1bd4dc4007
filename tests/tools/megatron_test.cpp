// farandole new --launch with the arguments of Megatron-LM: the script that people have becomes a scenario and its
// model.
#include <algorithm>
#include <array>

#include <gmock/gmock.h>

#include "tools/process.hpp"

namespace farandole::megatron_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The form of Megatron-LM's examples/llama and examples/gpt3: arrays, variables, comments and what is no option here.
constexpr const char* llama_script = R"(#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NUM_NODES=${NUM_NODES:-2}
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
CHECKPOINT_PATH=${1:-"checkpoints/llama3_8b"}
TP_SIZE=2
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --master_addr ${MASTER_ADDR:-localhost}
)
MODEL_ARGS=(
    --use-mcore-models
    --num-layers 32
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --kv-channels 128
    --seq-length 8192
    --max-position-embeddings 8192
    --position-embedding-type rope
    --swiglu
    --untie-embeddings-and-output-weights
    --disable-bias-linear
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 128   # sixteen passes
    --lr 0.00015
    --bf16
)
MODEL_PARALLEL_ARGS=(
    --tensor-model-parallel-size $TP_SIZE
    # --pipeline-model-parallel-size 2
    --sequence-parallel
)
DDP_ARGS=(
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
)
TRAINING_ARGS+=("${DDP_ARGS[@]}")
DATA_ARGS=(
    "--tokenizer-type NullTokenizer"
    "--vocab-size 128256"
)
if [ -z "$DATA" ]; then
    DATA_ARGS+=("--vocab-size 128256")
fi
torchrun ${DISTRIBUTED_ARGS[@]} \
    pretrain_gpt.py \
    ${MODEL_ARGS[@]} \
    ${TRAINING_ARGS[@]} \
    ${MODEL_PARALLEL_ARGS[@]} \
    ${DATA_ARGS[@]}
)";

constexpr const char* gpt_line =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 "
    "--seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 8 --fp16 ";

/// What is said and written of it, with the model where there is one.
std::string megatron_scenario(const std::string& line, const std::string& arguments = "") {
  const test::Workplace place;
  place.write("run.sh", line);
  const test::Finished made =
      place.farandole("new new.json --machine hgx-h100 --launch run.sh " + arguments + " </dev/null");
  if (made.status != 0) {
    EXPECT_FALSE(std::filesystem::exists(place.folder() / "new-model.json"));
    return made.err;
  }
  EXPECT_EQ(place.farandole("check new.json").out, "new.json: scenario, ok\n");
  const bool has_model = std::filesystem::exists(place.folder() / "new-model.json");
  return made.out + test::contents(place.folder() / "new.json") +
         (has_model ? place.farandole("show model new-model.json").out : "no model");
}

std::string script_with(const std::string& text, const std::string& other) {
  std::string script = llama_script;
  const auto place = script.find(text);
  return place == std::string::npos ? "not there: " + text : script.replace(place, text.size(), other);
}

/// Llama 3 8B has 8.03 billion parameters, and 128,256 words are a multiple of 256 rows already.
TEST(MegatronArguments, AreAScenarioAndAModel) {
  EXPECT_THAT(
      megatron_scenario(llama_script),
      AllOf(HasSubstr("new-model.json on hgx-h100, 16 ranks, zero in bf16, 1 sample a rank"),
            HasSubstr("\"sequence_length\": 8192"), HasSubstr("\"stage\": 1"), HasSubstr("\"overlap_comm\": true"),
            HasSubstr("\"overlap_params\": true"), HasSubstr("\"communication_data_type\": \"fp32\""),
            HasSubstr("\"tensor_parallel\": 2"), HasSubstr("\"sequence_parallel\": true"),
            HasSubstr("\"accumulation\": 16"), HasSubstr("8030261248"), Not(HasSubstr("Not used: --vocab-size"))));
}

TEST(MegatronArguments, AreAScenarioThatRuns) {
  const test::Workplace place;
  place.write("run.sh", llama_script);
  EXPECT_EQ(place.farandole("new new.json --machine hgx-h100 --launch run.sh").status, 0);
  const test::Finished ran = place.farandole("run new.json --fidelity analytic --format csv --quiet");
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST(MegatronArguments, LeaveTheModelToWhoNamesOne) {
  EXPECT_THAT(megatron_scenario(llama_script, "--model llama3_8b"),
              AllOf(HasSubstr("llama3_8b on hgx-h100, 16 ranks"), HasSubstr("no model")));
}

/// Without gates and turned positions it is GPT-2's: 12 blocks of 768 and, as nothing else is said, 50,304 padded
/// words.
TEST(MegatronArguments, WithoutTheDistributedOptimizerAreDdp) {
  EXPECT_THAT(megatron_scenario(gpt_line),
              AllOf(HasSubstr("8 ranks, ddp in fp16, 8 samples a rank"), HasSubstr("\"overlap\": false"),
                    HasSubstr("\"bucket_cap\": \"80 MB\""), HasSubstr("38633472")));
}

/// Only --bf16 forces the sums of gradients to fp32 (validate_args).
TEST(MegatronArguments, KeepGradientsInFp16UnlessTheyAccumulateInFp32) {
  const std::string line = gpt_line;
  EXPECT_THAT(megatron_scenario(line),
              AllOf(HasSubstr("\"gradient_type\": \"fp16\""), HasSubstr("\"bucket_cap\": \"80 MB\"")));
  EXPECT_THAT(megatron_scenario(line + "--use-distributed-optimizer"),
              AllOf(HasSubstr("\"gradient_type\": \"fp16\""), HasSubstr("\"communication_data_type\": \"fp16\"")));
  EXPECT_THAT(megatron_scenario(line + "--accumulate-allreduce-grads-in-fp32"),
              AllOf(Not(HasSubstr("gradient_type")), HasSubstr("\"bucket_cap\": \"160 MB\"")));
  EXPECT_THAT(megatron_scenario(line + "--use-distributed-optimizer --accumulate-allreduce-grads-in-fp32"),
              AllOf(Not(HasSubstr("gradient_type")), HasSubstr("\"communication_data_type\": \"fp32\"")));
}

TEST(MegatronArguments, HaveStagesAndRecomputation) {
  EXPECT_THAT(megatron_scenario(script_with("# --pipeline", "--pipeline")),
              AllOf(HasSubstr("\"pipeline\": 2"), HasSubstr("\"accumulation\": 32")));
  EXPECT_THAT(megatron_scenario(script_with("--bf16", "--bf16 --recompute-activations --fp8-format hybrid")),
              AllOf(HasSubstr("zero in fp8"), HasSubstr("\"recompute\": \"attention\"")));
  EXPECT_THAT(megatron_scenario(script_with("--bf16",
                                            "--bf16 --recompute-granularity full --recompute-method uniform "
                                            "--recompute-num-layers 1 --grad-reduce-in-bf16")),
              AllOf(HasSubstr("\"recompute\": \"full\""), HasSubstr("\"communication_data_type\": \"bf16\""),
                    HasSubstr("\"gradient_type\": \"bf16\"")));
}

TEST(MegatronArguments, GiveTheirGroupsToAnotherStrategyToo) {
  EXPECT_THAT(megatron_scenario(llama_script, "--strategy fsdp"),
              AllOf(HasSubstr("16 ranks, fsdp"), HasSubstr("\"tensor_parallel\": 2"), Not(HasSubstr("\"stage\""))));
}

/// 4 samples x 4 passes on each of the 8 / 2 replicas are 64 samples.
TEST(MegatronArguments, LeaveShardingToTheFileOfDeepspeed) {
  for (const char* passes : {"\"gradient_accumulation_steps\": 4, ", ""}) {
    const test::Workplace place;
    place.write("ds.json",
                std::string("{") + passes +
                    "\"train_batch_size\": 64, \"zero_optimization\": {\"stage\": 2}, \"bf16\": {\"enabled\": true}}");
    place.write("run.sh",
                "deepspeed --num_gpus 8 pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 24 "
                "--hidden-size 1024 --num-attention-heads 16 --micro-batch-size 4 --global-batch-size 64 "
                "--seq-length 1024 --max-position-embeddings 1024 --tokenizer-type GPT2BPETokenizer --bf16 "
                "--deepspeed --deepspeed_config ds.json\n");
    const test::Finished made = place.farandole("new new.json --machine hgx-h100 --launch run.sh");
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_THAT(test::contents(place.folder() / "new.json"),
                AllOf(HasSubstr("\"deepspeed\": \"ds.json\""), HasSubstr("\"tensor_parallel\": 2"),
                      Not(HasSubstr("\"stage\": 1"))));
  }
}

TEST(MegatronArguments, AreRefusedInOneLine) {
  for (const auto& [text, other, message] : std::initializer_list<std::array<std::string, 3>>{
           {"--bf16", "--context-parallel-size 2",
            "--context-parallel-size: expected 1: no more is simulated, got \"2\""},
           {"--bf16", "--num-layers-per-virtual-pipeline-stage 4",
            "expected no --num-layers-per-virtual-pipeline-stage"},
           {"--bf16", "--num-experts 8",
            "expected a model without --num-experts for the model of its arguments, or --model"},
           {"\"--vocab-size 128256\"\n)\nif [ -z \"$DATA\" ]; then\n    DATA_ARGS+=(\"--vocab-size 128256\")",
            ")\nif true; then", "--launch: expected --vocab-size for the model of its arguments, or --model"},
           {"128   #", "100 #", "--global-batch-size: expected a multiple of the 8 samples of a pass"},
           {"TP_SIZE=2", "TP_SIZE=3", "expected a multiple of the 3 x 1 ranks of a replica, got \"16 ranks\""},
           {"--bf16", "--recompute-granularity full --recompute-method block", "--recompute-method: expected uniform"},
           {"groups 8", "groups 7", "farandole: --launch: --num-query-groups: expected a divisor of"},
           {"layers 32", "layers 3\n    --pipeline-model-parallel-size 4",
            "farandole: --launch: --pipeline-model-parallel-size: expected a divisor of the model's 3 blocks"},
           {"--swiglu", "", "expected --swiglu beside --num-query-groups"},
           {"layers 32", "layers many", "--num-layers: expected a whole number of at least 1"}}) {
    const std::string refused = megatron_scenario(script_with(text, other));
    EXPECT_THAT(refused, HasSubstr(message)) << other;
    EXPECT_EQ(std::ranges::count(refused, '\n'), 1) << refused;
  }
}

TEST(MegatronArguments, OverwriteNoModel) {
  const test::Workplace place;
  place.write("new-model.json", "precious");
  const test::Finished made =
      place.farandole(std::string("new new.json --machine hgx-h100 --launch '") + gpt_line + "'");
  EXPECT_EQ(made.status, 2);
  EXPECT_THAT(made.err, HasSubstr("got \"new-model.json\"; the model of \"new.json\" is to be there: move it"));
  EXPECT_EQ(test::contents(place.folder() / "new-model.json"), "precious");
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "new.json"));
}

}}  // namespace farandole::megatron_test
