// What a FluidNetwork needs of SimGrid and nothing more: a clock, one timer, and flows that end. The .cpp beside this
// is the only file that includes SimGrid, knows its faults and steers around them; a port to another version is there.
// Where SimGrid is not built in, fluid_network_no_simgrid.cpp takes its place.
//
// Called by FluidNetwork alone, which has checked what it passes. Flows have no latency here.
// Errors: std::logic_error for a second engine in the process and for an end that SimGrid reported too late.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "units/quantity.hpp"

namespace farandole::inline simulate {

class SimGridEngine {
 public:
  /// Both are called from run(), neither may throw.
  struct Events {
    std::function<void(Seconds date)> timer;  // the date asked for, whatever the clock rounded it to
    std::function<void(int tag)> done;
  };

  /// One link per capacity. `shares`: what is left of it whenever rates are worked out; nothing, or empty: all.
  SimGridEngine(std::span<const BytesPerSecond> capacities, Events events,
                const std::vector<std::function<double()>>& shares = {});
  ~SimGridEngine();
  SimGridEngine(const SimGridEngine&) = delete;
  SimGridEngine& operator=(const SimGridEngine&) = delete;

  int add_route(std::span<const int> links);

  /// Starts a flow at clock(): before run() or from the timer, never from `done`.
  void send(int route, std::uint64_t size, int tag);

  /// Asks for the timer at a date not before clock(); the earliest one asked for since it last rang counts.
  void set_timer(Seconds date);

  /// Returns when no flow is left and no timer is asked for.
  void run();

  /// Sets clock() to zero; nothing may be under way.
  void restart();

  [[nodiscard]] Seconds clock() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // not unique: without SimGrid nobody knows what it is
};

}  // namespace farandole::inline simulate
