// A network of links that flows share max-min fairly, simulated by SimGrid; the one door to SimGrid.
//
// The executors of schedules call it: they add the routes they need, start flows, and start the next ones from the
// callback that reports an end. A flow waits its latency, then sends its bytes over every link of its route at once,
// at the rate r of the max-min fair allocation of the flows that send at that moment:
//
//   for every link l:  sum over flows f of times(f, l) / paths(f) * r(f) <= capacity(l),  and no r(f) can grow without
//   lowering a smaller or equal one;
//
// where the capacity of a link with a congestion curve is that at the load of the moment;
// times(f, l) is how often the route of f lists l, and paths(f) over how many paths it is split. Latency takes no part
// in the sharing.
//
// Invariants: one network exists at a time in a process (SimGrid is a singleton), any number may follow one another,
// and nothing of an earlier one shows in the times of a later one, to the last bit. Time starts at zero. Equal times
// are handled in the order of the calls that caused them, so a run is reproducible.
//
// Cost: about 0.55 us of CPU per flow on links that few flows share, however many are live. Where links are shared, a
// start or an end costs about 0.2 us for every flow whose rate it may change: 65 us in an alltoall of 256 ranks. Links
// that flows couple in a chain are walked by recursion: 32,000 in a row need 8 MB of stack.
//
// Errors: std::invalid_argument for a capacity, size, latency or index out of range; std::logic_error for a second
// network, a time in the past and for flows that SimGrid never ended. An exception thrown by the callback leaves run().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/congestion.hpp"
#include "simulate/shared_network.hpp"
#include "units/quantity.hpp"

namespace farandole::inline simulate {

/// One direction of a cable, or anything else whose bytes per second are shared.
struct FluidLink {
  BytesPerSecond capacity;  // positive and finite
  Congestion congestion{};  // by its load: the sum of times(f, l) / paths(f) of the flows that send
};

class FluidNetwork final : public SharedNetwork {
 public:
  /// `parts`: a multiple of the paths of every route. SimGrid knows whole multiplicities only, so internally every link
  /// has so many times its capacity and is listed parts / paths times as often, which costs as much longer.
  explicit FluidNetwork(std::span<const FluidLink> links, int parts = 1);
  ~FluidNetwork() override;
  FluidNetwork(const FluidNetwork&) = delete;
  FluidNetwork& operator=(const FluidNetwork&) = delete;

  int add_link(BytesPerSecond capacity, Congestion congestion) override;
  void set_capacity(int link, BytesPerSecond capacity) override;

  /// The index of a new route over these links (at least one), split evenly over `paths` paths; a link listed k times
  /// carries k / paths of the flow. Routes may be added at any time, also from the callback; the same route serves any
  /// number of flows.
  int add_route(std::span<const int> links, int paths = 1) override;

  /// Nothing to send is not a flow: skip it, or use call_at where the moment still matters.
  void start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) override;

  /// Reports the tag at a moment not before now(), without any flow.
  void call_at(Seconds when, int tag) override;

  /// Simulates until no flow and no call is left; `done` may start more. now() is then the last end.
  void run(const Done& done) override;
  void halt() override;

  /// Sets now() back to zero where nothing is left, so that the next run gives the same times to the last bit as on a
  /// new network, without the cost of one. The routes stay.
  void restart();

  [[nodiscard]] Seconds now() const override;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// SimGrid's version and every setting of it that the times depend on, to be printed beside a result.
std::map<std::string, std::string> simgrid_settings();

}  // namespace farandole::inline simulate
