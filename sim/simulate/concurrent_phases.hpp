// Concurrent collectives phase by phase, for `analytic` and `flow`: simulate/concurrent_clock.hpp says how.
//
// Made by make_concurrent_clock alone.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "collective/chunk_sizes.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/concurrent_clock.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole {

class ConcurrentPhases final : public ConcurrentClock {
 public:
  ConcurrentPhases(Fidelity fidelity, std::vector<RoutedSchedule> schedules);

  void start(int schedule, Bytes size, const RankTimes& start, int tag) override;
  void call_at(Seconds when, int tag) override;
  void run(const Done& done) override;
  [[nodiscard]] Seconds now() const override { return now_; }

 private:
  /// A schedule and one of its phases, under way.
  using Place = std::pair<std::size_t, std::size_t>;

  struct Collective {
    std::size_t schedule;
    int tag;
    ChunkSizes sizes;
    RankTimes alone;  // when each rank would end
    Seconds begin;    // the last rank joins
    double scale;     // of the phases' sum to what the clock says
    std::size_t phase = 0;
    double left = 1;                         // of the phase
    Seconds duration = Seconds::infinity();  // of the phase at the pace of the moment, once that is known
  };
  struct Event {
    Seconds when;
    int tag;
  };

  [[nodiscard]] Seconds time_of(const Collective& collective, std::size_t phase, const Eigen::ArrayXd& rates) const;
  [[nodiscard]] std::size_t phases(const Collective& c) const {
    return schedules_[c.schedule].schedule().phases.size();
  }
  const std::vector<Eigen::ArrayXd>& inverse_rates(const std::vector<Place>& places);
  void change_pace();
  [[nodiscard]] Seconds next_moment() const;
  void go_on_to(Seconds moment);
  /// What is done now and has the lowest number, taken out.
  bool take_done(int& tag, RankTimes& ends);

  std::vector<RoutedSchedule> schedules_;
  Sharing sharing_;
  std::vector<std::unique_ptr<CollectiveClock>> clocks_;
  std::map<std::vector<Place>, std::vector<Eigen::ArrayXd>> rates_;
  std::map<int, Collective> waiting_;    // for their last rank, by number
  std::map<int, Collective> under_way_;  // likewise
  std::map<int, Event> calls_;
  int next_ = 0;
  Seconds now_;
};

}  // namespace farandole
