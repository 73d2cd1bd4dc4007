// farandole new: what it writes checks and runs as it stands, and nothing of the user's is overwritten.
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::new_command_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(NewCommand, WritesAScenarioThatChecksAndRuns) {
  const test::Workplace place;
  const test::Finished made = place.farandole("new mine.json --model resnet50 --topology dgx-a100");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("mine.json: resnet50 on dgx-a100, 1, 8, 16, 32, 64, 128 ranks, ddp in bf16"),
                              HasSubstr("Next: farandole run mine.json")));
  EXPECT_EQ(place.farandole("check mine.json").out, "mine.json: scenario, ok\n");
  const test::Finished ran = place.farandole("run mine.json --fidelity analytic --format csv");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(std::ranges::count(ran.out, '\n'), 1 + 6);
}

/// Eight billion parameters, with Adam 16 bytes each, fit no device of 80 GB by themselves.
TEST(NewCommand, ChoosesAShardingAndRanksThatFit) {
  const test::Workplace place;
  const test::Finished made = place.farandole("new big.json --model llama3_8b --topology hgx-h100");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("fsdp in bf16"), Not(HasSubstr("hgx-h100, 1,"))));
  EXPECT_EQ(place.farandole("check big.json").status, 0);
}

TEST(NewCommand, SaysWhyItRecomputesWhereNobodyAskedForIt) {
  const test::Workplace place;
  EXPECT_THAT(place.farandole("new one.json --batch 4 --model llama3_8b --topology hgx-h100 --ranks 8").out,
              HasSubstr("4 samples a rank, recomputing (full), without which it does not fit\n"));
  EXPECT_THAT(place.farandole("new some.json --batch 1 --model mpt_30b --topology hgx-h100 --ranks 8,128").out,
              HasSubstr(", recomputing (selective), without which it fits on fewer of these\n"));
}

TEST(NewCommand, TakesWhatTheOptionsSay) {
  const test::Workplace place;
  const test::Finished made = place.farandole(
      "new own.json --model vgg16 --topology roce25-4xp100 --ranks 64,4,4 --batch 32 --strategy horovod");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("vgg16 on roce25-4xp100, 4, 64 ranks, horovod in fp32, 32 samples a rank"));
}

TEST(NewCommand, AsksForWhatTheOptionsLeaveOut) {
  const test::Workplace place;
  const test::Finished made =
      place.run("printf 'resnet50\\ndgx-a100\\n8,16\\n\\nhorovod\\n' | " FARANDOLE_PROGRAM " new asked.json --ask");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.err, AllOf(HasSubstr("Model"), HasSubstr("Samples of a rank's batch [64]")));
  EXPECT_THAT(made.out, HasSubstr("resnet50 on dgx-a100, 8, 16 ranks, horovod in bf16, 64 samples a rank"));
  EXPECT_EQ(place.run("printf 'resnet50\\n' | " FARANDOLE_PROGRAM " new asked2.json --ask").status, 2);
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "asked2.json"));
}

