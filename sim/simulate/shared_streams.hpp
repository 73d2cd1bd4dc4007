// Several communication streams that share the network: the threads of a Gloo process group.
//
// Work is taken up in the order in which it was enqueued, by whichever stream is free; what is under way at the same
// time shares links (simulate/concurrent_clock.hpp). Made by the composition root and handed to the event loop, whose
// own events run inside (call_at): only here is it known when a collective ends, since those that start later hold it
// up. Nothing is folded.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "simulate/concurrent_clock.hpp"
#include "training/executor.hpp"

namespace farandole {

class SharedStreams {
 public:
  /// `schedules`: of each operation that may be asked for. `launch`: what starting a collective costs.
  SharedStreams(Fidelity fidelity, const std::map<Operation, RoutedSchedule>& schedules, int streams, Seconds launch);

  void enqueue(int number, CommunicationWork work);
  void call_at(Seconds when, int event);

  struct Listener {
    std::function<void(int event)> called;
    std::function<void(int number, const CommunicationTimes& times)> finished;
  };
  /// Until nothing is left to do.
  void run(const Listener& listener);
  [[nodiscard]] Seconds now() const { return clock_->now(); }

 private:
  enum class What : std::uint8_t { called, reduced, finished };
  struct Item {
    int number;
    CommunicationWork work;
    std::size_t stream;
    CommunicationTimes times;
  };

  [[nodiscard]] static int tag(What what, int index) { return 3 * index + static_cast<int>(what); }
  void start_waiting();
  void start(Item item);
  void on_reduced(Item& item, const RankTimes& ends);

  std::map<Operation, int> index_;
  std::unique_ptr<ConcurrentClock> clock_;
  Seconds launch_;
  std::vector<RankTimes> free_;  // when each stream's last work was over; those under way are not in it
  std::vector<bool> busy_;
  std::deque<Item> waiting_;
  std::map<int, Item> under_way_;  // by number
};

}  // namespace farandole
