// Max-min fair sharing, solved here: the network under the engine, and of whoever asks FluidNetwork for it.
//
// The allocation is the one of simulate/fluid_network.hpp, which is unique, so both agree to rounding; tests compare
// them on random platforms. It differs in what the engine needs and SimGrid has not: any number of networks at once,
// links that are added and capacities that change while flows are under way.
//
// A change is settled before time goes on, once however many flows started or ended at that moment, and reaches no
// further than it has to (simulate/max_min_shares.hpp). Ends wait in a heap that knows where each flow is, so that a
// new rate moves one; starts and calls in another.
//
// Ends that are no further apart than rounding are one moment: the clock stands still meanwhile, as SimGrid's does.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "simulate/max_min_shares.hpp"
#include "simulate/shared_network.hpp"

namespace farandole { inline namespace simulate {

/// Flows in the order of their ends; of equal ones, in the order of their starts. Four below each, for shorter ways.
class Completions {
 public:
  struct End {
    double date;
    std::uint64_t order;
    int flow;
    bool operator<(const End& other) const { return date != other.date ? date < other.date : order < other.order; }
  };
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const End& first() const { return heap_.front(); }
  void pop();
  /// Puts the flow where it belongs, whether it is there or not.
  void set(const End& end);

 private:
  void up(std::size_t place, End end);
  void down(std::size_t place, End end);
  void put(std::size_t place, const End& end);

  std::vector<End> heap_;
  std::vector<int> places_;  // by flow; -1: not there
};

class MaxMinNetwork final : public SharedNetwork {
 public:
  /// The index of a new link; its capacity is positive and finite.
  int add_link(BytesPerSecond capacity, Congestion congestion) override {
    return shares_.add_link(capacity, std::move(congestion));
  }
  /// From now on.
  void set_capacity(int link, BytesPerSecond capacity) override { shares_.set_capacity(link, capacity); }

  int add_route(std::span<const int> links, int paths) override { return shares_.add_route(links, paths); }
  void start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) override;
  void call_at(Seconds when, int tag) override;
  /// What the callback throws leaves it.
  void run(const Done& done) override;
  void halt() override { is_halted_ = true; }
  [[nodiscard]] Seconds now() const override { return Seconds(now_); }

  void restart() override;

 private:
  /// A call, or a flow that waits for its latency.
  struct Pending {
    double date;
    std::uint64_t order;
    double size;
    int route;
    int tag;
    bool operator>(const Pending& other) const { return date != other.date ? date > other.date : order > other.order; }
  };
  struct Progress {
    double left;  // bytes, at `since`
    double rate;
    double since;
    std::uint64_t order;
    int tag;
  };
  static constexpr int kNoRoute = -1;

  void wait(const Pending& pending);
  [[nodiscard]] double next_date() const;
  void settle();
  Completions::End expected_end(int flow);
  void step(const Done& done);
  void begin(const Pending& pending);

  MaxMinShares shares_;
  std::vector<Progress> flows_;
  Completions completions_;
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
  std::uint64_t order_ = 0;
  double now_ = 0;
  bool is_halted_ = false;
  bool is_running_ = false;
};

}}  // namespace farandole::simulate
