// Why a point is what it is, found by running it again with mechanisms switched off, one after another and each on top
// of the ones before:
//
//   checkpoint           no checkpoints
//   stragglers           all ranks alike: no spread, jitter, noise, stragglers, other devices or shared boards
//   collective_kernels   collectives take no compute from the device
//   contention           every transfer has its way for itself
//   exposed_bandwidth    links of any rate
//   exposed_latency      links, transport and the launch of collectives without latency
//   fusion_copies        copies into and out of fusion buffers at any rate
//   negotiation          nothing but compute and input: one rank by itself
//   input                nothing but compute
//   device               what is left: the iteration of one median device
//
// What one mechanism hides of another is found in the one switched off last; a part below zero means that the mechanism
// hid more than it cost. Called by run_document where an explanation is asked for.
#pragma once

#include "scenario/catalogue.hpp"
#include "scenario/scenario.hpp"
#include "timeline/explanation.hpp"
#include "timeline/result.hpp"

namespace farandole {

/// `document` is the one the scenario was read from; changes of settings are made in it and read again. `point` is the
/// scenario's own, with its efficiency. The critical path stays empty; it comes from the run itself.
Explanation explain(const Document& document, const Catalogue& catalogue, const Scenario& scenario,
                    const TrainingPoint& point);

}  // namespace farandole
