// One direction of a cable, and the ways that links make up.
//
// Made by the builders of topologies/, read by everything that looks at a platform. Links are named by their index in
// Platform::links (inside a NodeTemplate: by their offset from the node's first link).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/congestion.hpp"
#include "units/quantity.hpp"

namespace farandole {

struct Link {
  std::string name;         // "node3/nic0/up"
  BytesPerSecond capacity;  // what payload gets: the wire in series with the host's cost per byte
  Seconds latency;
  BytesPerSecond wire;                                  // the nominal rate, for display
  std::shared_ptr<const CongestionCurve> congestion{};  // null: any number of flows has all of the capacity
};

/// Links in order, from source to destination.
using Path = std::vector<int>;

/// Paths side by side, over which what is sent is split evenly. No paths: no way; one empty path: nothing to cross.
using Paths = std::vector<Path>;

/// All of them at once, each of the `ways` with an equal share.
Paths side_by_side(const std::vector<Paths>& ways);

/// The same paths with every link's index raised by `first_link`.
Paths shifted(Paths paths, int first_link);

}  // namespace farandole
