// The energy of a node against SimGrid's own plug-in for the energy of hosts.
//
// A host of eight cores stands for a node of eight devices: idle it draws what all idle devices and the rest of the
// node do, with all cores busy what the busy ones do; SimGrid interpolates in between by the number of busy cores.
#include <gtest/gtest.h>
#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>

#include "economics/offer.hpp"

namespace farandole::energy_plugin_test { namespace {

constexpr NodePower node{Watts(1500), Watts(50), Watts(400)};
constexpr int devices = 8;

/// Five iterations, each 0.3 s with all devices busy and 0.2 s with none.
void train() {
  for (int i = 0; i < 5; ++i) {
    simgrid::s4u::this_actor::thread_execute(simgrid::s4u::this_actor::get_host(), 0.3, devices);
    simgrid::s4u::this_actor::sleep_for(0.2);
  }
}

TEST(EnergyPlugin, OfSimGridGivesTheSameEnergy) {
  int argc = 1;
  char name[] = "test";
  char* argv[] = {name, nullptr};
  simgrid::s4u::Engine engine(&argc, argv);
  sg_host_energy_plugin_init();
  auto* zone = simgrid::s4u::create_full_zone("zone");
  auto* host = zone->create_host("node", 1.0);
  host->set_core_count(devices);
  const double idle = draw(node, devices, 0).si();
  const double full = draw(node, devices, 1).si();
  host->set_property("wattage_per_state",
                     std::to_string(idle) + ":" + std::to_string(idle) + ":" + std::to_string(full));
  host->seal();
  zone->seal();
  simgrid::s4u::Actor::create("training", host, train);
  engine.run();
  EXPECT_NEAR(simgrid::s4u::Engine::get_clock(), 2.5, 1e-9);
  const Joules ours = draw(node, devices, 0.6) * Seconds(2.5);
  EXPECT_NEAR(sg_host_get_consumed_energy(host), ours.si(), ours.si() * 1e-9);
}

}}  // namespace farandole::energy_plugin_test