/// Of the network one word each, which become values of the machine's file: links between switches, protocols and NICs.
TEST(NewCommand, TakesTheNetworkInOneWordEach) {
  const test::Workplace place;
  const auto override_of = [&](const std::string& file, const std::string& options) {
    const test::Finished made = place.farandole("new " + file + " --model resnet50 --ranks 64 " + options);
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(place.farandole("run --quiet " + file).status, 0);
    return nlohmann::json::parse(test::contents(place.folder() / file)).at("platform").at("override");
  };
  const auto thin = override_of("a.json", "--machine hgx-h100 --oversubscription 2:1 --fabric roce");
  EXPECT_EQ(thin.at("/network/levels/1/link/rate"), "200 Gbit/s");
  EXPECT_EQ(thin.at("/node/nic/protocol").at("name"), "roce_v2");
  EXPECT_EQ(thin.at("/network/levels/2/link/protocol").at("name"), "roce_v2");
  EXPECT_THAT(thin.at("/transport").at("name"), HasSubstr("here over roce_v2"));
  const auto fewer = override_of("b.json", "--machine hgx-h100 --rails 4 --nic '200 Gbit/s' --oversubscription 4");
  EXPECT_EQ(fewer.at("/node/nic/rate"), "200 Gbit/s");
  EXPECT_EQ(fewer.at("/network/levels/1/link/rate"), "50 Gbit/s");
  EXPECT_EQ(fewer.at("/node/nics_at"), nlohmann::json({"switch0", "switch1", "switch2", "switch3"}));
  const auto leaves = override_of("c.json", "--machine ethernet-25g --oversubscription 4 --nic '100 Gbit/s'");
  EXPECT_EQ(leaves.at("/network").at("nodes_per_leaf"), 16);
  EXPECT_EQ(leaves.at("/network").at("oversubscription"), 4);
  EXPECT_EQ(leaves.at("/network").at("link").at("rate"), "25 Gbit/s");
  // 66.6667 Gbit/s between leaves are not a third of 200.
  EXPECT_EQ(override_of("e.json", "--machine dgx-a100 --oversubscription 3:1").at("/network").at("link").at("rate"),
            "66.6667 Gbit/s");
  EXPECT_EQ(override_of("f.json", "--machine ethernet-25g --oversubscription 7").at("/network").at("nodes_per_leaf"),
            16);
  for (const auto& [options, words] : std::map<std::string, std::string>{
           {"--fabric rocket", "--fabric: expected a fabric, got \"rocket\"; did you mean \"roce\"?"},
           {"--rails 9", "--rails: expected 1 to 8 NICs of a node of hgx-h100"},
           {"--rails 0", "--rails: expected"},
           {"--oversubscription 0.5", "--oversubscription: expected 1 to 1000 times"},
           {"--oversubscription 2:2", "--oversubscription: expected"},
           {"--nic '0 Gbit/s'", "--nic: expected a rate above zero"}}) {
    const test::Finished refused = place.farandole("new d.json --model resnet50 --machine hgx-h100 " + options);
    EXPECT_EQ(refused.status, 2) << options;
    EXPECT_THAT(refused.err, HasSubstr(words));
    EXPECT_FALSE(std::filesystem::exists(place.folder() / "d.json"));
  }
}

TEST(NewCommand, OverwritesNothing) {
  const test::Workplace place;
  place.write("mine.json", "precious");
  const test::Finished refused = place.farandole("new mine.json --model resnet50 --topology dgx-a100");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("not there yet"));
  EXPECT_EQ(test::contents(place.folder() / "mine.json"), "precious");
}

TEST(NewCommand, RefusesInOneLineAndLeavesNoFile) {
  const test::Workplace place;
  for (const auto& [arguments, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--model resnet5 --topology dgx-a100", "did you mean \"resnet50\"?"},
           {"--model resnet50 --topology dgx-a10", "did you mean \"dgx-a100\"?"},
           {"--topology dgx-a100", "--model: expected a model, as nobody is there to ask"},
           {"--model resnet50 --topology dgx-a100 --ranks 0", "--ranks: expected a whole number of at least 1"},
           {"--model resnet50 --topology dgx-a100 --batch many", "--batch"},
           {"--model resnet50 --topology dgx-a100 --strategy dpd", "did you mean \"ddp\"?"},
           {"--model llama3_70b --topology hgx-h100 --ranks 8", "ways out"}}) {
    const test::Finished refused = place.farandole(std::string("new no.json ") + arguments + " </dev/null");
    EXPECT_EQ(refused.status, 2) << arguments;
    EXPECT_THAT(refused.err, HasSubstr(expected)) << arguments;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(place.folder() / "no.json")) << arguments;
  }
  EXPECT_EQ(place.farandole("new no.yaml --model resnet50 --topology dgx-a100").status, 2);
}

constexpr const char* llama_config =
    R"({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
        "num_key_value_heads": 8, "num_hidden_layers": 4, "vocab_size": 32000, "tie_word_embeddings": false})";

constexpr const char* accelerate_yaml =
    "compute_environment: LOCAL_MACHINE\n"
    "distributed_type: FSDP\n"
    "fsdp_config:\n"
    "  fsdp_activation_checkpointing: true\n"
    "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
    "  fsdp_sharding_strategy: SHARD_GRAD_OP\n"
    "mixed_precision: bf16\n"
    "num_machines: 4\n"
    "num_processes: 32\n";

constexpr const char* deepspeed_json =
    R"({"bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 3}, "gradient_accumulation_steps": "auto",
        "train_micro_batch_size_per_gpu": "auto"})";

/// A folder with the files that the tests below name.
struct PastedPlace {
  PastedPlace() {
    place.write("config.json", llama_config);
    place.write("accelerate.yaml", accelerate_yaml);
    place.write("ds.json", deepspeed_json);
    place.write("fsdp.json", R"({"backward_prefetch": "backward_pre", "activation_checkpointing": true})");
  }

