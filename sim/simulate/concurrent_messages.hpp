// Concurrent collectives message by message: several runs of message clocks on one network.
//
// Made by make_concurrent_clock alone.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "simulate/concurrent_clock.hpp"
#include "simulate/message_run.hpp"

namespace farandole {

class ConcurrentMessages final : public ConcurrentClock {
 public:
  explicit ConcurrentMessages(const std::vector<RoutedSchedule>& schedules);

  void start(int schedule, Bytes size, const RankTimes& start, int tag) override;
  void call_at(Seconds when, int tag) override;
  void run(const Done& done) override;
  [[nodiscard]] Seconds now() const override { return network_->now(); }

 private:
  /// What a range of the network's tags belongs to: a run, or a call.
  struct Use {
    int tag;
    std::unique_ptr<MessageClock::Run> run;
  };
  int take_tags(int count);

  std::shared_ptr<FluidNetwork> network_;
  std::vector<std::unique_ptr<MessageClock>> clocks_;
  std::map<int, Use> uses_;  // by their first tag
  int next_tag_ = 0;
};

}  // namespace farandole
