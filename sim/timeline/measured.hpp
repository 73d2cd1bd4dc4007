// Points of `farandole bench`: what was measured on real hardware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "timeline/result.hpp"

namespace farandole { inline namespace timeline {

/// One collective of one size.
struct MeasuredPoint {
  CollectivePoint collective;  // its time: the median of the repetitions; no fidelity, never folded
  std::string backend;
  int nodes = 1;
  std::vector<Seconds> repetitions;       // each that of the slowest rank, in order
  std::int64_t wrong = 0;                 // elements of all ranks that were not as promised, after the last repetition
  std::optional<double> processors_busy;  // of rank 0's machine, meanwhile; empty: too short to tell

  static void fields(auto& point, auto& visit) {
    visit.part(point.collective);
    visit("backend", point.backend, {.property = 1});
    visit.derived("data_correct", point.wrong == 0);
    visit("wrong", point.wrong);
    visit("nodes", point.nodes);
    visit("cpu_busy", point.processors_busy);
    visit.derived("root", point.collective.root);
    visit("repetitions", point.repetitions);
  }
};

/// A scenario whose iterations were run for real, and what the simulator says of it.
struct ReplayedPoint {
  TrainingPoint training;  // its fidelity is "replay"; never folded
  std::string backend;
  std::vector<Seconds> repetitions;       // every measured iteration, from the last rank's end to the last rank's end
  std::int64_t wrong = 0;                 // elements of all ranks that were not as promised, in iterations of their own
  std::optional<double> processors_busy;  // of rank 0's machine, meanwhile; empty: too short to tell
  Seconds predicted;                      // mean iteration
  std::string predicted_at;               // fidelity

  /// Relative, of the median iteration: one that the machine held up does not count.
  [[nodiscard]] double error() const { return predicted / training.iteration_p50 - 1; }

  static void fields(auto& point, auto& visit) {
    visit.part(point.training);
    visit("backend", point.backend);
    visit.derived("data_correct", point.wrong == 0);
    visit("wrong", point.wrong);
    visit("cpu_busy", point.processors_busy);
    visit("predicted_seconds", point.predicted);
    visit("predicted_fidelity", point.predicted_at);
    visit.derived("error", point.error());
    visit("repetitions", point.repetitions);
  }
};

}}  // namespace farandole::timeline
