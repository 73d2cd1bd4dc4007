// Machines for the tests of libraries: nodes of GPUs with NVLinks and NICs, built in code.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "simulate/library/library.hpp"
#include "simulate/platform_kit.hpp"

namespace farandole::test {

struct Machine {
  int nodes = 1;
  int devices = 8;
  int nics = 8;
  BytesPerSecond port;  // of a device into the node's NVLink switch
  BytesPerSecond nic;
};

/// Device d uses NIC d * nics / devices; the network never limits.
inline Platform gpu_nodes(const Machine& machine) {
  Platform platform;
  platform.nodes = machine.nodes;
  platform.devices_per_node = machine.devices;
  NodeTemplate& node = platform.node;
  node.devices = machine.devices;
  for (int nic = 0; nic < machine.nics; ++nic) {
    node.nics.push_back({2 * nic, 2 * nic + 1});
    node.links.push_back({"nic up", machine.nic, 0_s, machine.nic});
    node.links.push_back({"nic down", machine.nic, 0_s, machine.nic});
  }
  const int first = 2 * machine.nics;
  for (int from = 0; from < machine.devices; ++from) {
    node.links.push_back({"nvlink up", machine.port, 0_s, machine.port});
    node.links.push_back({"nvlink down", machine.port, 0_s, machine.port});
    node.nics_of_device.push_back({from * machine.nics / machine.devices});
    for (int to = 0; to < machine.devices; ++to) {
      node.between.push_back(from == to ? Paths{{}} : Paths{{first + 2 * from, first + 2 * to + 1}});
    }
    for (int nic = 0; nic < machine.nics; ++nic) node.to_nic.push_back({{2 * nic}});
  }
  for (int nic = 0; nic < machine.nics; ++nic) {
    for (int device = 0; device < machine.devices; ++device) node.from_nic.push_back({{2 * nic + 1}});
  }
  platform.network.paths = [](int, int) { return Paths{{}}; };
  for (int index = 0; index < machine.nodes; ++index) {
    platform.links.insert(platform.links.end(), node.links.begin(), node.links.end());
  }
  return platform;
}

/// One node of four devices, every pair joined by `links` NVLinks of 25 GB/s.
inline Platform wired_quad(int links) {
  Platform platform = gpu_nodes({1, 4, 1, 25_GBps, 12.5_GBps});
  NodeTemplate& node = platform.node;
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from == to) continue;
      node.between[static_cast<std::size_t>(4 * from + to)] = {{static_cast<int>(node.links.size())}};
      node.links.push_back({"nvlink", 25_GBps * links, 0_s, 25_GBps * links});
    }
  }
  platform.links = node.links;
  return platform;
}

/// A DGX A100 or a cluster of them: 12 NVLinks a GPU into switches, 8 NICs of 200 Gbit/s.
inline Platform dgx_a100(int nodes) {
  return gpu_nodes({nodes, 8, 8, 300_GBps, 25_GBps});
}

inline constexpr std::array all_fidelities{Fidelity::analytic, Fidelity::flow, Fidelity::message};
/// What NCCL and its forks have algorithms for.
inline constexpr std::array nccl_operations{Operation::allreduce, Operation::reduce_scatter, Operation::allgather,
                                            Operation::broadcast, Operation::reduce};

/// Of ranks that start together.
inline Seconds time(CollectiveClock& clock, Bytes size, int ranks) {
  return latest(clock.completion_times(size, all_at(ranks, 0_s)));
}

inline std::unique_ptr<LibraryClock> library_clock(const std::string& name, Operation operation,
                                                   const Platform& platform, const Placement& placement,
                                                   Fidelity fidelity = Fidelity::analytic, int capability = 80) {
  const LibraryJob job{platform, placement, operation, 0, capability};
  return make_library_clock(*find_library(name), job, fidelity);
}

}  // namespace farandole::test
