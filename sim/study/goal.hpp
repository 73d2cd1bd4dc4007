// What a search may optimise or bound: numbers of a result point, by name.
//
// Used by study/search.hpp. Each is read in its own unit ("6 h", "80 %", "1000 USD", 64).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "timeline/result.hpp"

namespace farandole {

struct Metric {
  std::string name;
  std::string summary;
  /// InputError where the point has no such number: a run or a cost that the scenario does not ask for.
  double (*of)(const TrainingPoint&);
  double (*read)(const Value&);
  std::string (*text)(double);
};

std::span<const Metric> metrics();
/// Fails at `where`, which holds the name.
const Metric& find_metric(const std::string& name, const Value& where);

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

}  // namespace farandole
