// How much a command may cost: --budget, before anything runs, and --point-timeout, while it does.
#pragma once

#include "command.hpp"
#include "scenario/budget.hpp"

namespace farandole {

struct CostOptions {
  std::string budget = default_budget;
  std::string point_timeout = "1 h";

  void add_budget_to(CLI::App& command);
  void add_to(CLI::App& command);
  [[nodiscard]] Budget most() const;
  [[nodiscard]] Seconds longest_point() const;
};

}  // namespace farandole