  /// The scenario that is written, and a run of it.
  std::string written(const std::string& arguments, const std::string& model = "config.json") const {
    std::filesystem::remove(place.folder() / "new.json");
    const test::Finished made =
        place.farandole("new new.json --model " + model + " --machine hgx-h100 " + arguments + " </dev/null");
    EXPECT_EQ(made.status, 0) << arguments << made.err;
    const test::Finished ran = place.farandole("run new.json --fidelity analytic --format csv --quiet");
    EXPECT_EQ(ran.status, 0) << arguments << ran.err;
    return made.out + test::contents(place.folder() / "new.json");
  }

  test::Workplace place;
};

TEST(NewFromLaunchLine, WithAModelAndAStrategysFileIsAScenarioThatRuns) {
  const PastedPlace pasted;
  const std::string line = " --launch 'torchrun --nnodes 4 --nproc-per-node 8 train.py'";
  EXPECT_THAT(pasted.written("--strategy accelerate.yaml" + line),
              AllOf(HasSubstr("config.json on hgx-h100, 32 ranks, fsdp in bf16"), HasSubstr("recomputing (full)"),
                    HasSubstr("\"accelerate\": \"accelerate.yaml\"")));
  EXPECT_THAT(pasted.written("--strategy ds.json" + line),
              AllOf(HasSubstr("32 ranks, zero in bf16"), HasSubstr("\"deepspeed\": \"ds.json\"")));
}

TEST(NewFromLaunchLine, SaysOtherwiseThanTheFileWhoseNumbersAreLeftOut) {
  const PastedPlace pasted;
  EXPECT_THAT(pasted.written("--strategy accelerate.yaml --launch 'torchrun --nproc-per-node 8 train.py'"),
              AllOf(HasSubstr("8 ranks, fsdp in bf16"), HasSubstr("Not used: num_processes 32 of accelerate.yaml"),
                    HasSubstr("\"fsdp_sharding_strategy\": \"SHARD_GRAD_OP\""), Not(HasSubstr("\"num_processes\""))));
}

TEST(NewFromLaunchLine, TakesWhatTheProgramsOptionsSayOfTheJob) {
  const PastedPlace pasted;
  EXPECT_THAT(
      pasted.written("--launch 'deepspeed --num_gpus 8 train.py --deepspeed ds.json --fp16 False --bf16 True "
                     "--per_device_train_batch_size 2 --gradient_accumulation_steps 4 "
                     "--gradient_checkpointing --max_seq_length 2048'"),
      AllOf(HasSubstr("8 ranks, zero in bf16, 2 samples a rank, recomputing (full)"), HasSubstr("\"accumulation\": 4"),
            HasSubstr("\"sequence_length\": 2048"), Not(HasSubstr("Not used"))));
  EXPECT_THAT(pasted.written("--launch 'torchrun --nproc_per_node=8 t.py --fsdp \"hybrid_shard auto_wrap\" --fp16'"),
              AllOf(HasSubstr("fsdp in fp16"), HasSubstr("\"sharding_strategy\": \"HYBRID_SHARD\"")));
  EXPECT_THAT(pasted.written("--launch 'torchrun --nproc_per_node=8 t.py --fsdp full_shard --fsdp_config fsdp.json'"),
              AllOf(HasSubstr("\"accelerate\": \"fsdp.json\""), HasSubstr("\"recompute\": \"full\"")));
}

TEST(NewFromLaunchLine, TakesWhatTheLauncherSaysOfTheStrategy) {
  const PastedPlace pasted;
  EXPECT_THAT(pasted.written("--launch 'accelerate launch --config_file accelerate.yaml train.py'"),
              AllOf(HasSubstr("32 ranks, fsdp in bf16"), HasSubstr("\"accelerate\": \"accelerate.yaml\"")));
  EXPECT_THAT(pasted.written("--launch 'accelerate launch --use_fsdp --fsdp_sharding_strategy FULL_SHARD "
                             "--mixed_precision bf16 --num_processes 16 --num_machines 2 train.py'"),
              AllOf(HasSubstr("16 ranks, fsdp in bf16"), HasSubstr("\"fsdp_sharding_strategy\": \"FULL_SHARD\"")));
  EXPECT_THAT(pasted.written("--launch 'accelerate launch --use_deepspeed --zero_stage 3 --num_processes 8 "
                             "--mixed_precision bf16 train.py'"),
              AllOf(HasSubstr("8 ranks, zero in bf16"), HasSubstr("\"stage\": 3")));
  EXPECT_THAT(pasted.written("--launch 'horovodrun -np 8 --fusion-threshold-mb 32 python t.py'", "resnet50"),
              AllOf(HasSubstr("8 ranks, horovod"), HasSubstr("\"HOROVOD_FUSION_THRESHOLD\": \"33554432\"")));
}

