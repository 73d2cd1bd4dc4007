// How a command finds its answers and what that may cost: --network; --budget, before anything runs, and
// --point-timeout, while it does.
#pragma once

#include "command.hpp"
#include "scenario/budget.hpp"
#include "simulate/fluid_network.hpp"

namespace farandole {

struct CostOptions {
  std::string budget = default_budget;
  std::string point_timeout = "1 h";
  std::string network;  // empty: as it pays

  void add_budget_to(CLI::App& command);
  void add_network_to(CLI::App& command);
  [[nodiscard]] NetworkSolver solver() const;
  void add_to(CLI::App& command);
  [[nodiscard]] Budget most() const;
  [[nodiscard]] Seconds longest_point() const;
};

}  // namespace farandole
