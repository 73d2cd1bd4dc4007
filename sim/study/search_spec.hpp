// "optimise": what a search is after, and where it looks.
//
//   "optimise": {
//     "minimise": "cost_per_run",                                 or "maximise"; study/goal.hpp lists the numbers
//     "subject_to": { "run_seconds": { "at_most": "6 h" } },
//     "over": { "/platform/ranks": [8, 16, 32], "/economics/offer": [...] },      as "sweep", a product of lists
//     "over": { "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB" } }, or open ranges
//     "method": "grid", "evaluations": 60
//   }
//
// Lists are searched by "grid"; where the fewest ranks or nodes are wanted, by "first": from the smallest on until one
// keeps all bounds. Open ranges are searched by "golden_section", one after the other and again while that helps, or by
// "global" (NLopt's DIRECT-L, where the program was built with it). Read by study/search.hpp; InputError at the place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/goal.hpp"

namespace farandole {

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

}  // namespace farandole
