// A search: runs points of a scenario until the best is found, and says how good it is and how flat it lies.
//
// Called by `farandole run` for documents with "optimise". Deterministic: the same points in the same order whatever
// the number of processes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "scenario/run.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace study {

// "optimise": what a search is after, and where it looks.
//
//   "optimise": {
//     "minimise": "cost_per_run",  or "maximise"
//     "subject_to": { "run_seconds": { "at_most": "6 h" } },
//     "over": { "/platform/ranks": [8, 16], "/economics/offer": [...] },  as "sweep", a product of lists,
//     or { "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB" } }, open ranges
//     "method": "grid", "evaluations": 60
//   }
//
// Lists are searched by "grid"; where the fewest ranks or nodes are wanted, by "first": from the smallest on until one
// keeps all bounds. Open ranges are searched by "golden_section", one after the other and again while that helps, or by
// "global" (NLopt's DIRECT-L, where the program was built with it). InputError at the place.

// What a search may optimise or bound: numbers of a result point, by name.
//
// Each is read in its own unit ("6 h", "80 %", "1000 USD", 64).

struct Metric {
  std::string name;
  /// InputError where the point has no such number: a run or a cost that the scenario does not ask for.
  double (*of)(const TrainingPoint&);
  double (*read)(const Value&);
  std::string (*text)(double);
};

/// "run_seconds at most 6 h".
struct Bound {
  const Metric* metric = nullptr;
  double limit = 0;
  bool is_upper = true;

  /// How far beyond it is, relative to the limit; 0 where it is kept.
  [[nodiscard]] double violation(const TrainingPoint& point) const;
  [[nodiscard]] std::string text() const;
};

struct Goal {
  const Metric* metric = nullptr;
  bool is_least = true;  // or the most
  std::vector<Bound> bounds;

  /// The less the better; bounds left out.
  [[nodiscard]] double loss(const TrainingPoint& point) const;
  [[nodiscard]] double violation(const TrainingPoint& point) const;
  [[nodiscard]] bool is_better(const TrainingPoint& a, const TrainingPoint& b) const;
};

/// Any value between two, on a logarithmic scale where both are above zero.
struct OpenRange {
  std::string pointer;
  double from = 0;
  double to = 0;
  std::string unit;
  bool is_whole = false;

  /// The value at a share of the way, from 0 to 1, as it would be written: four significant digits.
  [[nodiscard]] std::string at(double share) const;
};

struct SearchSpec {
  Goal goal;
  std::string method;
  int evaluations = 60;
  std::vector<OpenRange> ranges;  // empty: "over" is a product of lists
};

/// Nothing where the document has no "optimise".
std::optional<SearchSpec> read_search(const Document& document);

struct SearchResult {
  RunPlan plan;                                  // of its points, with their settings
  std::vector<TrainingPoint> points;             // in the order in which they were asked for
  std::vector<std::vector<SweptValue>> choices;  // of each point
  int too_large = 0;                             // points that do not fit into memory, and were not run
  Optimum optimum;
  std::string answer;
};

/// Runs all points of a plan, in its order.
using RunAll = std::function<std::vector<TrainingPoint>(const RunPlan&)>;

/// `document` has the "optimise" that `spec` was read from.
SearchResult search(const Document& document, const SearchSpec& spec, const Catalogue& catalogue,
                    const RunOptions& options, const RunAll& run);

// A search of the whole unit cube for the least value of a function, by DIRECT-L (Gablonsky and Kelley, J. Global
// Optimization 21, 2001) as NLopt has it.
//
// Deterministic. NLopt is a module (config/modules.hpp); where it is missing, study/read_search.cpp refuses the method.

/// Empty where NLopt is here.
std::string why_no_global_search();

// The least of a function of one number on an interval, by golden section.
//
// Right for functions that fall and then rise (Kiefer, Proc. AMS 4, 1953); of others it finds
// a place that is no worse than what it has seen.

/// Where the least value was seen, both ends included; stops when what is left is shorter than `tolerance`, above 0.
double golden_section(const std::function<double(double)>& f, double low, double high, double tolerance);

// What the points of a search say: the best of them, how flat it lies, and the answer in a sentence.

/// Fills `optimum` and `answer` of a result that has points.
void judge(const SearchSpec& spec, SearchResult& result);

}}  // namespace farandole::study
