// Networks of every kind drawn at random, as texts of topology files, and what must hold on all of them.
#pragma once

#include <ostream>
#include <random>

#include <fmt/format.h>

#include "platform/samples.hpp"

namespace farandole {

using Random = std::mt19937_64;

inline int draw(Random& random, int first, int last) {
  return std::uniform_int_distribution<int>(first, last)(random);
}

inline std::string link_of_rate(int rate) {
  return fmt::format(R"({{"rate": "{} GB/s", "latency": "1 us"}})", rate);
}

/// A file of single-device nodes on NICs of `nic` GB/s.
inline std::string network_file(const std::string& kind, const std::string& nodes, int nic,
                                const std::string& network) {
  return fmt::format(
      R"({{"name": "n", "summary": "s", "kind": "{}", "nodes": {}, "node": {{"device": "d", "nic": {}}}, "network": {}}})",
      kind, nodes, link_of_rate(nic), network);
}

inline std::string draw_routing(Random& random, const std::vector<std::string>& names) {
  return names[static_cast<std::size_t>(draw(random, 0, static_cast<int>(names.size()) - 1))];
}

inline std::string draw_star(Random& random, int most) {
  return network_file("star", std::to_string(draw(random, 2, most)), draw(random, 1, 3), "{}");
}

inline std::string draw_leaf_spine(Random& random, int most) {
  const auto network = fmt::format(
      R"({{"nodes_per_leaf": {}, "spines": {}, "cables_per_spine": {}, "link": {}, "routing": "{}", "seed": {}}})",
      draw(random, 1, 4), draw(random, 1, 3), draw(random, 1, 2), link_of_rate(draw(random, 1, 4)),
      draw_routing(random, {"ecmp", "d_mod_k", "spread"}), draw(random, 1, 100));
  return network_file("leaf_spine", std::to_string(draw(random, 2, most)), draw(random, 1, 3), network);
}

inline std::string draw_fat_tree(Random& random, int most) {
  const int leaf = draw(random, 1, 3);
  const int spine = draw(random, 1, 3);
  const auto network = fmt::format(
      R"({{"levels": [{{"down": {}}}, {{"down": {}, "parents": {}, "cables": {}, "link": {}}},
                      {{"parents": {}, "cables": {}, "link": {}}}], "routing": "{}"}})",
      leaf, spine, draw(random, 1, 2), draw(random, 1, 2), link_of_rate(draw(random, 1, 4)), draw(random, 1, 2),
      draw(random, 1, 2), link_of_rate(draw(random, 1, 4)), draw_routing(random, {"ecmp", "d_mod_k", "spread"}));
  return network_file("fat_tree", std::to_string(draw(random, 2, most)), draw(random, 1, 3), network);
}

/// All slots filled, as the formula of the bisection wants it.
inline std::string draw_dragonfly(Random& random, int most) {
  while (true) {
    const int groups = draw(random, 1, 4);
    const int chassis = draw(random, 1, 2);
    const int slots = draw(random, 1, 3);
    const int each = draw(random, 1, 2);
    const int nodes = groups * chassis * slots * each;
    if (nodes < 2 || nodes > most) continue;
    const auto network = fmt::format(
        R"({{"groups": {}, "chassis_per_group": {}, "routers_per_chassis": {}, "nodes_per_router": {},
             "rank1": {{"link": {}}}, "rank2": {{"link": {}, "cables": {}}},
             "rank3": {{"link": {}, "cables_per_pair": {}}}, "routing": "{}", "seed": {}}})",
        groups, chassis, slots, each, link_of_rate(draw(random, 2, 4)), link_of_rate(draw(random, 2, 4)),
        draw(random, 1, 3), link_of_rate(draw(random, 1, 2)), draw(random, 1, 2),
        draw_routing(random, {"minimal", "valiant", "adaptive"}), draw(random, 1, 100));
    return network_file("dragonfly", std::to_string(nodes), draw(random, 1, 3), network);
  }
}

struct DrawnKind {
  const char* name;
  std::string (*draw)(Random& random, int most_nodes);
};

inline void PrintTo(const DrawnKind& kind, std::ostream* out) {
  *out << kind.name;
}

inline const std::vector<DrawnKind>& drawn_kinds() {
  static const std::vector<DrawnKind> kinds{
      {"star", draw_star}, {"leaf_spine", draw_leaf_spine}, {"fat_tree", draw_fat_tree}, {"dragonfly", draw_dragonfly}};
  return kinds;
}

inline Platform built(const std::string& text) {
  const Topology topology = topology_of(text);
  return build(topology, topology.nodes.value_or(4), anywhere());
}

}  // namespace farandole
