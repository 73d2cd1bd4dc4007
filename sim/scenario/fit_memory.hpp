// Whether a scenario's job fits into its devices' memory (training/memory.hpp).
#pragma once

#include <optional>
#include <string>

#include "scenario/scenario.hpp"
#include "training/memory.hpp"

namespace farandole { inline namespace scenario {

MemoryUse memory_of(const Scenario& scenario);

/// Its own kind of error, so that a search may leave such points out.
class DoesNotFit : public InputError {
 public:
  using InputError::InputError;
};

/// What a point says that fits or not as the program keeps its activations.
std::optional<std::string> memory_note(const Scenario& scenario, const MemoryUse& use);

/// Throws DoesNotFit at `workload` with the sum and the ways out where a GPU has too little memory whatever the program
/// does. A CPU's own fast
/// memory is no bound: what does not fit lies in the node's.
void refuse_what_does_not_fit(const Scenario& scenario, const Value& workload);

}}  // namespace farandole::scenario
