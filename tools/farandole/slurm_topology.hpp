// Slurm's topology.conf, or what `scontrol show topology` prints: which nodes are under which switch.
//
// Called by `farandole place`. Two or three levels of switches (topology/tree); names in brackets are listed out:
// "node[01-16,20]". Nodes are in the order of Slurm's lists, which is that of its ranks: names, their numbers as
// numbers. InputError at FILE:LINE for what is no tree, has more levels, or is of another plugin (blocks).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace farandole {

struct SwitchTree {
  struct Leaf {
    std::string name;
    std::vector<std::string> nodes;
  };
  std::vector<std::vector<Leaf>> pods;  // leaves that share the switch above; one pod: two levels

  [[nodiscard]] std::size_t nodes() const;
  [[nodiscard]] std::size_t leaves() const;
};

SwitchTree read_slurm_topology(const std::filesystem::path& file);
/// `source`: the file's name in messages.
SwitchTree slurm_topology_of(std::string_view text, const std::string& source);

/// Whether Slurm lists one name before the other.
bool comes_before(std::string_view one, std::string_view other);

}  // namespace farandole
