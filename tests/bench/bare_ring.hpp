// The yardstick of `message` unfolded: a ring allreduce written straight onto SimGrid, and nothing else.
//
// The same messages as MessageClock sends for a ring on a star, each of the same size at the same moment, but with
// everything that knows of schedules, ranks at different phases or links in general left out: a counter per rank.
#pragma once

#include <queue>
#include <utility>
#include <vector>

#include "collective/chunk_sizes.hpp"
#include "collective/schedule.hpp"
#include "simulate/fluid_network_simgrid.hpp"

namespace farandole::bench {

class BareRing {
 public:
  BareRing(int ranks, BytesPerSecond rate, Seconds latency, Bytes size)
      : ranks_(ranks),
        latency_(latency),
        chunks_(size, ranks),
        round_(static_cast<std::size_t>(ranks), 0),
        sent_(static_cast<std::size_t>(ranks), 0),
        engine_(make_simgrid_engine(std::vector<BytesPerSecond>(2 * static_cast<std::size_t>(ranks), rate),
                                    {[this](Seconds date) { begin(date); }, [this](int rank) { done(rank); }})) {
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<int> links{2 * rank, 2 * ((rank + 1) % ranks) + 1};
      engine_->add_route(links);
    }
  }

  Seconds run() {
    for (int rank = 0; rank < ranks_; ++rank) send(rank);
    engine_->run();
    return end_;
  }

 private:
  int& of(std::vector<int>& values, int rank) { return values[static_cast<std::size_t>(rank)]; }

  void send(int rank) {
    const double date = (engine_->clock() + latency_).si();
    waiting_.emplace(date, rank);
    engine_->set_timer(Seconds(date));
  }

  void begin(Seconds date) {
    while (!waiting_.empty() && waiting_.top().first <= date.si()) {
      const int rank = waiting_.top().second;
      waiting_.pop();
      // Reduce-scatter sends chunk rank - 1 - i in round i, allgather chunk rank - i.
      const int round = of(round_, rank);
      const int chunk = round < ranks_ - 1 ? rank - 1 - round : rank - (round - (ranks_ - 1));
      engine_->send(rank, static_cast<std::uint64_t>(chunks_[(chunk + 2 * ranks_) % ranks_].si()), rank);
    }
    if (!waiting_.empty()) engine_->set_timer(Seconds(waiting_.top().first));
  }

  void done(int rank) {
    ++of(sent_, rank);
    go_on(rank);
    go_on((rank + 1) % ranks_);
  }

  void go_on(int rank) {
    const int before = (rank + ranks_ - 1) % ranks_;
    int& round = of(round_, rank);
    if (of(sent_, rank) <= round || of(sent_, before) <= round) return;
    if (++round < 2 * (ranks_ - 1)) {
      send(rank);
    } else {
      end_ = engine_->clock();
    }
  }

  using Waiting = std::pair<double, int>;

  int ranks_;
  Seconds latency_;
  ChunkSizes chunks_;
  std::vector<int> round_;
  std::vector<int> sent_;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  Seconds end_;
  std::unique_ptr<SimGridEngine> engine_;
};

}  // namespace farandole::bench
