// What a FluidNetwork needs of SimGrid and nothing more: a clock, one timer, and flows that end. SimGrid is behind it
// in a module (config/modules.hpp), simulate/simgrid/engine.cpp, the only file that includes SimGrid, knows its faults
// and steers around them; a port to another version is there.
//
// Called by FluidNetwork alone, which has checked what it passes. Flows have no latency here.
// Errors: std::logic_error for a second engine in the process, for an end that SimGrid reported too late, and where the
// module cannot be loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

class SimGridEngine {
 public:
  /// Both are called from run(), neither may throw.
  struct Events {
    std::function<void(Seconds date)> timer;  // the date asked for, whatever the clock rounded it to
    std::function<void(int tag)> done;
  };

  SimGridEngine() = default;
  virtual ~SimGridEngine() = default;
  SimGridEngine(const SimGridEngine&) = delete;
  SimGridEngine& operator=(const SimGridEngine&) = delete;

  virtual int add_route(std::span<const int> links) = 0;

  /// Starts a flow at clock(): before run() or from the timer, never from `done`.
  virtual void send(int route, std::uint64_t size, int tag) = 0;

  /// Asks for the timer at a date not before clock(); the earliest one asked for since it last rang counts.
  virtual void set_timer(Seconds date) = 0;

  /// Returns when no flow is left and no timer is asked for.
  virtual void run() = 0;

  /// Sets clock() to zero; nothing may be under way.
  virtual void restart() = 0;

  [[nodiscard]] virtual Seconds clock() const = 0;
};

/// What the module hands out, by this name: an engine with `settings` in force, which SimGrid keeps for the process.
using MakeSimGridEngine = void (*)(std::span<const BytesPerSecond> capacities, SimGridEngine::Events events,
                                   const std::vector<std::function<double()>>& shares,
                                   const std::map<std::string, std::string>& settings,
                                   std::unique_ptr<SimGridEngine>& made);
constexpr const char* make_simgrid_engine_name = "farandole_make_simgrid_engine";

/// One link per capacity. `shares`: what is left of it whenever rates are worked out; nothing, or empty: all.
std::unique_ptr<SimGridEngine> make_simgrid_engine(std::span<const BytesPerSecond> capacities,
                                                   SimGridEngine::Events events,
                                                   const std::vector<std::function<double()>>& shares = {});

}}  // namespace farandole::simulate
