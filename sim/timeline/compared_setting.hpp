// What a point was run with, by the kinds of change that comparisons are asked about: "ranks", "network", "precision".
//
// Filled by scenario/compared_settings.hpp. Two points differ in the kinds whose values differ.
#pragma once

#include <string>
#include <vector>

namespace farandole { inline namespace timeline {

struct ComparedSetting {
  std::string of;
  std::string value;
  double apart =
      0;  // how far the ratio of two steps lies from the predicted one, in logarithms, where they differ in it

  static void fields(auto& setting, auto& visit) {
    visit("of", setting.of);
    visit("value", setting.value);
    visit("apart", setting.apart);
  }
};

using ComparedSettings = std::vector<ComparedSetting>;

/// The kinds in which two points differ, in order of name, with the larger of both spreads.
ComparedSettings changed_between(const ComparedSettings& from, const ComparedSettings& to);

}}  // namespace farandole::timeline
