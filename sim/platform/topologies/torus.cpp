#include <algorithm>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platform/bisection.hpp"
#include "platform/sections.hpp"
#include "platform/topologies/kinds.hpp"
#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {
namespace {

struct Torus {
  std::vector<int> sizes;
  std::vector<int> strides;  // of a router's number, the first dimension varying fastest
  std::vector<Topology::LinkRate> links;
  int nodes_per_router = 1;
  int ports = 0;
  std::vector<int> first_cable;  // by dimension

  [[nodiscard]] std::size_t dimensions() const { return sizes.size(); }
  [[nodiscard]] int routers() const { return std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>()); }
  [[nodiscard]] int coordinate(int router, std::size_t d) const { return router / strides[d] % sizes[d]; }
  /// The neighbour `step` further on in dimension `d`.
  [[nodiscard]] int neighbour(int router, std::size_t d, int step) const {
    const int here = coordinate(router, d);
    return router + ((here + step + sizes[d]) % sizes[d] - here) * strides[d];
  }
  /// Whether the router has a cable of its own upwards in the dimension: the second of two has not.
  [[nodiscard]] bool has_cable(int router, std::size_t d) const {
    return sizes[d] > 2 || (sizes[d] == 2 && coordinate(router, d) == 0);
  }
  /// The number of the cable from a router upwards.
  [[nodiscard]] int cable(int router, std::size_t d) const {
    if (sizes[d] > 2) return first_cable[d] + router;
    return first_cable[d] + router / (2 * strides[d]) * strides[d] + router % strides[d];
  }
  [[nodiscard]] Path path(int from, int to) const;
};

/// Steps in a dimension, negative downwards.
int steps(const Torus& torus, int from, int to, std::size_t d) {
  const int size = torus.sizes[d];
  const int up = (torus.coordinate(to, d) - torus.coordinate(from, d) + size) % size;
  const bool goes_up = 2 * up < size || (2 * up == size && torus.coordinate(from, d) % 2 == 0);
  return goes_up ? up : up - size;
}

Path Torus::path(int from, int to) const {
  Path way;
  for (std::size_t d = 0; d < dimensions(); ++d) {
    const int distance = steps(*this, from, to, d);
    for (int i = 0; i < std::abs(distance); ++i) {
      const int next = neighbour(from, d, distance > 0 ? 1 : -1);
      // Between the two routers of a dimension of two there is only the first one's cable.
      const bool along = sizes[d] == 2 ? coordinate(from, d) == 0 : distance > 0;
      way.push_back(2 * cable(along ? from : next, d) + (along ? 0 : 1));
      from = next;
    }
  }
  return way;
}

/// All routers, the dimensions in the order given, the last varying fastest.
std::vector<int> torus_routers_in_order(const Torus& torus, const std::vector<std::size_t>& order) {
  std::vector<int> routers{0};
  for (const std::size_t d : order) {
    std::vector<int> longer;
    for (const int router : routers) {
      for (int i = 0; i < torus.sizes[d]; ++i) longer.push_back(router + i * torus.strides[d]);
    }
    routers = std::move(longer);
  }
  return routers;
}

