// What a scenario's "run" section says: a whole training run, of which the measured iterations are a sample.
#pragma once

#include <cstdint>
#include <optional>

#include "config/section.hpp"
#include "units/quantity.hpp"

namespace farandole::inline scenario {

struct FailureSpec {
  Seconds node_mtbf;
  bool elastic = false;
  Seconds restart;  // or what rebuilding the communicators takes, where it is elastic
  Seconds repair;   // elastic: until a node is back
  int commit_every_steps = 1;
  int least_nodes = 1;
  int simulations = 100;
};

struct LearningRateSpec {
  double base = 0;
  int base_batch = 256;
  std::string scaling = "linear";  // "linear", "sqrt" or "none"
  double warmup_epochs = 0;
  int largest_known_batch = 0;
};

struct RunSpec {
  std::int64_t samples = 0;
  int epochs = 1;
  std::int64_t evaluation_samples = 0;
  int evaluate_every = 1;  // epochs
  Seconds startup;
  bool initial_broadcast = true;
  int metrics = 0;  // numbers averaged over all ranks after each epoch
  std::optional<FailureSpec> failures;
  std::optional<LearningRateSpec> learning_rate;
};

/// `global_batch`: an epoch must have at least one.
RunSpec read_run(const Value& where, std::int64_t global_batch);

}  // namespace farandole::inline scenario