constexpr const char* foundry_yaml = R"(variables:
  max_seq_len: 2048
max_seq_len: ${variables.max_seq_len}
model:
  name: mpt_causal_lm
global_train_batch_size: 512
device_train_microbatch_size: 8
precision: amp_fp16
fsdp_config:
  sharding_strategy: FULL_SHARD
  mixed_precision: PURE
  activation_checkpointing: true
)";

/// 512 samples are 8 passes of 8 samples on each of 8 ranks.
TEST(NewFromLaunchLine, TakesTheJobOfLlmFoundrysYaml) {
  const PastedPlace pasted;
  pasted.place.write("mpt.yaml", foundry_yaml);
  EXPECT_THAT(pasted.written("--strategy mpt.yaml --ranks 8", "mpt_1b"),
              AllOf(HasSubstr("fsdp in fp16, 8 samples a rank, recomputing (full)"), HasSubstr("\"accumulation\": 8"),
                    HasSubstr("\"sequence_length\": 2048"), HasSubstr("\"llm_foundry\": \"mpt.yaml\"")));
  EXPECT_THAT(pasted.written("--strategy mpt.yaml --ranks 8,16", "mpt_1b"),
              HasSubstr("Not used: global_train_batch_size 512 of mpt.yaml"));
}

TEST(NewFromLaunchLine, NamesBothThatSayOtherwiseOfLlmFoundrysYaml) {
  const PastedPlace pasted;
  pasted.place.write("mpt.yaml", foundry_yaml);
  for (const auto& [arguments, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--ranks 8 --batch 2",
            "farandole: --batch: expected 8 as mpt.yaml:7: /device_train_microbatch_size says, or no --batch, got"},
           {"--launch 'torchrun --nproc_per_node 8 t.py --bf16'",
            "mpt.yaml:8: /precision: expected bf16 as farandole: --launch: --bf16 says, got \"fp16\""},
           {"--launch 'torchrun --nproc_per_node 8 t.py --max_seq_length 512'",
            "mpt.yaml:3: /max_seq_len: expected 512 as farandole: --launch: --max-seq-length says, got \"2048\""},
           {"--ranks 24", "mpt.yaml:6: /global_train_batch_size: expected a multiple of the 192 samples of a pass"}}) {
    const test::Finished refused = pasted.place.farandole(
        std::string("new no3.json --model mpt_1b --machine hgx-h100 --strategy mpt.yaml ") + arguments);
    EXPECT_EQ(refused.status, 2) << arguments;
    EXPECT_THAT(refused.err, testing::StartsWith(expected)) << arguments;
  }
}

/// TRL's, FastChat's and Alpaca's, LLaMA-Factory's.
TEST(NewFromLaunchLine, TakesTheLengthThatTrainersCallOtherwise) {
  const PastedPlace pasted;
  for (const std::string option :
       {"--max_seq_length 512", "--max_length 512", "--model_max_length 512", "--cutoff_len=512"}) {
    EXPECT_THAT(pasted.written("--launch 'torchrun --nproc_per_node 8 train.py " + option + "'"),
                AllOf(HasSubstr("\"sequence_length\": 512"), Not(HasSubstr("Not used"))))
        << option;
  }
}

TEST(NewFromLaunchLine, HasAsManyRanksOnANodeAsTheMachineHasDevicesWhereItSaysGpu) {
  const PastedPlace pasted;
  for (const std::string word : {"gpu", "auto"}) {
    EXPECT_THAT(pasted.written("--launch 'torchrun --nnodes 2 --nproc_per_node=" + word + " t.py'", "resnet50"),
                HasSubstr("resnet50 on hgx-h100, 16 ranks"));
  }
  EXPECT_THAT(pasted.written("--launch 'CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node gpu t.py'", "resnet50"),
              HasSubstr("resnet50 on hgx-h100, 2 ranks"));
}

