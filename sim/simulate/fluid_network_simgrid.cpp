#include "simulate/fluid_network_simgrid.hpp"

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "config/modules.hpp"
#include "simulate/fluid_network.hpp"

namespace farandole { inline namespace simulate {
namespace {

// No window, no acknowledgements in the opposite direction, no share by bandwidth, and what a link carries is in its
// capacity.
const std::map<std::string, std::string>& fixed_settings() {
  static const std::map<std::string, std::string> settings = {
      {"maxmin/precision", "1e-12"},  // the default takes a link for full with 1e-5 of it left
      {"network/TCP-gamma", "0"},      {"network/bandwidth-factor", "1"}, {"network/crosstraffic", "no"},
      {"network/latency-factor", "1"}, {"network/model", "CM02"},         {"network/optim", "Lazy"},
      {"network/solver", "maxmin"},    {"network/weight-S", "0"},
  };
  return settings;
}

ModuleFunction engine_function() {
  return module_function("simgrid", make_simgrid_engine_name);
}

/// Loading SimGrid takes longer than most runs, so it is believed to be there where its library lies where it lay when
/// the module was built.
bool can_be_used() {
  if (!has_module("simgrid")) return false;
  std::error_code none;
  return std::filesystem::exists(FARANDOLE_SIMGRID_LIBRARY, none) || engine_function().address != nullptr;
}

}  // namespace

std::unique_ptr<SimGridEngine> make_simgrid_engine(std::span<const BytesPerSecond> capacities,
                                                   SimGridEngine::Events events,
                                                   const std::vector<std::function<double()>>& shares) {
  const ModuleFunction make = engine_function();
  if (make.address == nullptr) throw std::logic_error("SimGrid is not there: " + make.missing);
  std::unique_ptr<SimGridEngine> made;
  reinterpret_cast<MakeSimGridEngine>(make.address)(capacities, std::move(events), shares, fixed_settings(), made);
  return made;
}

bool has_simgrid() {
  static const bool has = can_be_used();
  return has;
}

std::string why_no_simgrid() {
  return engine_function().missing;
}

std::map<std::string, std::string> simgrid_settings() {
  if (!has_simgrid()) return {};
  std::map<std::string, std::string> settings = fixed_settings();
  settings["version"] = FARANDOLE_SIMGRID_VERSION;
  settings["surf/precision"] = "2^-50 of the clock";
  return settings;
}

}}  // namespace farandole::simulate