/// Slabs across one dimension and what is left over of one, in every order of the dimensions.
BytesPerSecond torus_bisection(const Torus& torus, const Platform& platform) {
  std::vector<std::size_t> order(torus.dimensions());
  std::iota(order.begin(), order.end(), std::size_t{0});
  BytesPerSecond least = BytesPerSecond::infinity();
  do {
    least = std::min(least, least_prefix_cut(platform, torus_routers_in_order(torus, order)));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

std::string router_name(const Torus& torus, int router) {
  std::vector<int> place;
  for (std::size_t d = 0; d < torus.dimensions(); ++d) place.push_back(torus.coordinate(router, d));
  return fmt::format("router({})", fmt::join(place, ","));
}

void add_dimension(const Torus& torus, std::size_t d, Platform& platform) {
  constexpr std::string_view axes = "xyzuvw";
  for (int router = 0; router < torus.routers(); ++router) {
    if (!torus.has_cable(router, d)) continue;
    add_cable(platform, router, torus.neighbour(router, d, 1), fmt::format("{}{}", router_name(torus, router), axes[d]),
              torus.links[d]);
  }
}

/// Network::alike_after, of a torus without empty slots: a step in the last dimension. Of an even number of routers
/// half send what is as far either way upwards and half downwards, in turn.
int torus_alike_after(const Torus& torus) {
  std::size_t d = torus.dimensions() - 1;
  while (d > 0 && torus.sizes[d] == 1) --d;
  const int size = torus.sizes[d];
  return torus.strides[d] * torus.nodes_per_router * (size > 2 && size % 2 == 0 ? 2 : 1);
}

void lay_out_torus(Torus torus, Platform& platform, const Value& where) {
  const std::int64_t room = (Count(torus.routers()) * torus.nodes_per_router).number();
  if (platform.nodes > room) {
    where.fail(fmt::format("at most the {} nodes that the torus has room for", room),
               fmt::format("{} nodes", platform.nodes));
  }
  for (int router = 0; router < torus.routers(); ++router) {
    add_switch(platform, router_name(torus, router), 0, torus.ports);
  }
  const int first_link = static_cast<int>(platform.links.size());
  for (std::size_t d = 0; d < torus.dimensions(); ++d) {
    torus.first_cable.push_back(static_cast<int>(platform.network.cables.size()));
    add_dimension(torus, d, platform);
  }
  const auto nics = static_cast<int>(platform.node.nics.size());
  const int per_router = nics * torus.nodes_per_router;
  for (int nic = 0; nic < platform.nodes * nics; ++nic) platform.network.switch_of_nic.push_back(nic / per_router);
  platform.network.paths = [=](int from, int to) {
    return shifted({torus.path(from / per_router, to / per_router)}, first_link);
  };
  if (platform.nodes == room) platform.network.alike_after = torus_alike_after(torus);
  platform.network.bisection = [torus](const Platform& whole) { return torus_bisection(torus, whole); };
}

void read_torus_links(const Value& value, Torus& torus) {
  if (!value.is_array()) {
    torus.links.assign(torus.dimensions(), read_link(value));
    return;
  }
  for (const Value& link : value.elements()) torus.links.push_back(read_link(link));
  if (torus.links.size() != torus.dimensions()) {
    value.fail(fmt::format("a link for each of {} dimensions", torus.dimensions()),
               fmt::format("{} links", torus.links.size()));
  }
}

void read_sizes(const Value& value, Torus& torus) {
  std::int64_t routers = 1;
  for (const Value& element : value.elements()) {
    torus.sizes.push_back(read_at_least(element, 1));
    torus.strides.push_back(static_cast<int>(routers));
    routers *= torus.sizes.back();
    if (routers > most_switches) element.fail(fmt::format("at most {} routers in all", counted(most_switches)));
  }
  constexpr std::size_t most_dimensions = 6;
  if (torus.sizes.empty() || torus.sizes.size() > most_dimensions) {
    value.fail("one to six dimensions", fmt::format("{} of them", torus.sizes.size()));
  }
}

}  // namespace

NetworkPlan read_torus(Section& file, const Topology& /*topology*/, const TextReader& /*text*/) {
  const Value network = file.child("network");
  Section section = sourced(network);
  Torus torus;
  read_sizes(section.child("sizes"), torus);
  require_size(torus.routers(), Count(torus.routers()) * torus.dimensions(), network);
  torus.nodes_per_router = read_positive(section, "nodes_per_router", 1);
  require_at_most(torus.nodes_per_router, most_devices, "nodes on a router", network);
  read_torus_links(section.child("link"), torus);
  if (const auto ports = section.maybe("router_ports")) torus.ports = read_at_least(*ports, 1);
  section.finish();
  return [torus](Platform& platform, const Value& where) { lay_out_torus(torus, platform, where); };
}

}}  // namespace farandole::platform
