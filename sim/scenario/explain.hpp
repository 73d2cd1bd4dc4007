// Why a point is what it is, found by running it again with mechanisms switched off, one after another and each on top
// of the ones before:
//
//   checkpoint           no checkpoints
//   stragglers           all ranks alike: no spread, jitter, noise, stragglers, other devices or shared boards
//   collective_kernels   collectives take no compute from the device
//   contention           every transfer has its way for itself
//   exposed_bandwidth    links, connections, servers and adding up of any rate, and a library's own rates
//   exposed_latency      links, transport, launches and a library's own latencies at none
//   fusion_copies        copies into and out of buffers, encoding and decoding at any rate
//   server_update        servers add up and update at any rate
//   negotiation          nothing but compute and input: one rank by itself
//   input                nothing but compute
//   device               what is left: the iteration of one median device, with servers the passes of a worker
//
// A library keeps to what it decided while what that costs is switched off. A strategy has only the parts that it can
// have: negotiation where ranks negotiate, neither kernels nor contention with servers. Where nothing is left to switch
// off but compute, compute alone must remain; what else does is named "other", and is nothing where the mechanisms are
// complete. What one mechanism hides of another is found in the one switched off last; a part below zero means that the
// mechanism hid more than it cost. Called by run_point where an explanation is asked for.
#pragma once

#include "scenario/what_if.hpp"
#include "timeline/explanation.hpp"

namespace farandole {

/// `base.point` is the scenario's own, with its efficiency. The critical path stays empty; it comes from the run
/// itself.
Explanation explain(const WhatIfBase& base);

}  // namespace farandole
