// The topology kind "torus": routers in a grid of any number of dimensions, each joined to its neighbours, the last of
// a row to the first.
//
// Routes are dimension-ordered, the shorter way round in each dimension: first along the first dimension, then along
// the second, and so on. Half-way round, routers with even coordinates go up and others down, so that both ways are
// used. A dimension of two has one cable between its two routers.
#pragma once

#include "platform/topology.hpp"

namespace farandole {

NetworkPlan read_torus(Section& file, const Topology& topology);

}  // namespace farandole
