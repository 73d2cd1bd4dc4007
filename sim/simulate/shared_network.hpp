// The one interface to bandwidth: flows over routes, and calls at moments, in one queue of events.
//
// The engine and the clocks of `message` start flows and are told of their ends; whoever shares links with whom is the
// network's affair. Three of them: SimGrid's (simulate/fluid_network.hpp), the same max-min fair sharing found by us
// (simulate/max_min_network.hpp), which may be many at once and whose capacities may change, and links that share
// themselves alone (simulate/shared_links.hpp), the closed approximation of `analytic`.
//
// A flow waits its latency, then sends over all links of its route at once; a link listed k times by a route of p paths
// carries k / p of it. Equal moments are handled in the order of the calls that caused them.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "platform/congestion.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

/// What is kept until its event comes, by numbers that are given anew once they are free.
template <class T>
class Recycled {
 public:
  int keep(T value) {
    if (free_.empty()) {
      values_.push_back(std::move(value));
      return static_cast<int>(values_.size()) - 1;
    }
    const int number = free_.back();
    free_.pop_back();
    values_[static_cast<std::size_t>(number)] = std::move(value);
    return number;
  }
  T& operator[](int number) { return values_[static_cast<std::size_t>(number)]; }
  /// From now on its number is free.
  T take(int number) {
    free_.push_back(number);
    return (*this)[number];
  }

 private:
  std::vector<T> values_;
  std::vector<int> free_;
};

class SharedNetwork {
 public:
  /// Receives the tag of the flow (or the call) that has just ended, at now().
  using Done = std::function<void(int tag)>;

  virtual ~SharedNetwork() = default;

  /// The index of a new link. SimGrid's network has all of its links from the start: std::logic_error there.
  virtual int add_link(BytesPerSecond /*capacity*/, Congestion /*congestion*/) {
    throw std::logic_error("a FluidNetwork has all of its links from the start");
  }
  /// From now on, while flows are under way; not of SimGrid's either.
  virtual void set_capacity(int /*link*/, BytesPerSecond /*capacity*/) {
    throw std::logic_error("the capacities of a FluidNetwork do not change");
  }
  /// The index of a new route over these links (at least one). Routes may be added at any time.
  virtual int add_route(std::span<const int> links, int paths) = 0;
  /// Starts a flow of a whole number of bytes above zero, at a moment not before now().
  virtual void start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) = 0;
  void start(int route, Seconds latency, Bytes size, int tag) { start_at(now(), route, latency, size, tag); }
  /// Reports the tag at a moment not before now(), without any flow.
  virtual void call_at(Seconds when, int tag) = 0;
  /// Until no flow and no call is left, or `done`, which may start more, has called halt().
  virtual void run(const Done& done) = 0;
  /// Lets run() return after this event; it may be called again and goes on from there. Not of SimGrid's network.
  virtual void halt() { throw std::logic_error("a FluidNetwork runs until nothing is left"); }
  /// Sets now() back to zero where nothing is left, of those that clocks use: the next run gives the same times as on a
  /// new network, to the last bit, without the cost of one. The routes stay.
  virtual void restart() { throw std::logic_error("a network whose time is not set back"); }
  [[nodiscard]] virtual Seconds now() const = 0;
};

}}  // namespace farandole::simulate
