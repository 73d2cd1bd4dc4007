// Every worker's routes to every server, before anything is folded.
//
// Used by server_network.cpp, which adds up what links carry and folds it.
#pragma once

#include <cstddef>
#include <vector>

#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "training/strategies/server_plan.hpp"

namespace farandole { inline namespace training {

class ServerRoutes {
 public:
  struct Worker {
    std::vector<int> ranks;
    std::vector<int> devices;  // of its ranks
    int node;
  };

  /// The references must outlive it.
  ServerRoutes(const Platform& platform, const Placement& placement, const std::vector<int>& server_nodes,
               const ServerPlan& plan);

  [[nodiscard]] const std::vector<Worker>& workers() const { return workers_; }
  [[nodiscard]] std::size_t servers() const { return server_nodes_.size(); }
  /// Of a worker: server * 2 + to_server.
  [[nodiscard]] std::size_t ways() const { return server_nodes_.size() * 2; }
  [[nodiscard]] const Route& route(std::size_t worker, std::size_t way) const { return routes_[worker * ways() + way]; }
  /// Of the platform's links, the servers' software, single connections.
  [[nodiscard]] const std::vector<BytesPerSecond>& capacities() const { return capacities_; }
  [[nodiscard]] const Platform& platform() const { return platform_; }
  /// What a node's ranks get when all of them move a gradient to or from their host at once.
  [[nodiscard]] BytesPerSecond bus_of(const Worker& worker) const;

 private:
  void add_workers(const Placement& placement);
  void add_routes();
  [[nodiscard]] Route route_of(const Worker& worker, int node, bool to_server) const;

  const Platform& platform_;
  const std::vector<int>& server_nodes_;
  const ServerPlan& plan_;
  std::vector<Worker> workers_;
  std::vector<Route> routes_;  // [worker * ways + way]
  std::vector<BytesPerSecond> capacities_;
};

}}  // namespace farandole::training
