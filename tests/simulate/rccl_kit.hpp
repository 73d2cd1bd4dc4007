// Nodes of AMD's GPUs and RCCL's cost model on them, for tests that hold it against RCCL's sources.
#pragma once

#include <string>
#include <vector>

#include "simulate/library/rccl_model.hpp"
#include "simulate/nccl_kit.hpp"

namespace farandole::test {

inline const RcclTuning& rccl_tuning(const std::string& version) {
  return *find_library("rccl-" + version)->rccl;
}

struct Joined {
  int from;
  int to;
  int links;
};

/// Pairs of devices wired by so many links of `link`; a device sends to the others over buses that never limit.
inline Platform wired_nodes(const Machine& machine, BytesPerSecond link, const std::vector<Joined>& mesh) {
  Platform platform = gpu_nodes(machine);
  NodeTemplate& node = platform.node;
  for (Link& each : node.links) {
    if (each.name.starts_with("nvlink")) each.name = "bus";
  }
  for (const Joined& pair : mesh) {
    for (const auto& [from, to] : {std::pair{pair.from, pair.to}, {pair.to, pair.from}}) {
      node.between[static_cast<std::size_t>(machine.devices * from + to)] = {{static_cast<int>(node.links.size())}};
      node.links.push_back({"nvlink", link * pair.links, 0_s, link * pair.links});
    }
  }
  platform.links = Links();
  for (int index = 0; index < machine.nodes; ++index) {
    platform.links.insert(platform.links.end(), node.links.begin(), node.links.end());
  }
  return platform;
}

/// Eight dies of four MI250X with a NIC of 200 Gbit/s each, wired as Frontier's (RCCL's rome_model_74).
inline Platform mi250x_nodes(int nodes) {
  return wired_nodes({nodes, 8, 4, BytesPerSecond(1e15), 25_GBps}, 50_GBps,
                     {{0, 1, 4},
                      {2, 3, 4},
                      {4, 5, 4},
                      {6, 7, 4},
                      {0, 6, 2},
                      {2, 4, 2},
                      {0, 2, 1},
                      {1, 3, 1},
                      {1, 5, 1},
                      {3, 7, 1},
                      {4, 6, 1},
                      {5, 7, 1}});
}

/// Eight MI300X, a link between any two, and a NIC of 400 Gbit/s each.
inline Platform mi300x_nodes(int nodes) {
  std::vector<Joined> all;
  for (int from = 0; from < 8; ++from) {
    for (int to = from + 1; to < 8; ++to) all.push_back({from, to, 1});
  }
  return wired_nodes({nodes, 8, 8, BytesPerSecond(1e15), 50_GBps}, 64_GBps, all);
}

/// A model and the graph that it refers to.
struct RcclModelled {
  RcclModelled(const std::string& version, const Platform& platform, int ranks, Operation operation,
               const std::string& gfx)
      : graph(survey_for_rccl(rccl_tuning(version), platform, in_order(ranks), gfx)),
        model(rccl_tuning(version), graph, platform.devices_per_node, operation, gfx) {}
  ChannelGraph graph;
  RcclModel model;
};

inline std::unique_ptr<LibraryClock> rccl_clock(const std::string& name, Operation operation, const Platform& platform,
                                                const Placement& placement, const std::string& gfx,
                                                Fidelity fidelity = Fidelity::analytic) {
  const LibraryJob job{platform, placement, operation, 0, {0, gfx}};
  return make_library_clock(*find_library(name), job, fidelity);
}

}  // namespace farandole::test
