// Runs a function on every rank at once: threads that exchange messages through memory.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "backend/memory_endpoint.hpp"

namespace farandole::test {

inline void on_every_rank(int ranks, const std::function<void(MemoryEndpoint&)>& act) {
  InProcessMailbox mailbox(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&mailbox, &act, rank] {
      MemoryEndpoint endpoint(mailbox, rank);
      act(endpoint);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// All ranks on one node, no library.
class MemorySession : public Session {
 public:
  explicit MemorySession(MemoryEndpoint& endpoint) : endpoint_(endpoint) {}
  Endpoint& endpoint() override { return endpoint_; }
  std::unique_ptr<Endpoint> open_channel() override { return endpoint_.open_channel(); }
  [[nodiscard]] int ranks_per_node() const override { return endpoint_.ranks(); }
  [[nodiscard]] int nodes() const override { return 1; }
  [[nodiscard]] std::vector<int> node_of_ranks() const override {
    return std::vector<int>(static_cast<std::size_t>(endpoint_.ranks()), 0);
  }
  Settings description() override { return {}; }
  CollectiveRun library(const Schedule& /*layout*/, std::int64_t /*size*/) override { return {}; }
  void abandon() override {}

 private:
  MemoryEndpoint& endpoint_;
};

}  // namespace farandole::test
