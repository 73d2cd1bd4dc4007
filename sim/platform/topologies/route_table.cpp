#include "platform/topologies/route_table.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {

NetworkPlan plan_of(RouteTable table) {
  return [table = std::make_shared<RouteTable>(std::move(table))](Platform& platform, const Value& where) {
    const std::size_t hosts = table->hosts.size();
    if (static_cast<std::size_t>(platform.nodes) > hosts) {
      where.fail(fmt::format("at most the {} hosts of the file", hosts), fmt::format("{} nodes", platform.nodes));
    }
    const int first_link = static_cast<int>(platform.links.size());
    platform.links.insert(platform.links.end(), table->links.begin(), table->links.end());
    const int inside = add_switch(platform, "network");
    const std::size_t nics = platform.node.nics.size();
    platform.network.switch_of_nic.assign(static_cast<std::size_t>(platform.nodes) * nics, inside);
    platform.network.only_ways = true;
    platform.network.paths = [table, first_link, nics](int from, int to) {
      return shifted({table->way(static_cast<std::size_t>(from) / nics, static_cast<std::size_t>(to) / nics)},
                     first_link);
    };
  };
}

}}  // namespace farandole::platform
