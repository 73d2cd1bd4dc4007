// Fifty launch lines and scripts as people paste them (launch_lines.txt), and what is wrong with those that are
// refused.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "platform/launch_samples.hpp"
#include "support/source_folder.hpp"

namespace farandole::launch_lines_test { namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

struct PastedSample {
  std::string expected;
  std::string text;
};

std::vector<PastedSample> pasted_samples() {
  std::ifstream file(test::source_folder() / "tests/platform/launch_lines.txt");
  std::vector<PastedSample> samples;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      samples.push_back({line.substr(4), ""});
    } else if (!samples.empty()) {
      samples.back().text += line + "\n";
    }
  }
  return samples;
}

/// Launcher, ranks, nodes and ranks on a node.
std::string read_of(const std::string& text) {
  try {
    const LaunchLine line = line_of(text);
    const int on_a_node = line.ranks_per_node.value_or(line.hosts.empty() ? line.ranks : line.hosts.front().slots);
    const int nodes =
        line.hosts.empty() ? (line.ranks + on_a_node - 1) / on_a_node : static_cast<int>(line.hosts.size());
    return fmt::format("{} {} {} {}", line.launcher, line.ranks, nodes, on_a_node);
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(PastedLaunchLines, StartWhatTheyStartWhereTheyComeFrom) {
  const auto samples = pasted_samples();
  EXPECT_GE(samples.size(), 50U);
  for (const PastedSample& sample : samples) EXPECT_EQ(read_of(sample.text), sample.expected) << sample.text;
}

TEST(PastedLaunchLines, AreTheSameWithWindowsLineEnds) {
  for (const PastedSample& sample : pasted_samples()) {
    std::string text;
    for (const char c : sample.text) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
    EXPECT_EQ(read_of(text), sample.expected) << sample.text;
  }
}

TEST(PastedLaunchLines, SayHowTheJobIsTrained) {
  const LaunchLine line = line_of(
      "accelerate launch --use_fsdp --mixed_precision bf16 --num_processes 8 train.py --per_device_train_batch_size=2 "
      "--fsdp 'full_shard auto_wrap' --bf16 --gradient_checkpointing True --lr 1e-4");
  EXPECT_THAT(line.job, ElementsAre(Pair("--use_fsdp", ""), Pair("--mixed_precision", "bf16"),
                                    Pair("--per_device_train_batch_size", "2"), Pair("--fsdp", "full_shard auto_wrap"),
                                    Pair("--bf16", ""), Pair("--gradient_checkpointing", "True")));
  EXPECT_THAT(line.ignored, IsEmpty());
}

TEST(PastedLaunchLines, SayItInTheWordsOfMegatronTorchtitanAndPlainScriptsToo) {
  EXPECT_THAT(line_of("torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --swiglu --lr 1e-4 --bf16").job,
              ElementsAre(Pair("--num-layers", "32"), Pair("--swiglu", ""), Pair("--bf16", "")));
  EXPECT_THAT(line_of("torchrun --nproc_per_node 8 -m torchtitan.train --training.seq_len=64 --metrics.log_freq 1").job,
              ElementsAre(Pair("--training.seq_len", "64")));
  EXPECT_THAT(line_of("torchrun --nproc_per_node 8 main.py -a resnet50 --batch-size 256 --epochs 90").job,
              ElementsAre(Pair("--batch-size", "256")));
}

TEST(PastedLaunchLines, NameWhatTheLauncherIsToldBesides) {
  EXPECT_THAT(line_of("export NCCL_ALGO=Ring\nsrun -N 2 -l torchrun --nnodes 2 --rdzv_id $RANDOM x.py").ignored,
              ElementsAre("NCCL_ALGO=Ring", "-l", "--rdzv_id $RANDOM"));
}

TEST(PastedLaunchLines, HaveVariablesOfElsewhereAmongOptionsAndAsPrograms) {
  EXPECT_EQ(line_of("srun $SRUN_ARGS -n 8 python t.py").ranks, 8);
  EXPECT_THAT(line_of("srun $SRUN_ARGS -n 8 python t.py").ignored, ElementsAre("$SRUN_ARGS"));
  EXPECT_EQ(line_of("srun -n 4 $PROGRAM --config -n 8").ranks, 4);
}

TEST(PastedLaunchLines, ReadTheFilesThatTheyName) {
  const TextReader files = [](const std::filesystem::path& file) -> std::string {
    if (file == "two.yaml") return "distributed_type: FSDP\nnum_machines: 2\nnum_processes: 16\n";
    return "# name and GPUs\nworker-1 slots=8\nworker-2 slots=4\n";
  };
  const auto ranks = [&](std::string_view text) { return parse_launch_line(text, anywhere(), files).ranks; };
  EXPECT_EQ(ranks("accelerate launch --config_file two.yaml train.py"), 16);
  EXPECT_EQ(ranks("accelerate launch --config_file two.yaml --num_processes 4 --num_machines 1 train.py"), 4);
  EXPECT_EQ(ranks("deepspeed --hostfile h train.py"), 12);
  EXPECT_EQ(ranks("deepspeed --hostfile h --num_nodes 1 train.py"), 8);
  EXPECT_EQ(ranks("deepspeed --hostfile h --num_gpus 2 train.py"), 4);
  // Without dashes where they say how many ranks there are.
  const auto job = [&](std::string_view text) { return parse_launch_line(text, anywhere(), files).job; };
  EXPECT_THAT(job("accelerate launch --config_file two.yaml t.py"), ElementsAre(Pair("config_file", "two.yaml")));
  EXPECT_THAT(job("accelerate launch --config_file two.yaml --num_processes 4 t.py"),
              ElementsAre(Pair("--config_file", "two.yaml")));
  EXPECT_THAT(job("deepspeed --hostfile h t.py"), ElementsAre(Pair("hostfile", "h")));
}

/// It starts otherwise than srun, which is one letter away.
TEST(PastedLaunchLines, OfJsrunAreNoSlipsOfSrun) {
  EXPECT_THAT(refusal_of("jsrun -n 16 -a 1 python t.py"),
              AllOf(HasSubstr("got \"jsrun\""), Not(HasSubstr("did you mean"))));
}

struct WrongScript {
  const char* text;
  const char* message;
};

void PrintTo(const WrongScript& wrong, std::ostream* out) {
  *out << wrong.text;
}

class WrongPastedScript : public testing::TestWithParam<WrongScript> {};

TEST_P(WrongPastedScript, IsRefusedInClearWords) {
  EXPECT_THAT(refusal_of(GetParam().text), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongPastedScript,
    testing::Values(
        WrongScript{"torchrun --nnodes $NNODES --nproc-per-node 8 t.py",
                    "after --nnodes, got \"$NNODES\"; the value of NNODES is not in what was pasted: write NNODES="},
        WrongScript{"N=$(wc -l < hosts)\ntorchrun --nnodes ${N} t.py", "got \"${N}\"; the value of N is not in"},
        WrongScript{"torchrun --nnodes $(wc -l < hosts) t.py", "what a command prints is not known here"},
        WrongScript{"torchrun --nnodes $((A / 0)) t.py", "got \"$((A / 0))\"; the value of A"},
        WrongScript{"torchrun --nproc_per_node=auto t.py", "got \"auto\"; write how many GPUs a node has"},
        WrongScript{"torchrun --nproc_per_nod 8 t.py", "got \"--nproc_per_nod\"; did you mean \"--nproc-per-node\"?"},
        WrongScript{"torchrn --nnodes 2 t.py", "got \"torchrn\"; did you mean \"torchrun\"?"},
        WrongScript{"accelerate config", "expected a launch line of torchrun, srun, accelerate launch, deepspeed,"},
        WrongScript{"srun python t.py", "expected the number of ranks after -n, got a line of srun without it"},
        WrongScript{"accelerate launch t.py", "the number of ranks after --num_processes"},
        WrongScript{"accelerate launch --num_processes 6 --num_machines 4 t.py", "each of 4 machines"},
        WrongScript{"deepspeed t.py", "the number of ranks after --num_gpus"},
        WrongScript{"deepspeed --include a@b t.py", "HOST:0,1@HOST:0,1, after --include"},
        WrongScript{"deepspeed --exclude a:0 --num_gpus 8 t.py", "how many ranks each node gets"},
        WrongScript{"srun -N 2 torchrun --nnodes 4 --nproc-per-node 8 t.py",
                    "expected torchrun for the 2 nodes that it is started on, got 4"},
        WrongScript{"#SBATCH -N 2\n#SBATCH --ntasks-per-node 8\nsrun torchrun --nnodes 2 t.py",
                    "expected one torchrun on a node, got 8"},
        WrongScript{"srun -N 2 -n 16 --ntasks-per-node 4 x", "at most 4 tasks on each of 2 nodes, got 16 tasks"},
        WrongScript{"srun -w node[4-1] x", "expected nodes such as node[01-04,7] after -w"},
        WrongScript{"srun -w node[] x", "expected nodes such as node[01-04,7] after -w"},
        WrongScript{"#SBATCH - x\nsrun python t.py", "expected the number of ranks after -n"},
        WrongScript{"srun --ntasks-per-gpu=1 x", "how many ranks each node gets"},
        WrongScript{"torchrun --nnodes 4194304 --nproc-per-node 2 t.py", "expected at most 4194304 ranks"},
        WrongScript{"cd /x\necho done", "got no launcher"}, WrongScript{"#SBATCH -N 2", "got no launcher"},
        WrongScript{"A=aaaaaaaa\nB=$A$A$A$A$A$A$A$A\nC=$B$B$B$B$B$B$B$B\nD=$C$C$C$C$C$C$C$C\nE=$D$D$D$D$D$D$D$D\n"
                    "F=$E$E$E$E$E$E$E$E\nG=$F$F$F$F$F$F$F$F\nH=$G$G$G$G$G$G$G$G\ntorchrun t.py",
                    "expected variables of at most 1048576 characters"}));

}}  // namespace farandole::launch_lines_test
