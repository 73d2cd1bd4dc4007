// Configurations of other programs, pasted into a scenario's "strategy" as they are: DeepSpeed's JSON, accelerate's
// and llm-foundry's YAML.
//
// They are translated into the settings of the strategies zero and fsdp before anything reads those. What a key of such
// a file becomes is one row of a table: a setting, something that the rest of the scenario must agree with (batch,
// type, ranks), nothing because it costs no time here, or a refusal because it is not simulated. Keys in no row are
// refused. Called by scenario/read_scenario.cpp.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"
#include "config/text.hpp"

namespace farandole { inline namespace training {

/// What a pasted configuration must agree with, as the scenario has it.
struct PastedInto {
  int ranks = 1;
  int nodes = 1;
  int ranks_per_node = 1;
  std::int64_t batch_per_rank = 1;  // 0: not known
  std::int64_t global_batch = 0;    // 0: not given
  std::string precision;            // "bf16"
  std::string optimizer;
  bool recomputes = false;
};

/// A "strategy" without what was pasted, which has become settings of it.
struct Pasted {
  Node strategy;
  std::vector<std::string> ignored;  // keys without effect on time here
};

/// `strategy`: as it stands in the scenario; as it is where nothing was pasted. `text`: reads the files it names.
Pasted unpaste(const Value& strategy, const PastedInto& into, const TextReader& text);

/// InputError for a key that DeepSpeed's configuration has not, whatever it says otherwise.
void refuse_unknown_of_deepspeed(const Value& pasted);

}}  // namespace farandole::training
