// Max-min fair sharing, solved here: the network under the engine.
//
// The allocation is the one of simulate/fluid_network.hpp, which is unique, so both agree to rounding; tests compare
// them on random platforms. It differs in what the engine needs and SimGrid has not: any number of networks at once,
// links that are added and capacities that change while flows are under way.
//
// A change marks the links it touches. Before time goes on, all links and flows that are connected with these are
// solved anew, once however many flows started or ended at that moment: the link with the least capacity left per load
// fixes the rates of its flows, again and again. What a link has left per load only grows meanwhile, so a heap of
// links with stale keys finds the next one. Cost: O(c log c) of the c crossings that are connected.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "platform/congestion.hpp"
#include "simulate/shared_network.hpp"

namespace farandole::inline simulate {

class MaxMinNetwork final : public SharedNetwork {
 public:
  /// The index of a new link; its capacity is positive and finite.
  int add_link(BytesPerSecond capacity, Congestion congestion) override;
  /// From now on.
  void set_capacity(int link, BytesPerSecond capacity) override;

  int add_route(std::span<const int> links, int paths) override;
  void start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) override;
  void call_at(Seconds when, int tag) override;
  void run(const Done& done) override;
  void halt() override { is_halted_ = true; }
  [[nodiscard]] Seconds now() const override { return Seconds(now_); }

 private:
  struct Crossing {
    int link;
    double weight;
  };
  struct Use {
    int flow;
    int crossing;  // which of its route
  };
  struct Link {
    double capacity;
    Congestion congestion;
    double load = 0;
    std::vector<Use> uses{};
    bool is_marked = false;
    std::uint64_t solved = 0;  // in which solution it was met
    double left = 0;           // while that is found
    double unfixed = 0;
  };
  struct Flow {
    int route = 0;
    int tag = 0;
    std::uint64_t order = 0;
    double left = 0;  // bytes, at `since`
    double rate = 0;
    double since = 0;
    double end = 0;
    std::vector<int> places;  // among the uses of each link it crosses
    std::uint64_t solved = 0;
    double next_rate = -1;
  };
  /// A call, a flow that waits for its latency (route >= 0), or the end of a flow (flow >= 0).
  struct Event {
    double date;
    std::uint64_t order;
    int tag;
    int route;
    int flow;
    double size;
    bool operator>(const Event& other) const { return date != other.date ? date > other.date : order > other.order; }
  };
  struct Candidate {
    double level;
    int link;
    bool operator>(const Candidate& other) const {
      return level != other.level ? level > other.level : link > other.link;
    }
  };

  void mark(int link);
  void enter(const Event& event);
  /// Takes the flow out; its tag.
  int leave(int flow);
  void connect(std::vector<int>& links, std::vector<int>& flows);
  void solve();
  void take_rate(int flow);
  [[nodiscard]] bool is_stale(const Event& event) const;

  std::vector<Link> links_;
  std::vector<std::vector<Crossing>> routes_;
  std::vector<Flow> flows_;
  std::vector<int> free_;
  std::vector<int> marked_;
  std::uint64_t solution_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  double now_ = 0;
  bool is_halted_ = false;
};

}  // namespace farandole::inline simulate
