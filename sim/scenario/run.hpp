// Runs scenarios: from a document to result points.
//
// Every point carries its scaling efficiency, for which one rank with the same workload, effects and seed is run too.
// Efficiency above one is an error: nothing simulated here can make n devices faster
// than n times the median one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "config/document.hpp"
#include "scenario/scenario.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"

namespace farandole {

struct RunOptions {
  std::vector<Fidelity> fidelities;  // empty: what the scenario says
  FoldingPolicy folding = FoldingPolicy::where_exact;
  bool explain = false;          // every point, as "measure": {"explain": true} does
  bool record_timeline = false;  // of the last point
  /// Called before each point with (points done, points in all); may be empty.
  std::function<void(int, int)> progress;
};

struct RunResult {
  std::string scenario;
  Settings settings;
  std::vector<TrainingPoint> points;
  std::vector<std::string> ignored;          // pasted options and variables without meaning here, each once
  std::optional<std::string> timeline_file;  // where HOROVOD_TIMELINE wants it
  std::unique_ptr<Timeline> timeline;        // empty unless it was asked for
};

RunResult run_document(const Document& document, const Catalogue& catalogue, const RunOptions& options);

}  // namespace farandole