TEST(NewFromLaunchLine, NamesABatchOfWhichNobodyKnowsWhoseItIs) {
  const PastedPlace pasted;
  EXPECT_THAT(pasted.written("--launch 'torchrun --nproc_per_node 8 main.py --batch-size 256'", "resnet50"),
              HasSubstr("Not used: --batch-size 256"));
  EXPECT_THAT(pasted.written("--launch 'torchrun --nproc_per_node 8 main.py --training.seq_len 4096'", "resnet50"),
              HasSubstr("Not used: --training.seq_len 4096"));
}

/// Without a stage DeepSpeed shards nothing; what it would not know is none of its configurations.
TEST(NewFromLaunchLine, ADeepSpeedFileWithoutAStageIsDdpWithItsPassesOrRefused) {
  const PastedPlace pasted;
  int number = 0;
  const auto made = [&](const std::string& keys) {
    pasted.place.write("ds.json", "{" + keys + R"("bf16": {"enabled": true}, "train_micro_batch_size_per_gpu": 2})");
    return pasted.place.farandole("new ds-job" + std::to_string(++number) +
                                  ".json --model bert_base --machine hgx-h100 --ranks 8 --strategy ds.json </dev/null");
  };
  EXPECT_EQ(made(R"("gradient_accumulation_steps": 4, )").status, 0);
  EXPECT_THAT(test::contents(pasted.place.folder() / "ds-job1.json"),
              AllOf(HasSubstr("\"kind\": \"ddp\""), HasSubstr("\"accumulation\": 4")));
  EXPECT_THAT(made(R"("zero_optimisation": {"stage": 2}, )").err, HasSubstr("did you mean \"zero_optimization\"?"));
  EXPECT_THAT(made(R"("zero_optimization": {"stage": "2"}, )").err,
              HasSubstr("ds.json:1: /zero_optimization/stage: expected 0, 1, 2 or 3, got \"2\""));
}

TEST(NewFromLaunchLine, FillsNodesAsTheLineDoes) {
  const PastedPlace pasted;
  EXPECT_THAT(pasted.written("--launch 'srun -N 4 --ntasks-per-node 4 python t.py'", "resnet50"),
              AllOf(HasSubstr("\"ranks\": 16"), HasSubstr("\"placement\": { \"ranks_per_node\": 4 }")));
  EXPECT_THAT(pasted.written("--launch 'mpirun -np 8 -bynode -H a:4,b:4 python t.py'", "resnet50"),
              HasSubstr("{ \"ranks_per_node\": 4, \"order\": \"by_node\" }"));
  EXPECT_THAT(pasted.written("--launch 'mpirun -np 6 -H a:4,b:2 python t.py'", "resnet50"),
              HasSubstr("\"launch\": \"mpirun -np 6 -H a:4,b:2 python t.py\""));
}

TEST(NewFromLaunchLine, TakesAWholeBatchScriptFromItsFileAsRunDoes) {
  const PastedPlace pasted;
  pasted.place.write("job.sh",
                     "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:8\n"
                     "ARGS=(\n  --bf16   # half\n  --fsdp full_shard\n)\n"
                     "srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 train.py \"${ARGS[@]}\"\n");
  EXPECT_THAT(pasted.written("--launch job.sh"), HasSubstr("16 ranks, fsdp in bf16"));
  const test::Finished ran = pasted.place.farandole(
      "run new.json --set '/platform={\"topology\": \"hgx-h100\"}' --launch job.sh --fidelity analytic --format csv");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("ignored, no meaning here: --fsdp full_shard"));
}

TEST(NewFromLaunchLine, ReadsAPipeAndDoesNotSteerTheTerminal) {
  const PastedPlace pasted;
  const test::Finished made =
      pasted.place.run("printf 'torchrun --nproc_per_node 8 --role \\033[31m t.py' | " FARANDOLE_PROGRAM
                       " new piped.json --model resnet50 --machine hgx-h100 --launch /dev/stdin");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("8 ranks"), HasSubstr("Not used: --role \\x1b[31m")));
}

TEST(NewFromLaunchLine, WritesScenarioJsonWhereNoFileIsNamed) {
  const PastedPlace pasted;
  const std::string line = "new --model resnet50 --machine dgx-a100 --launch 'torchrun --nproc_per_node 8 t.py'";
  EXPECT_EQ(pasted.place.farandole(line).status, 0);
  EXPECT_EQ(pasted.place.farandole("check scenario.json").out, "scenario.json: scenario, ok\n");
  EXPECT_EQ(pasted.place.farandole(line).status, 2);
}

