// Runs a function on every rank at once: threads that exchange messages through memory.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "backend/memory_endpoint.hpp"

namespace farandole::test {

inline void on_every_rank(int ranks, const std::function<void(Endpoint&)>& act) {
  Mailroom mailroom(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&mailroom, &act, rank] {
      MemoryEndpoint endpoint(mailroom, rank);
      act(endpoint);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// All ranks on one node, no library.
class MemorySession final : public Session {
 public:
  explicit MemorySession(Endpoint& endpoint) : endpoint_(endpoint) {}
  Endpoint& endpoint() override { return endpoint_; }
  [[nodiscard]] int ranks_per_node() const override { return endpoint_.ranks(); }
  [[nodiscard]] int nodes() const override { return 1; }
  Settings description() override { return {}; }
  CollectiveRun library(const Schedule& /*layout*/, std::int64_t /*size*/) override { return {}; }
  void abandon() override {}

 private:
  Endpoint& endpoint_;
};

}  // namespace farandole::test
