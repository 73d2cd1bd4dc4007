// By how much one point is faster than another, when both are uncertain.
//
// The logarithm of the ratio of two throughputs is off by independent things. Each kind of change between the two
// (TrainingPoint::compared) has a spread of its own, learned from published runs that differ in it alone; with ranks it
// grows as the root of the doublings between. Numbers that nothing has settled (BandSource) are put to each end on both
// sides at once; what they do to both cancels. So does the estimate of one model's compute, whose spread is that of the
// change of device, precision or batch; of two models, or beside a measured one, it counts in full. The logarithms of
// the ends add up in squares. How sure a gain is follows as if they were of Student's distribution with two degrees of
// freedom, as the tails of published pairs are, and is never above 95 %. Used by report/ for the answer to a question,
// by scenario/what_if.cpp and by calibration/ratios.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "timeline/result.hpp"

namespace farandole { inline namespace timeline {

struct Difference {
  double probability = 0;
  double throughput = 1;  // of the second point, as a factor of the first one's
  Interval band;          // of that factor
  double sure = 0;        // how probable it is that the throughput changes this way, up or down

  static void fields(auto& difference, auto& visit) {
    visit("probability", difference.probability);
    visit("throughput_ratio", difference.throughput);
    visit("throughput_ratio_band", difference.band);
    visit("sure", difference.sure);
  }
};

/// A point without bands is certain, as what the user measured is; nothing where neither has any.
std::optional<Difference> difference(const TrainingPoint& from, const TrainingPoint& to);

/// A measured difference beside a predicted one: of the throughput of one device, the second run's by the first one's.
/// With more ranks, linear scaling is 1.
struct RatioPair {
  std::string source;
  std::string kind;  // of change: "ranks", "precision"
  std::string strategy;
  std::string from;
  std::string to;
  double predicted = 1;
  double measured = 1;
  double devices = 1;  // the second run has so many times as many
  double waiting = 0;  // share of the second run's step that is not computed
  int ranks = 1;       // the larger
  Difference said{};   // of the predicted ratio, by spreads that have not seen the source

  static void fields(auto& pair, auto& visit) {
    visit("source", pair.source);
    visit("kind", pair.kind);
    visit("strategy", pair.strategy);
    visit("from", pair.from);
    visit("to", pair.to);
    visit("predicted_ratio", pair.predicted);
    visit("measured_ratio", pair.measured);
    visit("devices", pair.devices);
    visit("waiting", pair.waiting);
    visit("ranks", pair.ranks);
    visit.part(pair.said);
  }
};

struct RatioPairs {
  std::vector<RatioPair> pairs;
  std::map<std::string, int> left_out;  // rows in no pair, by the reason
};

}}  // namespace farandole::timeline
