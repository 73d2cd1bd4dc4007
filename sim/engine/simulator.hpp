// Simulated time: one queue of events and one network, for all jobs and all traffic on it.
//
// Whoever takes part enlists with a function that is called with its own event numbers. The queue is the network's
// (simulate/shared_network.hpp), so that calls and the ends of flows come in one order. Equal moments in the order of
// what caused them: a run is reproducible.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "simulate/shared_network.hpp"

namespace farandole { inline namespace engine {

class Simulator {
 public:
  using Handler = std::function<void(int event)>;

  explicit Simulator(std::unique_ptr<SharedNetwork> network) : network_(std::move(network)) {}

  [[nodiscard]] Seconds now() const { return network_->now(); }
  [[nodiscard]] SharedNetwork& network() { return *network_; }
  [[nodiscard]] const std::shared_ptr<SharedNetwork>& shared_network() const { return network_; }

  /// The number under which it is called.
  int enlist(Handler handler);
  /// `when`: at the earliest now.
  void call_at(Seconds when, int who, int event);
  void start(int route, Seconds latency, Bytes size, int who, int event);
  /// The first of so many tags of the network's own, for those who start flows there themselves; until given back.
  int reserve(int tags, Handler handler);
  void give_back(int first_tag) { reserved_.erase(first_tag); }

  /// Until nothing is left or somebody has halted it; it may then be run again and goes on from there.
  void run();
  void halt() { network_->halt(); }

 private:
  struct Pending {
    int who;
    int event;
  };

  std::shared_ptr<SharedNetwork> network_;
  std::vector<Handler> handlers_;
  Recycled<Pending> pending_;
  std::map<int, Handler> reserved_;               // by the first of their tags
  static constexpr int first_reserved = 1 << 28;  // tags below are places among those pending
  int next_reserved_ = first_reserved;
};

}}  // namespace farandole::engine
