// Max-min fair shares of links, kept while flows come and go: the solver under simulate/max_min_network.hpp.
//
// The allocation is the unique one in which every flow has a link that holds it back: one that is used up, and on which
// no other flow is faster. That is a local condition, and so is the repair of a change (tests/simulate/
// max_min_shares_test.cpp holds it, what links carry, and the same rates as a solution from nothing):
//
//   1. The set is what is new, and the flows that changed links hold back; with a flow, those that its links hold back.
//   2. They are solved beside all others, which keep their rates: the link with the least capacity left per load fixes
//      the rates of its flows, again and again. What a link has left per load only grows meanwhile, so a heap of links
//      with stale keys finds the next one.
//   3. Where another flow has no longer what it keeps (its link carries too much), or has more than the set's flows
//      that one link holds back with it, it joins the set, and 2. is done once more.
//
// A link that holds all of its flows back, whose other links hold nobody back and have room left, is solved at once:
// its equal share is everybody's.
//
// A link that holds nobody back passes nothing on: with 512 workers and one busy server, a start at the server touches
// its flows and no others. Cost: O(c log c) of the crossings c of the flows of the set and of their links.
//
// Called by MaxMinNetwork. Rates are right from settle() to the next change. No time here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "platform/congestion.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

class MaxMinShares {
 public:
  /// The index of a new link; its capacity is positive and finite.
  int add_link(BytesPerSecond capacity, Congestion congestion);
  void set_capacity(int link, BytesPerSecond capacity);
  /// A link listed k times carries k / paths of a flow.
  int add_route(std::span<const int> links, int paths);
  [[nodiscard]] int routes() const { return static_cast<int>(routes_.size()); }

  /// A new flow; its number, which may have been another's that has left.
  int enter(int route);
  /// Once it has been settled.
  void leave(int flow);

  [[nodiscard]] bool is_settled() const { return entered_.empty() && changed_links_.empty(); }
  /// The flows whose rate has changed, by more than rounding; some of them twice.
  const std::vector<int>& settle();
  [[nodiscard]] BytesPerSecond rate(int flow) const { return BytesPerSecond(flows_[index(flow)].rate); }
  /// The most flows there have been at once.
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }

 private:
  static constexpr int kNone = -1;
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }

  /// Of a flow with a link.
  struct Crossing {
    int link;
    int place;  // among the link's
    double weight;
  };
  struct Use {
    int flow;
    int crossing;
  };
  // What is read together lies together: a change of one flow reads all of a link's numbers, of few links.
  struct Link {
    double capacity;  // with what its congestion leaves
    double load = 0;
    double used = 0;
    double left = 0;   // while a set is solved: for its flows that have no rate yet,
    double open = 0;   // their load,
    double freed = 0;  // what the set's flows had before
    int open_flows = 0;
    int of_set = 0;
    int held = 0;  // flows that it holds back
    int new_flows = 0;
    int updates = 0;            // of `used`, since that was summed up
    std::uint64_t touched = 0;  // in which set
    bool is_changed = false;
    std::vector<Use> uses{};
  };
  struct Flow {
    double rate = 0;
    double next = 0;
    int first = 0;  // of its crossings
    int crossings = 0;
    int holder = kNone;  // the link that holds it back
    int next_holder = kNone;
    std::uint64_t set = 0;
  };
  struct Route {
    int first;
    int crossings;
  };
  struct Candidate {
    double level;
    int link;
  };

  [[nodiscard]] std::span<Crossing> crossings_of(const Flow& flow) {
    return {crossings_.data() + flow.first, index(flow.crossings)};
  }
  [[nodiscard]] int place_for(int crossings);
  void adapt_to_load(int link);
  void change(int link);
  [[nodiscard]] int narrowest(int flow);
  bool settle_by(int link);
  [[nodiscard]] bool has_room(const Crossing& crossing, double more);
  void hold(int flow, int link, double rate);
  void begin_set();
  void add(int flow);
  void touch(int link);
  void add_all_faster(const Link& link, double rate);
  void solve_set();
  void prepare();
  [[nodiscard]] double left_by_others(const Link& link) const;
  void fill();
  void fix_flows_of(int link, double level);
  bool widen();
  void commit();
  void commit(int flow);
  void sum_up(Link& link);

  std::vector<Link> links_;
  std::vector<double> nominal_;  // capacities
  std::vector<Congestion> congestion_;
  std::vector<Route> routes_;
  std::vector<Crossing> patterns_;  // of routes
  std::vector<Flow> flows_;
  std::vector<Crossing> crossings_;     // of flows
  std::vector<std::vector<int>> free_;  // flows, by crossings
  std::vector<int> entered_;
  std::vector<int> changed_links_;
  std::vector<int> changed_flows_;
  std::uint64_t set_number_ = 0;
  std::vector<int> set_;      // flows
  std::size_t grown_ = 0;     // so many of them have touched their links
  std::vector<int> touched_;  // links
  std::vector<Candidate> heap_;
  std::vector<Candidate> full_;  // links that hold flows of the set back
  std::size_t fixed_ = 0;
};

}}  // namespace farandole::simulate
