// In the place of fluid_network_simgrid.cpp where farandole is built without SimGrid: nothing of it is there.
#include <stdexcept>

#include "simulate/fluid_network.hpp"
#include "simulate/fluid_network_simgrid.hpp"

namespace farandole::inline simulate {
namespace {

[[noreturn]] void refuse() {
  throw std::logic_error("this farandole was built without SimGrid");
}

}  // namespace

SimGridEngine::SimGridEngine(std::span<const BytesPerSecond> /*capacities*/, Events /*events*/,
                             const std::vector<std::function<double()>>& /*shares*/) {
  refuse();
}
SimGridEngine::~SimGridEngine() = default;

int SimGridEngine::add_route(std::span<const int> /*links*/) {
  refuse();
}

void SimGridEngine::send(int /*route*/, std::uint64_t /*size*/, int /*tag*/) {
  refuse();
}

void SimGridEngine::set_timer(Seconds /*date*/) {
  refuse();
}

void SimGridEngine::run() {
  refuse();
}

void SimGridEngine::restart() {
  refuse();
}

Seconds SimGridEngine::clock() const {
  refuse();
}

std::map<std::string, std::string> simgrid_settings() {
  return {};
}

}  // namespace farandole::inline simulate
