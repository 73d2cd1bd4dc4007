// The machine of a scenario as a scheduler sees it: nodes under switches, and what to set so that it has these.
//
// Called by `farandole place`. A machine whose file has groups (leaves of a tree, groups of a dragonfly) is taken as it
// is; one switch that never limits ("star") becomes leaves under a tree. Links between switches are thinned by
// oversubscription and by what other jobs take of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/run.hpp"
#include "slurm_topology.hpp"

namespace farandole {

struct SwitchOptions {
  std::optional<SwitchTree> tree;        // of topology.conf
  std::optional<int> nodes_per_switch;   // instead of it
  std::optional<int> nodes;              // of the machine; empty: the file's, or four times the job's
  std::vector<double> oversubscription;  // level by level, from the leaves upwards; 1 where nothing is said
  double others = 0;                     // share of the links between switches that other jobs take
};

struct SwitchedMachine {
  std::vector<std::vector<int>> switches;  // the nodes of each, in the order in which a scheduler lists nodes
  std::vector<int> order;                  // by node: its place in that order
  std::vector<std::string> assumed;        // what nobody said, in words
  std::string overrides;                   // JSON of /platform/override; empty: as the scenario has it

  [[nodiscard]] std::size_t nodes() const;
};

/// `document`: one configuration, anchored. `used`: nodes of the job. InputError where the machine has no switches.
SwitchedMachine switched_machine(const Document& document, const Catalogue& catalogue, const SwitchOptions& options,
                                 int used);

}  // namespace farandole
