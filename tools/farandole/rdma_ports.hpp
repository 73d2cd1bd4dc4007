// What `ibstat` or `ibstatus` prints of a node's adapters: which have a port that is up, and at what rate.
//
// A matrix of nvidia-smi topo -m names adapters and says no rates; this says rates and names adapters. The first active
// port of an adapter counts, one that is down where none is. RoCE's adapters are there, too (link layer "Ethernet").
#pragma once

#include <map>
#include <string>

namespace farandole {

struct RdmaPort {
  bool is_active = false;
  double rate = 0;         // Gbit/s
  std::string link_layer;  // "InfiniBand" or "Ethernet"
};

/// By adapter ("mlx5_0"). InputError with the line where the text, read from `file`, is neither's.
std::map<std::string, RdmaPort> read_rdma_ports(const std::string& text, const std::string& file);

}  // namespace farandole
