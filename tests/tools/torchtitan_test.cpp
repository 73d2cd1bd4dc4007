// farandole new --strategy job.toml: a job configuration of torchtitan becomes a scenario that says the same, or is
// refused where it asks for what is not simulated.
#include <algorithm>
#include <array>
#include <filesystem>

#include <gmock/gmock.h>

#include "tools/process.hpp"

namespace farandole::torchtitan_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The form of torchtitan/models/llama3/train_configs, with what people leave in it.
constexpr const char* llama3_toml = R"(# torchtitan Config.toml
[job]
dump_folder = "./outputs"

[profiling]
enable_profiling = true
profile_freq = 1_00

[model]
name = "llama3"
flavor = "8B"
hf_assets_path = './assets/hf/Llama-3.1-8B'
# converters = ["float8"]

[optimizer]
name = "AdamW"
lr = 3e-4

[training]
local_batch_size = 2
seq_len = 4096
max_norm = 1.0  # grad norm clipping

[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 1

[checkpoint]
enable_checkpoint = false
interval = 500
async_mode = "disabled" # ["disabled", "async"]

[activation_checkpoint]
mode = 'selective'  # ['none', 'selective', 'full']
selective_ac_option = 'op'

[compile]
enable=true
components = [
  "model",  # and
  "loss",
]
)";

/// The configuration with one text in place of another.
std::string titan_with(const std::string& text, const std::string& other) {
  std::string toml = llama3_toml;
  const auto place = toml.find(text);
  if (place == std::string::npos) return "the test's own text is not there: " + text;
  return toml.replace(place, text.size(), other);
}

/// What is said and written of it.
std::string titan_scenario(const std::string& toml, const std::string& arguments = "--ranks 16") {
  const test::Workplace place;
  place.write("job.toml", toml);
  const test::Finished made =
      place.farandole("new new.json --strategy job.toml --machine hgx-h100 " + arguments + " </dev/null");
  if (made.status != 0) return made.err;
  EXPECT_EQ(place.farandole("check new.json").out, "new.json: scenario, ok\n");
  return made.out + test::contents(place.folder() / "new.json");
}

TEST(TorchtitanJob, IsAScenarioThatRuns) {
  const test::Workplace place;
  place.write("job.toml", llama3_toml);
  const test::Finished made = place.farandole(
      "new new.json --machine hgx-h100 --strategy job.toml --launch 'torchrun --nproc_per_node=8 t.py'");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("llama3_8b on hgx-h100, 8 ranks, fsdp in bf16, 2 samples a rank, recomputing "
                                        "(selective)"),
                              Not(HasSubstr("Not used"))));
  EXPECT_THAT(test::contents(place.folder() / "new.json"),
              AllOf(HasSubstr("\"sequence_length\": 4096"), HasSubstr("\"compile\": true"),
                    HasSubstr("\"param_dtype\": \"bf16\""), HasSubstr("\"reduce_dtype\": \"fp32\"")));
  const test::Finished ran = place.farandole("run new.json --fidelity analytic --format csv --quiet");
  EXPECT_EQ(ran.status, 0) << ran.err;
}

TEST(TorchtitanJob, SaysHowManyRanksShardCopyAndComputeTogether) {
  EXPECT_THAT(titan_scenario(titan_with("replicate_degree = 1", "replicate_degree = 2")),
              AllOf(HasSubstr("\"sharding_strategy\": \"HYBRID_SHARD\""), HasSubstr("\"shard_group\": 8")));
  EXPECT_THAT(titan_scenario(titan_with("tensor_parallel_degree = 1", "tensor_parallel_degree = 8")),
              AllOf(HasSubstr("\"tensor_parallel\": 8"), HasSubstr("\"sequence_parallel\": true")));
  const std::string sharded = titan_with("shard_degree = -1", "shard_degree = 32");
  EXPECT_THAT(titan_scenario(sharded, ""), HasSubstr("32 ranks, fsdp"));
  EXPECT_THAT(titan_scenario(sharded), HasSubstr("job.toml:26: /parallelism/data_parallel_shard_degree: expected "
                                                 "degrees for the 16 ranks: 1 replicas x 32 shards"));
  const std::string copied = titan_with("replicate_degree = 1\ndata_parallel_shard_degree = -1",
                                        "replicate_degree = 8\ndata_parallel_shard_degree = 1");
  EXPECT_THAT(titan_scenario(copied, "--model llama3_2_1b"),
              AllOf(HasSubstr("llama3_2_1b on hgx-h100, 8 ranks, ddp in bf16"), HasSubstr("\"bucket_cap_mb\": 100")));
}

TEST(TorchtitanJob, SaysWhatIsGatheredAgainAndInWhichTypes) {
  EXPECT_THAT(titan_scenario(titan_with("tensor_parallel_degree = 1", "fsdp_reshard_after_forward = \"never\"")),
              HasSubstr("\"reshard_after_forward\": false"));
  EXPECT_THAT(
      titan_scenario(titan_with("seq_len", "dtype = \"bfloat16\"\nmixed_precision_reduce = \"bfloat16\"\nseq_len")),
      AllOf(HasSubstr("\"reduce_dtype\": \"bf16\""), HasSubstr("\"gradient_type\": \"bf16\"")));
  EXPECT_THAT(titan_scenario(titan_with("# converters", "converters")), HasSubstr("fsdp in fp8"));
}

