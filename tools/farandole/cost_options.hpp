// How a command finds its answers and what that may cost: --network; --budget, as estimated before anything runs and as
// it turns out, and --point-timeout.
#pragma once

#include "command.hpp"
#include "scenario/budget.hpp"
#include "simulate/fluid_network.hpp"
#include "study/point_timer.hpp"

namespace farandole {

/// Whether a point that takes more than its budget, whatever was estimated, may end this process.
inline bool ends_beyond_budget = false;

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
  /// From now on a point of `file` is ended where it takes more.
  void hold(const std::string& file) const {
    if (ends_beyond_budget) end_beyond(most().time, file);
  }
  /// What is worked out of it in this process, before anything is written.
  template <class Work>
  auto within(const std::string& file, const Work& work) const {
    hold(file);
    const PointTimer timer(longest_point(), PointTimer::Where::program);
    return work();
  }
};

}  // namespace farandole
