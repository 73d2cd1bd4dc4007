// From "I timed one node" to "what will 64 do?": the device's time that makes the simulation agree with measured runs.
//
// Called before anything is planned (run.cpp, tools' check). A scenario's `workload.measured` are runs of its workload
// on its platform, at any number of ranks, as they stand but for what `measured_under` says was otherwise: "pointer:
// value", null for what was not there; `--set` writes there what it replaces. Each is simulated at its ranks, and what
// one device takes for a step is the root of
//   simulated iteration(device time) = measured iteration
// looked for from the iteration itself on, down and up: a device alone updates all that ranks share. So communication,
// stragglers and input that the simulation knows are taken off, and are put on again at other ranks.
#pragma once

#include <string>

#include "config/document.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/scenario.hpp"

namespace farandole { inline namespace scenario {

/// The document with `workload.device_steps` (and what they follow from, in words and numbers) in place of
/// `workload.measured`; as it is where nothing was measured. Throws InputError where a row is faster than the
/// simulation without any computation or slower than with any, and where rows contradict one another: the same batch
/// with device times more than a tenth apart, or a larger batch that takes no longer, or longer a sample. Each says
/// which number would do. Of rows of one batch devices have what the fewest ranks say; what others take beside, by
/// which they are reproduced, is the job's bias (WorkloadSpec::beside).
Document anchored(const Document& document, const Catalogue& catalogue);

/// `changed` is `before` with another value at `pointer`: rows of `workload.measured` stay runs of what was there. A
/// row that is set itself is one of the scenario as it stands then.
void keep_measured(Document& changed, const Document& before, const std::string& pointer);

/// Sets a value as `--set` does.
template <class Set>
void set_after_measuring(Document& document, const std::string& pointer, const Set& value) {
  const Document before = document;
  document.set(pointer, value);
  keep_measured(document, before, pointer);
}

/// The scenario under which the rows were measured.
Document as_measured(const Document& document);

/// `where` is that. On another device, in another precision, compiled or not, what was inferred takes as many times as
/// long as the estimate does, but gains no more than peak rates or memories do, and has a band of its own
/// (tools/kernel_bands.py); of another model it says nothing, and is taken out. A device that is the same under another
/// name changes nothing.
void carry_anchor(WorkloadSpec& workload, const Value& where, const Device& device, const Catalogue& catalogue);

}}  // namespace farandole::scenario
