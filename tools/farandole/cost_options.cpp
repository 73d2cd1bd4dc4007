#include "cost_options.hpp"

#include <fmt/format.h>

#include "config/section.hpp"

namespace farandole {

void CostOptions::add_budget_to(CLI::App& command) {
  command
      .add_option(
          "--budget", budget,
          "refuse a simulation that is estimated to take more time of one processor, or more memory; end one that does")
      ->type_name("TIME, SIZE")
      ->capture_default_str();
}

void CostOptions::add_network_to(CLI::App& command) {
  command
      .add_option("--network", network,
                  fmt::format("the solver that shares links at flow and message: simgrid, or own, which gives the same "
                              "times to rounding; SimGrid up to {} messages unless given",
                              most_for_simgrid))
      ->type_name("NAME");
}

NetworkSolver CostOptions::solver() const {
  if (network.empty()) return NetworkSolver::as_it_pays;
  if (network == "own") return NetworkSolver::own;
  if (network != "simgrid") {
    refuse_option("--network", "simgrid or own", network, suggestion(network, {"simgrid", "own"}));
  }
  if (const std::string why = why_no_simgrid(); !why.empty()) {
    refuse_option("--network", fmt::format("own, since SimGrid cannot be used ({})", why), network);
  }
  return NetworkSolver::simgrid;
}

void CostOptions::add_to(CLI::App& command) {
  add_budget_to(command);
  command
      .add_option("--point-timeout", point_timeout, "a point that takes longer has failed; the others are still run")
      ->type_name("TIME")
      ->capture_default_str();
}

Budget CostOptions::most() const {
  const OptionValue text("--budget", budget);
  return read_budget(text.value());
}

Seconds CostOptions::longest_point() const {
  const OptionValue text("--point-timeout", point_timeout);
  const auto time = read<Seconds>(text.value());
  if (time == Seconds(0)) refuse_option("--point-timeout", "a time above zero", point_timeout);
  return time;
}

}  // namespace farandole
