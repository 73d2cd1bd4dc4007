// From "I timed one node" to "what will 64 do?": the device's time that makes the simulation agree with measured runs.
//
// Called before anything is planned (run.cpp, tools' check). A scenario's `workload.measured` are runs of its workload
// on its platform as they stand, at any number of ranks; each is simulated at those ranks, and what one device takes
// for a step is the root of
//   simulated iteration(device time) = measured iteration
// looked for from the iteration itself on, down and up: a device alone updates all that ranks share. So communication,
// stragglers and input that the simulation knows are taken off, and are put on again at other ranks.
#pragma once

#include <vector>

#include "config/document.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/scenario.hpp"

namespace farandole { inline namespace scenario {

/// The document with `workload.device_steps` (and what they follow from, in words and numbers) in place of
/// `workload.measured`; as it is where nothing was measured. Throws InputError where a row is faster than the
/// simulation without any computation or slower than with any, and where rows contradict one another: the same batch
/// with device times more than a tenth apart, or a larger batch that takes no longer, or longer a sample. Each says
/// which number would do.
Document anchored(const Document& document, const Catalogue& catalogue);

/// Takes them out again where a sweep made it another model, precision or device than `base`, which was anchored.
void drop_foreign_anchor(Scenario& scenario, Document& document, const Scenario& base);

}}  // namespace farandole::scenario
