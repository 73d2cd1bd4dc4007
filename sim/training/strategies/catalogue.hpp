// The catalogue of strategies: how gradients travel. One row per strategy.
#pragma once

#include <span>
#include <string>

namespace farandole {

struct StrategyRow {
  std::string name;
  std::string summary;
  std::string description;  // what it does and which settings it takes, for `show strategy`
};

std::span<const StrategyRow> strategies();

}  // namespace farandole
