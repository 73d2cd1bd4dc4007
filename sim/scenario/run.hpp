// Runs scenarios: from a document to result points.
//
// A plan is everything that can be known before the first point runs; study/ runs the points of a plan on many
// processes. Every point carries its scaling efficiency, for which one rank with the same workload, effects and seed is
// run too, on the median device, or on the run's own where a lucky draw has faster ones. Efficiency above one is an
// error: nothing simulated here can make n devices faster than n times one of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "scenario/budget.hpp"
#include "scenario/scenario.hpp"
#include "scenario/sweep.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"

namespace farandole { inline namespace scenario {

struct RunOptions {
  std::vector<Fidelity> fidelities;  // empty: what the scenario says
  FoldingPolicy folding = FoldingPolicy::where_exact;
  NetworkSolver network = NetworkSolver::as_it_pays;
  bool bands = true;             // false: of no point, whatever the scenario says
  bool explain = false;          // every point, as "measure": {"explain": true} does
  Budget budget{};               // none; what is estimated to take more is refused by the plan
  int shards = 1;                // that share the points out, each with a budget of its own
  int evaluations = 1;           // how often plans of these options are run, as searches do
  int links = 0;                 // how many of its busiest links every point lists
  bool record_timeline = false;  // of the last point
  std::string no_library{};      // why algorithms take the place of libraries that nobody asked for; empty: they do not
  /// Called before each point with (points done, points in all); may be empty.
  std::function<void(int, int)> progress;
};

struct RunResult {
  std::string scenario;
  Settings settings;
  std::vector<TrainingPoint> points;
  std::vector<std::string> ignored;    // pasted options and variables without meaning here, each once
  std::unique_ptr<Timeline> timeline;  // empty unless it was asked for
};

/// A point as it runs.
struct PlannedPoint {
  Document document;  // what the scenario was read from
  Scenario scenario;
  std::vector<SweptValue> swept;
  std::vector<std::string> pointers;  // where the sweep put them
};

/// What the points of a plan are read from, again and again.
struct PlanSource {
  Configurations configurations;
  RunOptions options;
};

/// All points of a document, each of them read and checked before anything runs. None is kept: thousands of platforms
/// would fill the memory. A point is read again when it runs.
struct RunPlan {
  struct Point {
    std::string name;  // which one it is: `/platform/ranks 4, flow`; empty where there is only one
    std::shared_ptr<const PlanSource> source;
    std::size_t configuration = 0;
    std::optional<Fidelity> fidelity;  // empty: what the scenario says
    bool explain = false;              // true: whatever the scenario and the options say
    int busiest_links = 0;             // likewise, where it is more
    int ranks = 1;
    int nodes = 1;                                // that they use
    std::shared_ptr<const PlannedPoint> as_read;  // of a plan of one point, which is not read twice; else null
  };
  std::string scenario;
  Settings settings;                 // of all points
  std::vector<Point> points;         // in the order of results; at least one
  std::vector<std::string> ignored;  // see RunResult
  std::vector<std::string> notes;    // on what points leave unused of their machine, each once
  std::optional<Question> question;
};

/// `catalogue` is the one it was planned with.
PlannedPoint read_point(const RunPlan::Point& point, const Catalogue& catalogue);

/// What a point is read from, without reading it.
Document document_of(const RunPlan::Point& point);

RunPlan plan_run(const Document& document, const Catalogue& catalogue, const RunOptions& options);

/// The same without the configurations that do not fit into their devices' memory, of which `left_out` gets the numbers
/// in the order of the sweep. DoesNotFit (scenario/fit_memory.hpp) where none fits.
RunPlan plan_what_fits(const Document& document, const Catalogue& catalogue, const RunOptions& options,
                       std::vector<std::size_t>& left_out);

/// One point with all that was asked of it. `catalogue` is the one it was planned with. `timeline` may be null.
TrainingPoint run_point(const PlannedPoint& point, const Catalogue& catalogue, Timeline* timeline);
inline TrainingPoint run_point(const RunPlan::Point& point, const Catalogue& catalogue, Timeline* timeline) {
  return run_point(read_point(point, catalogue), catalogue, timeline);
}

/// The time in which one rank by itself would do a rank's part of a step. Where the global batch is fixed it has all of
/// it to do.
Seconds single_rank_share(const Scenario& scenario);

/// What that time consists of.
Breakdown single_rank_parts(const Scenario& scenario);

/// Of a point that train() gave.
double scaling_efficiency(const Scenario& scenario, const TrainingPoint& point);

/// Room for the timeline of one point, empty.
std::unique_ptr<Timeline> new_timeline();

/// Plans and runs, one point after the other in this process.
RunResult run_document(const Document& document, const Catalogue& catalogue, const RunOptions& options);

}}  // namespace farandole::scenario
