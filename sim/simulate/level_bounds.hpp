// How far `analytic` and `flow` may lie from `message`: time there over time at message, for any algorithm over any
// number of ranks that start together, on one switch, under leaves or in nodes, where messages wait for their
// receivers.
//
// README.md of this folder says where the distances come from; tests/simulate/levels_test.cpp holds them; whatever sets
// levels side by side says so of a result that lies outside.
#pragma once

#include <string_view>

namespace farandole { inline namespace simulate {

struct LevelBounds {
  double least;
  double most;
  [[nodiscard]] bool covers(double ratio) const { return least <= ratio && ratio <= most; }
};

/// By the fidelity's name.
constexpr LevelBounds bounds_to_message(std::string_view fidelity) {
  if (fidelity == "analytic") return {0.85, 1.5};
  if (fidelity == "flow") return {0.85, 1.35};
  return {1, 1};
}

}}  // namespace farandole::simulate
