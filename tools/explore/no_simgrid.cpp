// In the place of sim/simulate/fluid_network_simgrid.cpp: a page has no modules, so our own solver shares all links.
#include <stdexcept>

#include "simulate/fluid_network.hpp"
#include "simulate/fluid_network_simgrid.hpp"

namespace farandole { inline namespace simulate {

bool has_simgrid() {
  return false;
}

std::string why_no_simgrid() {
  return "a page has no SimGrid";
}

std::map<std::string, std::string> simgrid_settings() {
  return {};
}

std::unique_ptr<SimGridEngine> make_simgrid_engine(std::span<const BytesPerSecond> /*capacities*/,
                                                   SimGridEngine::Events /*events*/,
                                                   const std::vector<std::function<double()>>& /*shares*/) {
  throw std::logic_error(why_no_simgrid());
}

}}  // namespace farandole::simulate
