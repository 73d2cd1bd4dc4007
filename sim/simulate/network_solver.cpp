#include <fmt/format.h>

#include "simulate/fluid_network.hpp"

namespace farandole { inline namespace simulate {

NetworkSolver solver_for(NetworkSolver wanted, std::int64_t messages, std::int64_t at_once, std::int64_t links) {
  if (wanted != NetworkSolver::as_it_pays) return wanted;
  const bool is_ours = !has_simgrid() || messages > most_for_simgrid || at_once > most_at_once_for_simgrid ||
                       links > most_links_for_simgrid;
  return is_ours ? NetworkSolver::own : NetworkSolver::simgrid;
}

std::map<std::string, std::string> network_settings(NetworkSolver wanted) {
  if (solver_for(wanted, 0) == NetworkSolver::own) return {{"network", "own"}};
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : simgrid_settings()) settings["simgrid." + name] = value;
  if (wanted == NetworkSolver::simgrid) settings["network"] = "simgrid";
  return settings;
}

std::string describe_own_network() {
  return fmt::format(
      "built-in network solver used (over {} messages, {} at once, or {} links); results agree with SimGrid's to "
      "rounding; --network simgrid forces SimGrid",
      most_for_simgrid, most_at_once_for_simgrid, most_links_for_simgrid);
}

}}  // namespace farandole::simulate
