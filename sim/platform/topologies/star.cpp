#include "platform/bisection.hpp"
#include "platform/sections.hpp"
#include "platform/topologies/kinds.hpp"

namespace farandole { inline namespace platform {

Network one_switch(const Platform& platform) {
  Network star;
  star.switches.push_back({"switch", 0, 0});
  star.switch_of_nic.assign(static_cast<std::size_t>(platform.nodes) * platform.node.nics.size(), 0);
  star.paths = [](int, int) { return Paths{{}}; };
  star.bisection = [](const Platform& whole) { return least_prefix_cut(whole, std::vector<int>{0}); };
  star.alike_after = 1;
  return star;
}

NetworkPlan read_star(Section& file, const Topology& /*topology*/, const TextReader& /*text*/) {
  int ports = 0;
  if (const auto network = file.maybe("network")) {
    Section section = sourced(*network);
    ports = section.optional<int>("switch_ports", 0);
    section.finish();
  }
  return [ports](Platform& platform, const Value& /*where*/) {
    platform.network = one_switch(platform);
    platform.network.switches.front().ports = ports;
  };
}

}}  // namespace farandole::platform
