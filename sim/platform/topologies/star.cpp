#include "platform/bisection.hpp"
#include "platform/sections.hpp"
#include "platform/topologies/kinds.hpp"

namespace farandole::inline platform {

NetworkPlan read_star(Section& file, const Topology& /*topology*/) {
  int ports = 0;
  if (const auto network = file.maybe("network")) {
    Section section = sourced(*network);
    ports = section.optional<int>("switch_ports", 0);
    section.finish();
  }
  return [ports](Platform& platform, const Value& /*where*/) {
    Network& star = platform.network;
    star.switches.push_back({"switch", ports, 0});
    star.switch_of_nic.assign(static_cast<std::size_t>(platform.nodes) * platform.node.nics.size(), 0);
    star.paths = [](int, int) { return Paths{{}}; };
    star.bisection = [](const Platform& whole) { return least_prefix_cut(whole, std::vector<int>{0}); };
    star.alike_after = 1;
  };
}

}  // namespace farandole::inline platform
