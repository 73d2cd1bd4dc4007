// Reads a launch line as it was pasted: horovodrun, mpirun/mpiexec or aprun, with line continuations, quotes,
// environment settings before it and options that mean nothing here.
//
//   horovodrun -np 16 -H server1:4,server2:4,server3:4,server4:4 --fusion-threshold-mb 32 python train.py
//   mpirun -np 16 -H server1:4,server2:4 -bind-to none -map-by slot -x NCCL_DEBUG=INFO -x HOROVOD_CYCLE_TIME=3.5 ...
//   aprun -n 128 -N 4 -cc depth -j 1 python train.py
//
// What sets ranks, hosts, ranks per node or a HOROVOD_* variable is returned; everything else that is an option of the
// launcher is named in `ignored`, so that the user sees it. The program and its arguments end the options. An option
// the launcher does not have is an error: nobody can tell where its argument ends and the program begins.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/placement.hpp"

namespace farandole { inline namespace platform {

struct LaunchLine {
  std::string launcher;                            // "horovodrun", "mpirun" (mpiexec too), "aprun"
  int ranks = 0;                                   // as written; all slots where only hosts are; never 0
  std::vector<Host> hosts;                         // each once, with the slots that may be used; may be empty
  std::optional<int> ranks_per_node;               // aprun -N, mpirun -npernode; `hosts` respect it already
  bool by_node = false;                            // mpirun --map-by node
  std::map<std::string, std::string> environment;  // HOROVOD_* only, as Horovod writes them
  std::vector<std::string> ignored;                // "-bind-to none", "-x NCCL_DEBUG=INFO", ... as written
};

/// `where` carries the line (a string) and is blamed for what is wrong with it.
LaunchLine parse_launch_line(std::string_view text, const Value& where);

/// The placement the line asks for, on the nodes and in the order of `rule`, which must not contradict it. Without
/// hosts, as many nodes as it takes, each with its devices or ranks per node.
Placement place(const LaunchLine& line, PlacementRule rule, const NodeLayout& layout, const Value& where);

}}  // namespace farandole::platform
