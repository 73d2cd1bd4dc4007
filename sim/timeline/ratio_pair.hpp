// A measured difference beside a predicted one.
//
// Filled by calibration/ratios.hpp, printed by report/. RatioPairs are of the throughput of one device, the second
// run's by the first one's: with more ranks, linear scaling is 1.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "timeline/bands.hpp"
#include "timeline/difference.hpp"

namespace farandole { inline namespace timeline {

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
