// The topology kind "star": nodes around one switch that never limits and costs nothing.
#pragma once

#include "platform/topology.hpp"

namespace farandole {

NetworkPlan read_star(Section& file, const Topology& topology);

}  // namespace farandole
