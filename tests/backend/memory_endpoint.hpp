// Ranks as threads of one process, messages through memory: what the interpreter is tested on, and what runs where
// there is no MPI.
//
// An InProcessMailbox outlives its endpoints; each thread makes its own endpoint. A message is copied when it is sent.
#pragma once

#include <compare>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "backend/endpoint.hpp"

namespace farandole { inline namespace backend {

class InProcessMailbox {
 public:
  explicit InProcessMailbox(int ranks) : ranks_(ranks) {}

  [[nodiscard]] int ranks() const { return ranks_; }
  /// From where to where, on which of the channels between them.
  struct Way {
    int from = 0;
    int to = 0;
    int channel = 0;
    auto operator<=>(const Way&) const = default;
  };

  void put(const Way& way, std::vector<float> letter);
  /// Waits for the oldest letter that came that way.
  std::vector<float> take(const Way& way);
  /// The same without waiting: nothing where none has come.
  std::optional<std::vector<float>> look(const Way& way);
  /// Until a letter comes, whoever's, at the latest so long.
  void wait_for(Seconds at_most);

 private:
  int ranks_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<Way, std::deque<std::vector<float>>> boxes_;
};

class MemoryEndpoint final : public Endpoint {
 public:
  MemoryEndpoint(InProcessMailbox& mailbox, int rank, int channel = 0)
      : mailbox_(mailbox), rank_(rank), channel_(channel) {}

  /// Another one beside it. Only the first one is asked.
  [[nodiscard]] std::unique_ptr<Endpoint> open_channel() {
    return std::make_unique<MemoryEndpoint>(mailbox_, rank_, ++channels_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return mailbox_.ranks(); }
  DataPlace& place() override { return place_; }
  void send(std::span<const float> data, int to) override;
  void receive(std::span<float> data, int from) override;
  void wait() override;
  bool is_done() override;
  void idle(Seconds at_most) override { mailbox_.wait_for(at_most); }
  std::vector<double> allgather_scalar(double number) override;

 private:
  struct Expected {
    std::span<float> data;
    int from;
  };

  [[nodiscard]] InProcessMailbox::Way from(int peer) const { return {peer, rank_, channel_}; }
  [[nodiscard]] InProcessMailbox::Way to(int peer) const { return {rank_, peer, channel_}; }

  InProcessMailbox& mailbox_;
  HostPlace place_;
  int rank_;
  int channel_;
  int channels_ = 0;  // opened beside it
  std::deque<Expected> expected_;
};

}}  // namespace farandole::backend
