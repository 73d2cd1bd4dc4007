// A network that carries single messages: what all fidelities of parameter servers have in common.
//
// Called by ServerSimulation, which adds routes, starts flows and calls, and is told of their ends. A flow stands for
// as many flows of workers that behave alike as its route says, link by link; all of them start together, are equally
// long and end together.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "units/quantity.hpp"

namespace farandole {

/// A link and how many of the flows that a flow stands for cross it.
struct Crossing {
  int link = 0;
  int times = 1;
};

class MessageNetwork {
 public:
  using Done = std::function<void(int tag)>;

  virtual ~MessageNetwork() = default;

  /// At least one crossing.
  virtual int add_route(std::span<const Crossing> crossings) = 0;
  /// From now on; a whole number of bytes, at least one.
  virtual void start(int route, Bytes size, int tag) = 0;
  virtual void call_at(Seconds when, int tag) = 0;
  /// Until nothing is left; `done` may start more.
  virtual void run(const Done& done) = 0;
  [[nodiscard]] virtual Seconds now() const = 0;
};

}  // namespace farandole
