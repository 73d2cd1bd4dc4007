// Reads a launch line as it was pasted, or the script that has it: torchrun, srun, accelerate launch, deepspeed,
// horovodrun, mpirun/mpiexec or aprun, with line continuations, quotes, variables, environment settings before it and
// options that mean nothing here.
//
//   horovodrun -np 16 -H server1:4,server2:4,server3:4,server4:4 --fusion-threshold-mb 32 python train.py
//   mpirun -np 16 -H server1:4,server2:4 -bind-to none -map-by slot -x NCCL_DEBUG=INFO -x HOROVOD_CYCLE_TIME=3.5 ...
//   NNODES=4; torchrun --nnodes=$NNODES --nproc-per-node 8 --rdzv-endpoint=$HOST:29500 train.py --bf16
//   #SBATCH --nodes=4 --ntasks-per-node=1
//   srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 train.py
//
// What sets ranks, hosts, ranks per node or a HOROVOD_* variable is returned; so is, in `job`, what says how the job is
// trained, of the launcher's options and the program's. Everything else that is an option of the launcher is named in
// `ignored`, so that the user sees it. An option the launcher does not have is an error: nobody can tell where its
// argument ends and the program begins. Of a launcher that starts another, the second is meant, once on each node.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/text.hpp"
#include "platform/placement.hpp"

namespace farandole { inline namespace platform {

struct LaunchLine {
  std::string launcher;                            // "torchrun", "srun", "mpirun" (mpiexec too), ...
  int ranks = 0;                                   // as written; all slots where only hosts are; never 0
  std::vector<Host> hosts;                         // each once, with the slots that may be used; may be empty
  std::optional<int> ranks_per_node;               // where that is said; `hosts` respect it already
  bool by_node = false;                            // mpirun --map-by node
  std::map<std::string, std::string> environment;  // HOROVOD_* only, as Horovod writes them
  std::vector<std::string> ignored;                // "-bind-to none", "-x NCCL_DEBUG=INFO", ... as written
  /// ("--mixed_precision", "bf16"), ("--fsdp", "full_shard"), ("--bf16", ""): as written, in order. Of a file that was
  /// read for the number of ranks without dashes: ("config_file", "fsdp.yaml").
  std::vector<std::pair<std::string, std::string>> job;
};

/// "--mixed_precision bf16", "--bf16".
std::string text_of(const std::pair<std::string, std::string>& option);

/// `where` is blamed for what is wrong with the line. `read_file` reads what the line names: the configuration of
/// accelerate, the host file of deepspeed; nothing is read without it.
LaunchLine parse_launch_line(std::string_view text, const Value& where, const TextReader& read_file = {});

/// The placement the line asks for, on the nodes and in the order of `rule`, which must not contradict it. Without
/// hosts, as many nodes as it takes, each with its devices or ranks per node.
Placement place(const LaunchLine& line, PlacementRule rule, const NodeLayout& layout, const Value& where);

}}  // namespace farandole::platform
