// Ranks as threads of one process, messages through memory: what the interpreter is tested on, and what runs where
// there is no MPI.
//
// A Mailroom outlives its endpoints; each thread makes its own endpoint. A message is copied when it is sent.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "backend/endpoint.hpp"

namespace farandole {

class Mailroom {
 public:
  explicit Mailroom(int ranks) : ranks_(ranks) {}

  [[nodiscard]] int ranks() const { return ranks_; }
  void put(int from, int to, std::vector<float> letter);
  /// Waits for the oldest letter from there to here.
  std::vector<float> take(int from, int to);

 private:
  int ranks_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<std::vector<float>>> boxes_;
};

class MemoryEndpoint final : public Endpoint {
 public:
  MemoryEndpoint(Mailroom& mailroom, int rank) : mailroom_(mailroom), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return mailroom_.ranks(); }
  void send(std::span<const float> data, int to) override;
  void receive(std::span<float> data, int from) override;
  void wait() override;
  std::vector<double> everyones(double number) override;

 private:
  struct Expected {
    std::span<float> data;
    int from;
  };

  Mailroom& mailroom_;
  int rank_;
  std::vector<Expected> expected_;
};

}  // namespace farandole