/// The scenario is not written yet: what is wrong with it is an option's fault, or a file's that somebody did write.
TEST(NewFromLaunchLine, BlamesWhatTheUserWroteAndNotTheDraft) {
  const PastedPlace pasted;
  pasted.place.write("ds.json",
                     "{\"zero_optimization\": {\"stage\": 2},\n \"bf16\": {\"enabled\": true},\n"
                     " \"train_micro_batch_size_per_gpu\": 100000}\n");
  pasted.place.write("stage2.json", R"({"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}})");
  pasted.place.write("job.toml",
                     "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2\n"
                     "[parallelism]\ntensor_parallel_degree = 16\n");
  for (const auto& [arguments, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--model config.json --ranks 100000", "farandole: --ranks: expected at most 16384 ranks"},
           {"--model llama3_8b --ranks 8 --strategy ddp", "farandole: --model: expected a job that fits"},
           {"--model llama3_8b --ranks 8 --batch 100000", "farandole: --batch: expected a job that fits"},
           {"--model config.json --ranks 8 --strategy ds.json",
            "ds.json:3: /train_micro_batch_size_per_gpu: expected a job that fits"},
           {"--model config.json --strategy stage2.json --launch 'torchrun --nproc_per_node 8 t.py "
            "--per_device_train_batch_size 100000'",
            "farandole: --launch: --per-device-train-batch-size: expected a job that fits"},
           {"--model llama3_70b --ranks 8 --strategy stage2.json", "farandole: --model: expected a job that fits"},
           {"--ranks 32 --strategy job.toml",
            "job.toml:7: /parallelism/tensor_parallel_degree: expected groups of neighbouring ranks"},
           {"--model resnet50 --launch 'torchrun --nproc_per_node 8 t.py --seq-length 33'",
            "farandole: --launch: --seq-length: expected no such key: a sample of resnet50 is no sequence"},
           {"--model config.json --launch 'torchrun --nproc_per_node 16 t.py'",
            "farandole: --launch: expected at most 8 ranks on a node"},
           {"--model config.json --launch 'accelerate launch --num_processes 8 --use_deepspeed --zero_stage 3 "
            "--offload_param_device cpu t.py'",
            "farandole: --launch: /zero_optimization/offload_param: expected no offload_param"}}) {
    const test::Finished refused =
        pasted.place.farandole(std::string("new no2.json --machine hgx-h100 ") + arguments + " </dev/null");
    EXPECT_EQ(refused.status, 2) << arguments;
    EXPECT_THAT(refused.err, testing::StartsWith(expected)) << arguments;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
  }
}

TEST(NewFromLaunchLine, RefusesInOneLineAndLeavesNoFile) {
  const PastedPlace pasted;
  pasted.place.write("mpi.yaml", "distributed_type: MULTI_CPU\n");
  for (const auto& [arguments, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"--launch 'torchrun --nnodes $NNODES t.py'", "got \"$NNODES\"; the value of NNODES is not in what was"},
           {"--launch 'torchrn --nnodes 2 t.py'", "did you mean \"torchrun\"?"},
           {"--launch job.sh", "got \"job.sh\"; there is no such file"},
           {"--launch 'torchrun --nproc_per_node 16 t.py'", "expected at most 8 ranks on a node"},
           {"--launch 'torchrun --nproc_per_node 8 t.py' --ranks 4", "expected 8 as the launch line says"},
           {"--launch 'torchrun --nproc_per_node 8 t.py --deepspeed no.json'", "no.json: expected a readable file"},
           {"--launch 'torchrun --nproc_per_node 8 t.py --per_device_train_batch_size many'", "whole number"},
           {"--strategy config.json", "config.json:1: /: expected a configuration of accelerate, DeepSpeed"},
           {"--strategy no.yaml", "no.yaml: expected a readable file"},
           {"--strategy mpi.yaml", "mpi.yaml:1: /distributed_type: expected FSDP, DEEPSPEED, MULTI_GPU or NO"}}) {
    const test::Finished refused = pasted.place.farandole(
        std::string("new no2.json --model config.json --machine hgx-h100 ") + arguments + " </dev/null");
    EXPECT_EQ(refused.status, 2) << arguments;
    EXPECT_THAT(refused.err, HasSubstr(expected)) << arguments;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(pasted.place.folder() / "no2.json")) << arguments;
  }
}

}}  // namespace farandole::new_command_test
