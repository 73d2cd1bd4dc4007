// What a scenario's "run" section says: a whole training run, of which the measured iterations are a sample.
#pragma once

#include <cstdint>
#include <optional>

#include "config/section.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace scenario {

struct FailureSpec {
  Seconds node_mtbf = Seconds::infinity();    // of what fails once in a node
  Seconds device_mtbf = Seconds::infinity();  // and of each of its devices
  bool elastic = false;
  Seconds detection;     // from a failure until it is noticed
  Seconds restart;       // or what rebuilding the communicators takes, where it is elastic
  bool reloads = false;  // a restart reads the checkpoint, as fast as it was written, beside that
  Seconds repair;        // until a node is back
  int spare_nodes = 0;   // that take the place of those under repair
  int commit_every_steps = 1;
  int least_nodes = 1;
  int simulations = 100;
  Place place{};  // in the scenario's file

  /// From failure to failure of a job on so many nodes with so many devices.
  [[nodiscard]] Seconds mtbf(int nodes, int devices) const {
    return Seconds(1 / (nodes / node_mtbf.si() + devices / device_mtbf.si()));
  }
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

}}  // namespace farandole::scenario