TEST(TorchtitanJob, HasPassesForAGlobalBatchAndMicroBatchesForStages) {
  EXPECT_THAT(titan_scenario(titan_with("seq_len", "global_batch_size = 128\nseq_len")),
              HasSubstr("\"accumulation\": 4"));
  EXPECT_THAT(titan_scenario(titan_with("tensor_parallel_degree = 1", "pipeline_parallel_degree = 2")),
              AllOf(HasSubstr("1 sample a rank"), HasSubstr("\"pipeline\": 2"), HasSubstr("\"accumulation\": 2")));
  EXPECT_THAT(titan_scenario(titan_with("local_batch_size = 2", "local_batch_size = 1048576\nglobal_batch_size = 8"),
                             "--ranks 4096"),
              HasSubstr("expected a multiple of the 4294967296 samples of a pass of all ranks"));
}

TEST(TorchtitanJob, MayBeNamedByTheLineThatOverridesSomeOfIt) {
  const test::Workplace place;
  place.write("job.toml", llama3_toml);
  const test::Finished made = place.farandole(
      "new new.json --machine hgx-h100 --launch 'NGPU=8\n"
      "torchrun --nproc_per_node=${NGPU} --rdzv_backend c10d --local-ranks-filter 0 -m torchtitan.train \\\n"
      "  --job.config_file ./job.toml --training.local_batch_size 1 --parallelism.tensor_parallel_degree=2'");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("8 ranks, fsdp in bf16, 1 sample a rank"));
  EXPECT_THAT(test::contents(place.folder() / "new.json"), HasSubstr("\"tensor_parallel\": 2"));
}

/// It is what is in it.
TEST(TorchtitanJob, MayBeCalledAnything) {
  for (const char* name : {"job.conf", "llama3_8b", "job.yaml"}) {
    const test::Workplace place;
    place.write(name, llama3_toml);
    const std::string machine = "new new.json --machine hgx-h100 ";
    EXPECT_THAT(place.farandole(machine + "--ranks 8 --strategy ./" + name).out, HasSubstr("8 ranks, fsdp in bf16"));
    std::filesystem::remove(place.folder() / "new.json");
    EXPECT_THAT(
        place
            .farandole(machine + "--launch 'torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file " + name +
                       " --training.local_batch_size 1'")
            .out,
        HasSubstr("1 sample a rank"));
    EXPECT_THAT(place.farandole(std::string("import ") + name).err,
                HasSubstr("a job configuration of torchtitan: farandole new --strategy"));
  }
}

TEST(TorchtitanJob, NamesWhatItAsksForBesides) {
  EXPECT_THAT(titan_scenario(titan_with("tensor_parallel_degree = 1", "enable_async_tensor_parallel = true")),
              HasSubstr("Not used: parallelism.enable_async_tensor_parallel true of job.toml\n"));
  EXPECT_THAT(titan_scenario(titan_with("enable_checkpoint = false", "enable_checkpoint = true")),
              HasSubstr("Not used: checkpoint.enable_checkpoint true of job.toml\n"));
}

/// Whatever it is set to: 1 and false, which are what torchtitan does anyhow, are no slips of the hand less.
TEST(TorchtitanJob, IsRefusedWhereAKeyIsMistyped) {
  const std::string degrees = "tensor_parallel_degree = 1";
  for (const auto& [text, other, message] : std::initializer_list<std::array<std::string, 3>>{
           {degrees, "tensor_paralel_degree = 1",
            "job.toml:27: /parallelism/tensor_paralel_degree: expected a key of torchtitan's [parallelism], got "
            "\"tensor_paralel_degree\"; did you mean \"tensor_parallel_degree\"?"},
           {degrees, "enable_async_tensor_paralel = false", "did you mean \"enable_async_tensor_parallel\"?"},
           {"profile_freq", "profile_frek", ":7: /profiling/profile_frek: expected a key of torchtitan's [profiling]"},
           {"interval = 500", "intervall = 500", ":31: /checkpoint/intervall: expected a key of"},
           {"[compile]", "[compil]",
            ":38: /compil: expected a table of torchtitan's job configuration, got "
            "\"compil\"; did you mean \"compile\"?"},
           {"[compile]", "[quantize.linear.floot8]\n[compile]", "did you mean \"float8\"?"},
           {"[job]", "debug = true\n[job]",
            ":2: /debug: expected a table of torchtitan's job configuration, got true"}}) {
    const std::string refused = titan_scenario(titan_with(text, other));
    EXPECT_THAT(refused, HasSubstr(message)) << other;
    EXPECT_EQ(std::ranges::count(refused, '\n'), 1) << refused;
  }
  const test::Workplace place;
  place.write("job.toml", llama3_toml);
  EXPECT_THAT(
      place
          .farandole("new new.json --machine hgx-h100 --launch 'torchrun --nproc_per_node=8 -m torchtitan.train "
                     "--job.config_file job.toml --training.seq_lenn 1'")
          .err,
      HasSubstr("/training/seq_lenn: expected a key of torchtitan's [training], got \"seq_lenn\"; did you mean "
                "\"seq_len\"?"));
}

