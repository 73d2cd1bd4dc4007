// Collectives that meet on a platform, without any job.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "engine/company.hpp"
#include "simulate/max_min_network.hpp"
#include "simulate/shared_links.hpp"

namespace farandole::test {

inline std::unique_ptr<SharedNetwork> network_of(Fidelity fidelity) {
  if (fidelity == Fidelity::analytic) return std::make_unique<SharedLinks>();
  return std::make_unique<MaxMinNetwork>();
}

class Meeting {
 public:
  using Done = std::function<void(int tag, const RankTimes& ends)>;

  Meeting(Fidelity fidelity, const Platform& platform, const std::vector<RoutedSchedule>& schedules)
      : simulator(network_of(fidelity)),
        company(simulator, platform, fidelity),
        self_(simulator.enlist([this](int tag) { done_(tag, {}); })) {
    for (const RoutedSchedule& schedule : schedules) {
      Carriage& carriage = carriages_.emplace_back();
      carriage.routed = std::make_shared<const RoutedSchedule>(schedule);
      carriage.alone = make_collective_clock(fidelity, schedule);
    }
  }
  void start(int schedule, Bytes size, const RankTimes& joins, int tag) {
    company.start(carriages_.at(static_cast<std::size_t>(schedule)), size, joins,
                  [this, tag](const RankTimes& ends) { done_(tag, ends); });
  }
  void call_at(Seconds when, int tag) { simulator.call_at(when, self_, tag); }
  void run(Done done) {
    done_ = std::move(done);
    simulator.run();
  }
  [[nodiscard]] Seconds now() const { return simulator.now(); }

  Simulator simulator;
  Company company;

 private:
  int self_;
  std::deque<Carriage> carriages_;
  Done done_;
};

}  // namespace farandole::test
