// "optimise": what a search is after, and where it looks.
//
//   "optimise": {
//     "minimise": "cost_per_run",                                 or "maximise"; study/search_spec.hpp lists the
//     numbers "subject_to": { "run_seconds": { "at_most": "6 h" } }, "over": { "/platform/ranks": [8, 16, 32],
//     "/economics/offer": [...] },      as "sweep", a product of lists "over": { "/strategy/fusion_threshold": {
//     "from": "1 MiB", "to": "256 MiB" } }, or open ranges "method": "grid", "evaluations": 60
//   }
//
// Lists are searched by "grid"; where the fewest ranks or nodes are wanted, by "first": from the smallest on until one
// keeps all bounds. Open ranges are searched by "golden_section", one after the other and again while that helps, or by
// "global" (NLopt's DIRECT-L, where the program was built with it). Read by study/search.hpp; InputError at the place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace study {

// What a search may optimise or bound: numbers of a result point, by name.
//
// Used by study/search.hpp. Each is read in its own unit ("6 h", "80 %", "1000 USD", 64).

struct Metric {
  std::string name;
  std::string summary;
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

}}  // namespace farandole::study