TEST(TorchtitanJob, MayHaveKeysOfAModuleOfItsOwn) {
  EXPECT_THAT(
      titan_scenario(titan_with("[job]", "[job]\ncustom_config_module = \"mine.config\"\n[mine]\nwindow = 8\n[job.x]")),
      HasSubstr("Not used: mine an object of job.toml\n"));
}

TEST(TorchtitanJob, HasKeysOfAllItsReleases) {
  const std::string newer = titan_with("[compile]", R"([training.dataloader]
num_workers = 4
[quantize.linear.float8]
enable_fsdp_float8_all_gather = true
filter_fqns = ["output"]
[quantize.grouped_mm.mx]
fqns = []
[debug]
seed = 42
[compile])");
  EXPECT_THAT(titan_scenario(newer),
              HasSubstr("Not used: quantize.linear.float8.enable_fsdp_float8_all_gather true of job.toml\n"));
  EXPECT_THAT(titan_scenario("[training]\nbatch_size = 8\ncompile = true\ndata_parallel_degree = -1\n"
                             "[experimental]\npipeline_parallel_degree = 1\n[job]\n[model]\nname = \"llama3\"\n"
                             "flavor = \"8B\"\n[activation_checkpoint]\nmode = \"full\"\n"),
              HasSubstr("8 samples a rank"));
}

TEST(TorchtitanJob, IsRefusedInOneLineWhereItIsNotSimulated) {
  const std::string degrees = "tensor_parallel_degree = 1";
  for (const auto& [text, other, message] : std::initializer_list<std::array<std::string, 3>>{
           {degrees, "context_parallel_degree = 2",
            ":27: /parallelism/context_parallel_degree: expected 1: no more is"},
           {"'op'", "\"2\"", ":36: /activation_checkpoint/selective_ac_option: expected \"op\": that every so many"},
           {"'selective'  #", "'selectiv' #", "did you mean \"selective\"?"},
           {"AdamW", "Muon", ":16: /optimizer/name: expected Adam, AdamW or SGD"},
           {degrees, "pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"Interleaved1F1B\"", "expected 1F1B"},
           {"seq_len", "enable_cpu_offload = true\nseq_len", ":21: /training/enable_cpu_offload: expected false"},
           {"seq_len", "global_batch_size = 33\nseq_len", "expected a multiple of the 32 samples of a pass"},
           {"\"8B\"", "\"9B\"", "expected a model, got \"llama3_9b\"; did you mean \"llama3_8b\"?"},
           {"shard_degree = -1", "shard_degree = many",
            ":26: /: expected a text, a number, true, false or an array of"}}) {
    const std::string refused = titan_scenario(titan_with(text, other));
    EXPECT_THAT(refused, HasSubstr(message)) << other;
    EXPECT_EQ(std::ranges::count(refused, '\n'), 1) << refused;
  }
}

TEST(TorchtitanJob, IsRefusedWithTheLineWhereItIsNoTomlThatIsRead) {
  for (const auto& [text, message] : std::initializer_list<std::array<std::string, 2>>{
           {"a = \"b\nc = 1\n", ":1: /: expected a closing \", got \""},
           {"\n[a\n", ":2: /: expected \"]\" behind the name of a table"},
           {"[a]\nb = 1\nb = 2\n", ":3: /: expected \"b\" once, got it again, after line 2"},
           {"[a]\n[b]\n[a]\n", ":3: /: expected \"[a]\" once"},
           {"a = 1\n[a]\n", ":2: /: expected \"a\" once"},
           {"a = 2025-01-01\n", "got \"2025-01-01\""},
           {"a = 0x10\n", "got \"0x10\""},
           {"a = { b = 1 }\n", "expected a text, a number, true, false or an array of these"},
           {"a = \"\"\"\nb\"\"\"\n", "expected a text of one line"},
           {"a = [1, 2\nb = 3\n", ":2: /: expected \",\" or \"]\" in an array"},
           {"a = 1 2\n", "expected the end of the line, got \"2\""},
           {"a.b = 1\n", "expected \"=\" behind a key without dots, got \".b = 1\""},
           {"= 1\n", "expected a key, or a table in brackets"},
           {"a = \"\\q\"\n", R"(got "\q"")"},
           {"a = 1e999\n", "got \"1e999\""}}) {
    const std::string refused = titan_scenario(text);
    EXPECT_THAT(refused, HasSubstr("job.toml")) << text;
    EXPECT_THAT(refused, HasSubstr(message)) << text;
    EXPECT_EQ(std::ranges::count(refused, '\n'), 1) << refused;
  }
}

}}  // namespace farandole::torchtitan_test
